package simulation_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// narrow is a debate for which windows are small. Its texts begin with a mark, so that each request shows what it holds.
type narrow struct {
	config  debate.Config
	engine  *debate.Engine
	script  *scripted.Provider
	seed    uint64
	talk    func(*rand.Rand) int // how many words a turn has
	minutes int                  // how many words a summary has
	tokens  map[string]int       // of texts, each counted once
}

// newNarrow returns a debate whose participants and judges have windows of this size.
func newNarrow(seed uint64, config debate.Config, window int) *narrow {
	n := &narrow{config: config, seed: seed, minutes: 60, tokens: make(map[string]int)}
	n.talk = func(dice *rand.Rand) int { return 100 + dice.IntN(150) }
	n.engine, n.script = stage.Engine(config)
	n.script.Reply = n.reply
	n.engine.Providers["test"] = stage.ProviderFunc(
		func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
			response, err := n.script.Generate(ctx, req, emit)
			if err == nil {
				response.Usage = provider.Usage{} // a script would make one up
			}
			return response, err
		})
	for _, name := range []string{"debater", "judge", "other", "minutes"} {
		n.engine.Models["test/"+name] = debate.Model{Priced: true, Input: 1000, Output: 1000, Window: window}
	}
	return n
}

// named finds the names in a schema.
var named = regexp.MustCompile(`"enum":\[([^\]]*)\]`)

// reply depends on the call alone, because calls may be made at the same time.
func (n *narrow) reply(req *provider.Request) scripted.Reply {
	_, call, _ := strings.Cut(req.ID, "/")
	call, _, _ = strings.Cut(call, "/")
	switch {
	case req.Self == "summarizer": // a vendor keeps the limit
		return scripted.Reply{Text: mark(call) + strings.Repeat(" minute", min(n.minutes, req.MaxTokens-16))}
	case req.Schema == nil:
		dice := rand.New(rand.NewPCG(n.seed, hash(call)))
		return scripted.Reply{Text: mark(call) + strings.Repeat(" word", n.talk(dice))}
	}
	var names []string
	if found := named.FindStringSubmatch(string(req.Schema.JSON)); found != nil {
		for name := range strings.SplitSeq(found[1], ",") {
			names = append(names, strings.Trim(name, `"`))
		}
	}
	if stage.KindOf(req) == debate.KindVerdict {
		return scripted.Reply{Text: stage.InShape(req.Schema.JSON, stage.Verdict(names))}
	}
	return scripted.Reply{Text: stage.Judgement(names, true)}
}

// mark is what the text of a call begins with.
func mark(call string) string { return fmt.Sprintf("#%016x#", hash(call)) }

func hash(call string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(call))
	return h.Sum64()
}

// play plays the debate to its end.
func (n *narrow) play(t *testing.T) *debate.Debate {
	t.Helper()
	session, err := n.engine.Start(t.Context(), n.config)
	require.NoError(t, err)
	defer func() { require.NoError(t, session.Close()) }()
	record := stage.Ended(t, session)
	return stage.View(record)
}

// requestOf returns the request that gave a result.
func (n *narrow) requestOf(t *testing.T, spend flow.Spend) *provider.Request {
	t.Helper()
	end := fmt.Sprintf("/%s/%d", spend.Call, spend.Attempt)
	for _, req := range n.script.Requests() {
		if strings.HasSuffix(req.ID, end) {
			return &req
		}
	}
	require.Fail(t, "no request", end)
	return nil
}

// missing returns the turns, of those that were said, that a request holds neither whole nor in a summary, and those that
// it does not hold whole.
func missing(d *debate.Debate, req *provider.Request, said []*flow.Turn) (unread, short []string) {
	covered, text := 0, &strings.Builder{}
	for i := range req.Messages {
		if m := &req.Messages[i]; !strings.Contains(m.Text, "[… cut here") {
			text.WriteString(m.Text)
		}
	}
	for _, s := range d.Summaries {
		if strings.Contains(text.String(), mark(s.Call)) {
			covered = max(covered, s.Upto)
		}
	}
	for i, t := range said {
		if strings.Contains(text.String(), mark(t.Call)) {
			continue
		}
		short = append(short, t.Call)
		if i >= covered {
			unread = append(unread, t.Call)
		}
	}
	return unread, short
}

// judged compares what each judge has read with what the outcome says of it.
type judged struct {
	assessments, whole  int // whole: of its round
	verdicts, complete  int
	gaps, unsaid, words int // results that rest on a part; those of which the outcome does not say so, or wrongly
}

func (n *narrow) judged(t *testing.T, d *debate.Debate, sum *judged, name string) {
	t.Helper()
	outcome, turns := d.Outcome(), d.Readable()
	said := func(judge string, kind flow.CallKind, round int, swapped bool) []string {
		for _, u := range outcome.Unread {
			if u.Judge == judge && u.Kind == kind && u.Round == round && u.Swapped == swapped {
				return u.Turns
			}
		}
		return nil
	}
	compare := func(req *provider.Request, gap, told []string, what string) {
		if len(gap) > 0 {
			sum.gaps++
			assert.Contains(t, req.Last.Text, "left out above", "%s: %s", name, what)
		}
		if !assert.Equal(t, gap, told, "%s: %s", name, what) {
			sum.unsaid++
		}
	}
	for _, a := range d.Assessments {
		req := n.requestOf(t, a.Spend)
		var round []*flow.Turn
		before := 0
		for _, turn := range turns {
			if turn.Round < a.Round {
				before++
			}
			if turn.Round == a.Round {
				round = append(round, turn)
			}
		}
		sum.assessments++
		_, short := missing(d, req, turns[:before+len(round)])
		var own []string
		for _, turn := range round {
			for _, call := range short {
				if call == turn.Call {
					own = append(own, call)
				}
			}
		}
		if len(own) == 0 {
			sum.whole++
		}
		compare(req, own, said(a.Judge, debate.KindAssessment, a.Round, false), fmt.Sprintf("round %d, %s", a.Round, a.Judge))
	}
	for _, v := range d.Verdicts {
		req := n.requestOf(t, v.Spend)
		sum.verdicts++
		unread, _ := missing(d, req, turns)
		if len(unread) == 0 {
			sum.complete++
		}
		compare(req, unread, said(v.Judge, debate.KindVerdict, 0, v.Swapped), "verdict of "+v.Judge)
	}
	lines := 0
	for _, line := range outcome.Degraded {
		if strings.Contains(line, "rests on a part") {
			lines++
		}
	}
	assert.Len(t, outcome.Unread, lines, name)
	sum.words += lines
}

// sent counts the tokens of a request as a vendor does.
func (n *narrow) sent(req *provider.Request) int {
	tokens := 4
	count := func(text string) {
		if _, known := n.tokens[text]; !known {
			n.tokens[text] = token.ForModel(req.Model).Count(text)
		}
		tokens += n.tokens[text] + 4
	}
	for _, text := range req.Chat() {
		count(text)
	}
	if req.Schema != nil {
		count(string(req.Schema.JSON))
	}
	return tokens
}
