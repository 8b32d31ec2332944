package debate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/vote"
)

// ruling is what a scripted judge finds: a winner, or nobody if it is empty, and scores.
type ruling struct {
	winner string
	scores map[string]float64
}

// scored makes a ruling for Ada, Ben and Cyd, as far as there are scores.
func scored(winner string, scores ...float64) ruling {
	out := ruling{winner, map[string]float64{}}
	for i, score := range scores {
		out.scores[[]string{"Ada", "Ben", "Cyd"}[i]] = score
	}
	return out
}

// verdict is the ruling as a judge answers. why marks its texts.
func (r ruling) verdict(why string) string {
	points := []map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(r.scores)) {
		points = append(points, map[string]any{"participant": name, "mainArguments": []string{why}})
	}
	out := map[string]any{
		"summary": "In sum: " + why, "keyPoints": points, "areasOfAgreement": []string{}, "areasOfDisagreement": []string{},
		"winner": nil, "scores": r.scores, "criteria": map[string]string{"evidence": why}, "qualityScore": 70, "insights": []string{why},
	}
	if r.winner != "" {
		out["winner"] = map[string]string{"participant": r.winner, "reasoning": "Because " + why}
	}
	return toJSON(out)
}

// court is a debate of one round before a panel whose judges rule as rules say, by the call's id
// without its verdict's prefix: "judge-2", "judge-2.swapped". Who has no rule fails for good.
type court struct {
	config debate.Config
	engine *debate.Engine
	source *scripted.Provider
	rules  map[string]ruling
}

// newCourt makes a court whose i-th judge rules as the i-th rule says, in both orders.
func newCourt(rules ...ruling) *court {
	c := &court{config: twoDebaters(), rules: map[string]ruling{}}
	c.config.Rounds = 1
	c.config.Judging = &debate.Judging{When: debate.AtEnd}
	for i, rule := range rules {
		name := fmt.Sprintf("judge-%d", i+1)
		c.config.Judging.Judges = append(c.config.Judging.Judges, debate.JudgeConfig{Name: name, Model: "test/" + name})
		c.rules[name], c.rules[name+".swapped"] = rule, rule
	}
	if len(rules) > 0 && len(rules[0].scores) == 3 {
		c.config.Participants = append(c.config.Participants, debate.Participant{Name: "Cyd", Model: "test/debater"})
	}
	c.engine, c.source = engineFor(c.config)
	answer := c.source.Reply
	c.source.Reply = func(req *provider.Request) scripted.Reply {
		name := callOf(req)
		switch {
		case req.Schema == nil:
			return answer(req)
		case req.Schema.Name == "verdict":
			if rule, ok := c.rules[strings.TrimPrefix(name, "verdict.")]; ok {
				return scripted.Reply{Text: rule.verdict("word of " + req.Self)}
			}
		default:
			if _, ok := c.rules[req.Self]; ok {
				return scripted.Reply{Text: strings.ReplaceAll(answer(req).Text, "Both made their case.", "word of "+req.Self)}
			}
		}
		return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal, Message: "no"}}
	}
	return c
}

// callOf yields the id of the call that a request is for.
func callOf(req *provider.Request) string {
	_, rest, _ := strings.Cut(req.ID, "/")
	call, _, _ := strings.Cut(rest, "/")
	return call
}

// requestsTo yields the requests to those whose names have a prefix.
func (c *court) requestsTo(prefix string) []provider.Request {
	return slices.DeleteFunc(c.source.Requests(), func(req provider.Request) bool { return !strings.HasPrefix(req.Self, prefix) })
}

func forAda() ruling { return scored("Ada", 80, 60) }
func forBen() ruling { return scored("Ben", 60, 80) }
func noOne() ruling  { return scored("", 70, 70) }

func TestAPanelDecidesByItsQuorum(t *testing.T) {
	for name, test := range map[string]struct {
		failing    []string
		quorum     int
		unattended bool
		asked      bool
		winner     string
		degraded   []string
	}{
		"all judge": {winner: "Ada"},
		"one of three fails": {
			failing: []string{"judge-3"}, winner: "Ada",
			degraded: []string{"judge-3 has judged no further", "2 of 3 judges have given a verdict"},
		},
		"two of three fail, and a person goes on": {
			failing: []string{"judge-2", "judge-3"}, asked: true,
			degraded: []string{"judge-2 has judged no further", "judge-3 has judged no further", "1 of 3 judges have given a verdict: fewer than the quorum of 2"},
		},
		"two of three fail, unattended": {
			failing: []string{"judge-2", "judge-3"}, unattended: true,
			degraded: []string{"judge-2 has judged no further", "judge-3 has judged no further", "1 of 3 judges have given a verdict: fewer than the quorum of 2"},
		},
		"two of three fail, and one is enough": {
			failing: []string{"judge-2", "judge-3"}, quorum: 1, winner: "Ada",
			degraded: []string{"judge-2 has judged no further", "judge-3 has judged no further", "1 of 3 judges have given a verdict"},
		},
		"one of three fails, and all are needed": {
			failing: []string{"judge-1"}, quorum: 3, unattended: true,
			degraded: []string{"judge-1 has judged no further", "2 of 3 judges have given a verdict: fewer than the quorum of 3"},
		},
		"all fail": {
			failing: []string{"judge-1", "judge-2", "judge-3"}, unattended: true,
			degraded: []string{"judge-1 has judged no further", "judge-2 has judged no further", "judge-3 has judged no further", "there is no verdict"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCourt(forAda(), forAda(), forBen())
			c.rules["judge-3"] = forAda()
			for _, judge := range test.failing {
				delete(c.rules, judge)
			}
			c.config.Judging.Quorum = test.quorum
			if test.unattended {
				c.config.Unattended = &debate.Unattended{}
			}
			session, err := c.engine.Start(t.Context(), c.config)
			require.NoError(t, err)
			defer session.Close()
			record, err := session.Wait(t.Context())
			if test.asked {
				require.ErrorIs(t, err, debate.ErrAwaitingInput)
				require.Len(t, record.Inquiries, 1)
				assert.Contains(t, []string{"verdict.judge-2", "verdict.judge-3"}, record.Inquiries[0].About, "the one with whom the quorum was lost")
				assert.Contains(t, record.Inquiries[0].Options, flow.OptionWithout)
				require.NoError(t, session.Choose(t.Context(), record.Inquiries[0].ID, flow.OptionWithout))
				record, err = session.Wait(t.Context())
			}
			require.NoError(t, err)
			assert.Equal(t, flow.StateCompleted, record.State)
			outcome := view(record).Outcome()
			assert.Equal(t, test.winner, outcome.Winner)
			assert.False(t, outcome.Tie, "nobody's votes are level")
			assert.ElementsMatch(t, test.degraded, outcome.Degraded)
			assert.Equal(t, 3-len(test.failing), outcome.Verdicts)
			assert.Equal(t, 3, outcome.Judges)
			assert.Len(t, record.Answers, btoi(test.unattended)+btoi(test.asked)+max(0, len(test.failing)-2), "questions answered")
			assert.Len(t, view(record).Judges(), 3-len(test.failing))
		})
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A judge who fails in a round is not asked again, and the rounds go on with the others' assessments.
func TestAJudgeWhoFailsInARoundJudgesNoFurther(t *testing.T) {
	c := newCourt(forAda(), forAda(), forBen())
	c.config.Judging.When, c.config.Rounds = debate.EveryRound, 2
	answer := c.source.Reply
	c.source.Reply = func(req *provider.Request) scripted.Reply {
		if callOf(req) == "r1.assessment.judge-2" {
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal}}
		}
		return answer(req)
	}
	record := run(t, c.engine, c.config)
	assert.Len(t, c.requestsTo("judge-2"), 1)
	assert.Len(t, view(record).Assessments, 4)
	assert.Len(t, view(record).Verdicts, 2)
	outcome := view(record).Outcome()
	assert.Equal(t, []string{"judge-2 has judged no further", "2 of 3 judges have given a verdict"}, outcome.Degraded)
	assert.Empty(t, outcome.Winner, "one to one")
	assert.True(t, outcome.Tie)
}

func TestProtocols(t *testing.T) {
	type winners = map[debate.Protocol]string
	a, b, none := scored("Ada", 90, 80, 10), scored("Ben", 10, 90, 80), scored("", 50, 50, 50)
	c := scored("Cyd", 10, 80, 90)
	for name, test := range map[string]struct {
		rules []ruling
		want  winners
		tally []vote.Count
	}{
		"a plurality": {
			[]ruling{a, a, b, c, none},
			winners{debate.Plurality: "Ada", debate.Borda: "Ben"},
			[]vote.Count{{Name: "Ada", Votes: 2}, {Name: "Ben", Votes: 1}, {Name: "Cyd", Votes: 1}},
		},
		"a majority whose candidate is the last choice of the others": {
			[]ruling{a, a, a, b, b},
			winners{debate.Plurality: "Ada", debate.Majority: "Ada", debate.Borda: "Ben"},
			[]vote.Count{{Name: "Ada", Votes: 3}, {Name: "Ben", Votes: 2}},
		},
		"two thirds": {
			[]ruling{a, a, b},
			winners{debate.Plurality: "Ada", debate.Majority: "Ada", debate.Supermajority: "Ada"},
			[]vote.Count{{Name: "Ada", Votes: 2}, {Name: "Ben", Votes: 1}},
		},
		"half, and the others see a tie": {
			[]ruling{a, a, none, none},
			winners{debate.Plurality: "Ada", debate.Borda: "Ada"},
			[]vote.Count{{Name: "Ada", Votes: 2}},
		},
		"all but one, who sees a tie": {
			[]ruling{a, a, none},
			winners{debate.Plurality: "Ada", debate.Majority: "Ada", debate.Supermajority: "Ada", debate.Borda: "Ada"},
			[]vote.Count{{Name: "Ada", Votes: 2}},
		},
		"all": {
			[]ruling{c, c, c},
			winners{
				debate.Plurality: "Cyd", debate.Majority: "Cyd", debate.Supermajority: "Cyd", debate.Unanimity: "Cyd", debate.Borda: "Cyd",
			},
			[]vote.Count{{Name: "Cyd", Votes: 3}},
		},
		"nobody":       {[]ruling{none, none, none}, winners{}, nil},
		"one to one":   {[]ruling{a, b}, winners{debate.Borda: "Ben"}, []vote.Count{{Name: "Ada", Votes: 1}, {Name: "Ben", Votes: 1}}},
		"a judge only": {[]ruling{b}, winners{debate.Plurality: "Ben", debate.Majority: "Ben", debate.Supermajority: "Ben", debate.Unanimity: "Ben", debate.Borda: "Ben"}, []vote.Count{{Name: "Ben", Votes: 1}}},
	} {
		for _, protocol := range []debate.Protocol{debate.Majority, debate.Plurality, debate.Supermajority, debate.Unanimity, debate.Borda} {
			t.Run(name+"/"+string(protocol), func(t *testing.T) {
				c := newCourt(test.rules...)
				c.config.Judging.Protocol = protocol
				record := run(t, c.engine, c.config)
				outcome := view(record).Outcome()
				assert.Equal(t, test.want[protocol], outcome.Winner)
				assert.Equal(t, test.want[protocol] == "", outcome.Tie)
				assert.Empty(t, outcome.Degraded, "to be undecided is not to be degraded")
				if protocol != debate.Borda {
					assert.Equal(t, test.tally, outcome.Votes)
				}
				require.NotNil(t, view(record).Verdict, "somebody speaks for the panel")
				if outcome.Winner != "" && slices.ContainsFunc(test.rules, func(r ruling) bool { return r.winner == outcome.Winner }) {
					assert.Equal(t, outcome.Winner, view(record).Verdict.Winner.Participant)
				}
			})
		}
	}
}

// The points of Borda's count are doubled (package vote): three times Ada, Ben, Cyd give 12, 6 and 0,
// twice Ben, Cyd, Ada 8, 4 and 0.
func TestBordaCountsRanks(t *testing.T) {
	a, b := scored("Ada", 90, 80, 10), scored("Ben", 10, 90, 80)
	c := newCourt(a, a, a, b, b)
	c.config.Judging.Protocol = debate.Borda
	outcome := view(run(t, c.engine, c.config)).Outcome()
	assert.Equal(t, []vote.Count{{Name: "Ben", Votes: 14}, {Name: "Ada", Votes: 12}, {Name: "Cyd", Votes: 4}}, outcome.Votes)
	require.Len(t, outcome.Dissent, 3)
	assert.Equal(t, "Ada", outcome.Dissent[0].Winner)
}

func TestJudgesVoteWithoutHearingEachOther(t *testing.T) {
	c := newCourt(forAda(), forBen(), forAda())
	c.config.Judging.When, c.config.Judging.BothOrders, c.config.Rounds = debate.EveryRound, true, 3
	record := run(t, c.engine, c.config)
	require.Len(t, view(record).Assessments, 9)
	require.Len(t, view(record).Verdicts, 6)
	assert.Contains(t, toJSON(view(record).Assessments), "word of judge-2", "the words are in the record")
	for _, req := range c.source.Requests() {
		assert.NotContains(t, toJSON(req), "word of judge", "%s: nobody reads what a judge has said", req.ID)
	}
}

func TestDissentIsKept(t *testing.T) {
	c := newCourt(forAda(), forBen(), forAda(), noOne())
	c.config.Judging.Protocol = debate.Plurality
	outcome := view(run(t, c.engine, c.config)).Outcome()
	assert.Equal(t, "Ada", outcome.Winner)
	assert.Equal(t, debate.For, outcome.Side)
	assert.Equal(t, format.ByJudges, outcome.Decision)
	assert.Equal(t, []debate.Dissent{
		{Judge: "judge-2", Winner: "Ben", Reasoning: "Because word of judge-2"},
		{Judge: "judge-4", Winner: "", Reasoning: "In sum: word of judge-4"},
	}, outcome.Dissent)
	assert.InDeltaMapValues(t, map[string]float64{"Ada": (80 + 60 + 80 + 70) / 4.0, "Ben": (60 + 80 + 60 + 70) / 4.0}, outcome.Scores, 1e-9)
}

// listed yields the names in the order in which a text lists them, one to a line.
func listed(text string, names ...string) []string {
	places := map[string]int{}
	for _, name := range names {
		if at := strings.Index(text, "\n- "+name); at >= 0 {
			places[name] = at
		}
	}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { _, ok := places[name]; return !ok })
	slices.SortFunc(names, func(a, b string) int { return places[a] - places[b] })
	return names
}

func reversed(names []string) []string {
	names = slices.Clone(names)
	slices.Reverse(names)
	return names
}

func TestTheSecondVerdictIsAskedInTheOtherOrder(t *testing.T) {
	for _, mode := range []debate.Mode{debate.Sequential, debate.Simultaneous} {
		t.Run(string(mode), func(t *testing.T) {
			three := scored("Ada", 90, 80, 70)
			c := newCourt(three, three)
			c.config.Judging.BothOrders, c.config.Mode, c.config.Rounds = true, mode, 3
			record := run(t, c.engine, c.config)
			require.Len(t, view(record).Verdicts, 4)
			for _, judge := range []string{"judge-1", "judge-2"} {
				requests := c.requestsTo(judge)
				require.Len(t, requests, 2)
				slices.SortFunc(requests, func(a, b provider.Request) int { return len(a.ID) - len(b.ID) })
				own, swapped := requests[0], requests[1]
				require.Equal(t, "verdict."+judge, callOf(&own))
				require.Equal(t, "verdict."+judge+".swapped", callOf(&swapped))
				names := listed(own.Last.Text, "Ada", "Ben", "Cyd")
				require.Len(t, names, 3)
				assert.Equal(t, reversed(names), listed(swapped.Last.Text, "Ada", "Ben", "Cyd"))

				require.Len(t, own.Messages, 9)
				require.Len(t, swapped.Messages, 9)
				for round := range slices.Chunk(own.Messages, 3) {
					at := slices.IndexFunc(own.Messages, func(m provider.Message) bool { return m.Text == round[0].Text })
					other := slices.Clone(swapped.Messages[at : at+3])
					if mode == debate.Simultaneous {
						slices.Reverse(other)
					}
					assert.Equal(t, round, other, "who spoke at once can be told in either order, who answered another cannot")
				}
				assert.Equal(t, own.System, swapped.System, "a prompt cache hits")
			}
		})
	}
}

// A judge from outside is asked in both orders too.
func TestAJudgeFromOutsideIsAskedInBothOrders(t *testing.T) {
	c := newCourt()
	c.config.Mode = debate.Simultaneous
	c.config.Judging.BothOrders = true
	c.config.Judging.Judges = []debate.JudgeConfig{{Name: "Cato", Judge: "cato"}}
	var mu sync.Mutex
	tasks := map[string]debate.JudgeTask{}
	c.engine.Judges = map[string]debate.Judge{"cato": debate.JudgeFunc(func(_ context.Context, task debate.JudgeTask) (json.RawMessage, error) {
		mu.Lock()
		defer mu.Unlock()
		tasks[task.Call] = task
		return json.RawMessage(forAda().verdict("x")), nil
	})}
	run(t, c.engine, c.config)
	own, swapped := tasks["verdict.Cato"], tasks["verdict.Cato.swapped"]
	assert.Equal(t, reversed(listed(own.Instruction, "Ada", "Ben")), listed(swapped.Instruction, "Ada", "Ben"))
	speakersOf := func(task debate.JudgeTask) (names []string) {
		for _, turn := range task.Turns {
			names = append(names, turn.Speaker)
		}
		return names
	}
	assert.Equal(t, reversed(speakersOf(own)), speakersOf(swapped), "turns of a simultaneous round")
	peopleOf := func(task debate.JudgeTask) (names []string) {
		for i := range task.Participants {
			names = append(names, task.Participants[i].Name)
		}
		return names
	}
	assert.Equal(t, reversed(peopleOf(own)), peopleOf(swapped), "participants")
}

func TestAFlipIsATie(t *testing.T) {
	t.Run("of the only judge", func(t *testing.T) {
		c := newCourt(forAda())
		c.config.Judging.BothOrders = true
		c.rules["judge-1.swapped"] = forBen()
		record := run(t, c.engine, c.config)
		outcome := view(record).Outcome()
		assert.Empty(t, outcome.Winner)
		assert.Empty(t, outcome.Side)
		assert.True(t, outcome.Tie)
		assert.Empty(t, outcome.Votes, "it votes for nobody")
		assert.Empty(t, outcome.Dissent)
		assert.Equal(t, 1, outcome.Verdicts, "it is counted")
		assert.Empty(t, outcome.Degraded)
		assert.InDeltaMapValues(t, map[string]float64{"Ada": 70, "Ben": 70}, outcome.Scores, 1e-9)
	})
	t.Run("is an abstention in a panel", func(t *testing.T) {
		for protocol, winner := range map[debate.Protocol]string{
			debate.Majority: "Ada", debate.Supermajority: "Ada", debate.Plurality: "Ada", debate.Unanimity: "",
		} {
			c := newCourt(forAda(), forBen(), forAda())
			c.config.Judging.BothOrders, c.config.Judging.Protocol = true, protocol
			c.rules["judge-2.swapped"] = forAda()
			outcome := view(run(t, c.engine, c.config)).Outcome()
			assert.Equal(t, winner, outcome.Winner, protocol)
			assert.Equal(t, []vote.Count{{Name: "Ada", Votes: 2}}, outcome.Votes, protocol)
			assert.Equal(t, 3, outcome.Verdicts)
			if winner != "" {
				assert.Equal(t, []debate.Dissent{{Judge: "judge-2", Reasoning: "Because word of judge-2"}}, outcome.Dissent)
			}
		}
	})
	t.Run("from nobody to somebody", func(t *testing.T) {
		c := newCourt(noOne())
		c.config.Judging.BothOrders = true
		c.rules["judge-1.swapped"] = forBen()
		assert.True(t, view(run(t, c.engine, c.config)).Outcome().Tie)
	})
	t.Run("the same twice is a vote", func(t *testing.T) {
		c := newCourt(forBen())
		c.config.Judging.BothOrders = true
		c.rules["judge-1.swapped"] = scored("Ben", 50, 90)
		outcome := view(run(t, c.engine, c.config)).Outcome()
		assert.Equal(t, "Ben", outcome.Winner)
		assert.InDeltaMapValues(t, map[string]float64{"Ada": 55, "Ben": 85}, outcome.Scores, 1e-9)
	})
	t.Run("one order alone is no verdict", func(t *testing.T) {
		c := newCourt(forAda(), forAda(), forBen())
		c.config.Judging.BothOrders = true
		delete(c.rules, "judge-3.swapped")
		outcome := view(run(t, c.engine, c.config)).Outcome()
		assert.Equal(t, 2, outcome.Verdicts)
		assert.Equal(t, "Ada", outcome.Winner)
		assert.Empty(t, outcome.Dissent)
		assert.Equal(t, []string{"judge-3 has judged no further", "2 of 3 judges have given a verdict"}, outcome.Degraded)
	})
}

func TestTheOrderOfParticipantsIsDrawnForEachJudge(t *testing.T) {
	three := scored("Ada", 90, 80, 70)
	seen := map[string]int{}
	differ := 0
	c := newCourt(three, three)
	for i := range 200 {
		c.config.ID = fmt.Sprintf("d%d", i)
		before := len(c.source.Requests())
		run(t, c.engine, c.config)
		orders := map[string]string{}
		for _, req := range c.source.Requests()[before:] {
			if req.Schema != nil {
				names := listed(req.Last.Text, "Ada", "Ben", "Cyd")
				require.Equal(t, names, listed(req.System, "Ada", "Ben", "Cyd"), "all of a judge's prompts keep to one order")
				orders[req.Self] = fmt.Sprint(names)
			}
		}
		require.Len(t, orders, 2)
		seen[orders["judge-1"]]++
		differ += btoi(orders["judge-1"] != orders["judge-2"])
	}
	assert.Len(t, seen, 6, "each order of three comes up: %v", seen)
	for order, n := range seen {
		assert.Greater(t, n, 10, "%s: about 33 of 200 are expected", order)
	}
	assert.Greater(t, differ, 100, "judges are drawn for one by one: about 167 of 200 differ")
}

func TestRecusal(t *testing.T) {
	models := func(families ...string) (names []string) {
		for i, family := range families {
			names = append(names, fmt.Sprintf("test/%s-%d", family, i))
		}
		return names
	}
	for name, test := range map[string]struct {
		debaters, judges []string // families; "": not known
		own              bool
		recused          []string
	}{
		"the only judge":         {debaters: []string{"x", "y"}, judges: []string{"x"}},
		"one of two":             {debaters: []string{"x", "y"}, judges: []string{"x", "z"}, recused: []string{"judge"}},
		"the second of two":      {debaters: []string{"x", "y"}, judges: []string{"z", "y"}, recused: []string{"judge-2"}},
		"two of three":           {debaters: []string{"x", "y"}, judges: []string{"x", "z", "y"}, recused: []string{"judge", "judge-3"}},
		"nobody if all would be": {debaters: []string{"x", "y"}, judges: []string{"x", "y"}},
		"nobody if all participants are of the family": {debaters: []string{"x", "x"}, judges: []string{"x", "z"}},
		"nobody if the host wishes":                    {debaters: []string{"x", "y"}, judges: []string{"x", "z"}, own: true},
		"families that are not known":                  {debaters: []string{"", ""}, judges: []string{"", "z"}},
		"no conflict":                                  {debaters: []string{"x", "y"}, judges: []string{"z", "w"}},
	} {
		t.Run(name, func(t *testing.T) {
			config := twoDebaters()
			config.Rounds = 1
			config.Judging = &debate.Judging{OwnFamily: test.own}
			engine, source := engineFor(config)
			know := func(families []string) []string {
				names := models(families...)
				for i, name := range names {
					engine.Models[name] = debate.Model{Family: families[i]}
				}
				return names
			}
			for i, model := range know(test.debaters) {
				config.Participants[i].Model = model
			}
			for i, model := range know(test.judges) {
				model = strings.Replace(model, "test/", "test/j", 1)
				engine.Models[model] = debate.Model{Family: test.judges[i]}
				config.Judging.Judges = append(config.Judging.Judges, debate.JudgeConfig{Model: model})
			}
			record := run(t, engine, config)
			assert.Equal(t, test.recused, view(record).Recused())
			asked := map[string]bool{}
			for _, req := range source.Requests() {
				asked[req.Self] = true
			}
			for _, name := range test.recused {
				assert.False(t, asked[name], "%s is never asked", name)
			}
			want := len(test.judges) - len(test.recused)
			assert.Len(t, view(record).Judges(), want)
			assert.Len(t, view(record).Verdicts, want)
			outcome := view(record).Outcome()
			assert.Equal(t, want, outcome.Judges)
			assert.Equal(t, "Ada", outcome.Winner, "the quorum is of those who judge")
			assert.Empty(t, outcome.Degraded, "to recuse a judge is what was configured")
		})
	}
}

// Judges who are no models are of no family.
func TestAFunctionIsOfNoFamily(t *testing.T) {
	c := newCourt(forAda(), forBen())
	c.config.Participants[0].Model = "test/x"
	c.engine.Models["test/x"], c.engine.Models["test/judge-1"] = debate.Model{Family: "x"}, debate.Model{Family: "x"}
	c.config.Judging.Judges[1] = debate.JudgeConfig{Name: "judge-2", Judge: "function"}
	c.engine.Judges = map[string]debate.Judge{"function": debate.JudgeFunc(func(context.Context, debate.JudgeTask) (json.RawMessage, error) {
		return json.RawMessage(forBen().verdict("x")), nil
	})}
	record := run(t, c.engine, c.config)
	assert.Equal(t, []string{"judge-1"}, view(record).Recused())
	assert.Equal(t, "Ben", view(record).Outcome().Winner)
}

// askedModels yields which models a debate's judge was asked with, in order, as "call model".
func askedModels(source *scripted.Provider) []string {
	var out []string
	for _, req := range source.Requests() {
		if req.Schema != nil {
			out = append(out, callOf(&req)+" "+req.Model)
		}
	}
	return out
}

func TestFallbackJudgesInOrder(t *testing.T) {
	bad, gone := scripted.Reply{Text: "Ada was better."}, scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal}}
	for name, test := range map[string]struct {
		answers map[string][]scripted.Reply // by model; then it is well-formed
		want    []string
		model   string // whose verdict it is
	}{
		"after two rejections": {
			map[string][]scripted.Reply{"judge": {bad, bad}},
			[]string{"verdict.judge judge", "verdict.judge.again judge", "verdict.judge first"},
			"test/first",
		},
		"each with a re-ask of its own": {
			map[string][]scripted.Reply{"judge": {bad, bad}, "first": {bad, bad}, "second": {bad}},
			[]string{
				"verdict.judge judge", "verdict.judge.again judge", "verdict.judge first", "verdict.judge.again first",
				"verdict.judge second", "verdict.judge.again second",
			},
			"test/second",
		},
		"after failures": {
			map[string][]scripted.Reply{"judge": {gone}, "first": {gone}},
			[]string{"verdict.judge judge", "verdict.judge first", "verdict.judge second"},
			"test/second",
		},
		"after a failure, then two rejections": {
			map[string][]scripted.Reply{"judge": {gone}, "first": {bad, bad}},
			[]string{"verdict.judge judge", "verdict.judge first", "verdict.judge.again first", "verdict.judge second"},
			"test/second",
		},
		"after the failure of a re-ask": {
			map[string][]scripted.Reply{"judge": {bad, gone}},
			[]string{"verdict.judge judge", "verdict.judge.again judge", "verdict.judge.again first"},
			"test/first",
		},
		"after the failure of a re-ask and a rejection of the next": {
			map[string][]scripted.Reply{"judge": {bad, gone}, "first": {bad}},
			[]string{"verdict.judge judge", "verdict.judge.again judge", "verdict.judge.again first", "verdict.judge second"},
			"test/second",
		},
		"to the end": {
			map[string][]scripted.Reply{"judge": {bad, bad}, "first": {bad, bad}, "second": {bad, bad}},
			[]string{
				"verdict.judge judge", "verdict.judge.again judge", "verdict.judge first", "verdict.judge.again first",
				"verdict.judge second", "verdict.judge.again second",
			},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config := twoDebaters()
				config.Rounds, config.Unattended = 1, &debate.Unattended{}
				config.Judging = &debate.Judging{When: debate.AtEnd, Judges: []debate.JudgeConfig{
					{Model: "test/judge", Fallbacks: []string{"test/first", "test/second"}},
				}}
				engine, source := engineFor(config)
				answer := source.Reply
				var mu sync.Mutex
				given := map[string]int{}
				source.Reply = func(req *provider.Request) scripted.Reply {
					mu.Lock()
					defer mu.Unlock()
					if list, n := test.answers[req.Model], given[req.Model]; n < len(list) {
						given[req.Model]++
						return list[n]
					}
					return answer(req)
				}
				record := run(t, engine, config)
				assert.Equal(t, test.want, askedModels(source))
				for _, rejection := range record.Rejections {
					if rejection.Next != "" {
						at := slices.Index(askedModels(source), rejection.Call+" "+strings.TrimPrefix(rejection.Model, "test/"))
						require.Less(t, at+1, len(askedModels(source)))
						_, model, _ := strings.Cut(askedModels(source)[at+1], " ")
						assert.Equal(t, rejection.Next, "test/"+model, "the log says who is next")
					}
				}
				if test.model == "" {
					assert.Nil(t, view(record).Verdict)
					assert.Contains(t, view(record).Outcome().Degraded, "there is no verdict")
					return
				}
				require.NotNil(t, view(record).Verdict)
				assert.Equal(t, test.model, view(record).Verdict.Model)
				assert.Empty(t, view(record).Outcome().Degraded)
			})
		})
	}
}

func TestAPersonJudgesInAPanel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCourt(forAda(), forBen(), forAda())
		c.config.Judging.Judges[2] = debate.JudgeConfig{Name: "Pat", Person: true}
		session, err := c.engine.Start(t.Context(), c.config)
		require.NoError(t, err)
		defer session.Close()
		record, err := session.Wait(t.Context())
		require.ErrorIs(t, err, debate.ErrAwaitingInput)
		assert.Len(t, view(record).Verdicts, 2, "the models have judged meanwhile")
		require.Len(t, record.Inquiries, 1)
		q := record.Inquiries[0]
		assert.Equal(t, "Pat", q.To)
		assert.Equal(t, debate.KindVerdict, q.Kind)
		assert.Equal(t, "verdict.Pat", q.ID)
		assert.Len(t, listed(q.Question, "Ada", "Ben"), 2)
		assert.JSONEq(t, string(c.requestsTo("judge-1")[0].Schema.JSON), string(q.Schema), "what models are sent")

		require.NoError(t, session.Answer(t.Context(), q.ID, `Ada, clearly.`), "whether it is well-formed is told like a model's")
		record, err = session.Wait(t.Context())
		require.ErrorIs(t, err, debate.ErrAwaitingInput)
		require.Len(t, record.Rejections, 1)
		require.Len(t, record.Inquiries, 1)
		again := record.Inquiries[0]
		assert.Equal(t, "verdict.Pat.again", again.ID)
		assert.Contains(t, again.Question, record.Rejections[0].Problems[0])
		require.Error(t, session.Answer(t.Context(), q.ID, forAda().verdict("x")), "that question is settled")
		require.NoError(t, session.Answer(t.Context(), again.ID, forBen().verdict("Pat's reason")))
		record, err = session.Wait(t.Context())
		require.NoError(t, err)
		outcome := view(record).Outcome()
		assert.Equal(t, "Ben", outcome.Winner)
		assert.Equal(t, 3, outcome.Verdicts)
		assert.Equal(t, []debate.Dissent{{Judge: "judge-1", Winner: "Ada", Reasoning: "Because word of judge-1"}}, outcome.Dissent)
	})
}

// Who has failed may be replaced by a model, whatever it was.
func TestAModelTakesOverFromAJudgeWhoIsNone(t *testing.T) {
	for name, judge := range map[string]debate.JudgeConfig{
		"a function": {Name: "Pat", Judge: "broken"}, "a person": {Name: "Pat", Person: true}, "a model": {Name: "Pat", Model: "test/broken"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCourt(forAda())
				c.config.Judging.Judges[0] = judge
				c.engine.Judges = map[string]debate.Judge{"broken": debate.JudgeFunc(func(context.Context, debate.JudgeTask) (json.RawMessage, error) {
					return nil, &provider.Error{Kind: provider.KindRefusal, Message: "no"}
				})}
				answer := c.source.Reply
				c.source.Reply = func(req *provider.Request) scripted.Reply {
					if req.Model == "spare" {
						return scripted.Reply{Text: forBen().verdict("spare")}
					}
					return answer(req)
				}
				session, err := c.engine.Start(t.Context(), c.config)
				require.NoError(t, err)
				defer session.Close()
				record, err := session.Wait(t.Context())
				for range 2 { // a person's bad answers
					require.ErrorIs(t, err, debate.ErrAwaitingInput)
					if len(record.Inquiries[0].Options) > 0 {
						break
					}
					require.NoError(t, session.Answer(t.Context(), record.Inquiries[0].ID, "{}"))
					record, err = session.Wait(t.Context())
				}
				require.ErrorIs(t, err, debate.ErrAwaitingInput)
				if !slices.Contains(record.Inquiries[0].Options, flow.OptionModel) {
					return // not to offer it is right as well
				}
				require.NoError(t, session.Choose(t.Context(), record.Inquiries[0].ID, flow.OptionModel, "test/spare"))
				record, err = session.Wait(t.Context())
				require.NoError(t, err)
				assert.Equal(t, "Ben", view(record).Outcome().Winner)
				assert.Equal(t, "test/spare", view(record).Verdict.Model)
			})
		})
	}
}

// castFor fills the seats of a format.
func castFor(f debate.Format) debate.Config {
	config := debate.Config{Topic: "Is it so?", Format: f.Name, Rounds: f.Rounds}
	if config.Rounds == 0 {
		config.Rounds = 2
	}
	add := func(side debate.Side) {
		name := fmt.Sprintf("Speaker-%c", 'A'+len(config.Participants))
		config.Participants = append(config.Participants, debate.Participant{Name: name, Side: side, Model: "test/debater"})
	}
	for _, seats := range f.Seats {
		for range max(1, seats.Min) {
			add(seats.Side)
		}
	}
	for len(config.Participants) < max(2, f.MinParticipants) {
		side := debate.Side("")
		if len(f.Seats) > 0 {
			side = f.Seats[len(f.Seats)-1].Side
		}
		add(side)
	}
	if f.Decide == format.BySwing {
		config.Audience = &debate.Audience{Members: []debate.Member{{Model: "test/voter"}}}
	}
	return config
}

func TestEveryFormatEndsWithoutAJudge(t *testing.T) {
	for _, f := range format.Builtin() {
		t.Run(f.Name, func(t *testing.T) {
			config := castFor(f)
			engine, source := engineFor(config)
			answer := source.Reply
			source.Reply = func(req *provider.Request) scripted.Reply {
				if req.Schema != nil {
					return scripted.Reply{Text: `{"vote":"for","reasoning":"so it seems"}`}
				}
				return answer(req)
			}
			record := run(t, engine, config)
			assert.Equal(t, flow.StateCompleted, record.State)
			assert.Equal(t, config.Rounds, record.Round, "the cap holds")
			assert.Equal(t, flow.EndRounds, record.Reason)
			assert.Empty(t, view(record).Verdicts)
			assert.Nil(t, view(record).Verdict)
			outcome := view(record).Outcome()
			assert.Empty(t, outcome.Winner)
			assert.Zero(t, outcome.Judges)
			assert.Empty(t, outcome.Degraded, "no verdict was configured")
		})
	}
}

// A participant who is gone is judged no further, and no judge is asked to.
func TestWhoIsDroppedIsNotJudged(t *testing.T) {
	three := scored("Ada", 90, 80, 70)
	c := newCourt(three)
	c.config.Rounds, c.config.Unattended = 2, &debate.Unattended{}
	answer := c.source.Reply
	c.source.Reply = func(req *provider.Request) scripted.Reply {
		if req.Self == "Cyd" && strings.HasPrefix(callOf(req), "r2.") {
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal}}
		}
		if req.Schema != nil { // as the prompt lists them
			rule := ruling{"Ada", map[string]float64{}}
			for _, name := range listed(req.Last.Text, "Ada", "Ben", "Cyd") {
				rule.scores[name] = 50
			}
			return scripted.Reply{Text: rule.verdict("x")}
		}
		return answer(req)
	}
	synctest.Test(t, func(t *testing.T) {
		record := run(t, c.engine, c.config)
		assert.Contains(t, view(record).Outcome().Degraded, "Cyd has taken no further part")
		req := c.requestsTo("judge-1")[0]
		assert.Contains(t, toJSON(req.Messages), "Cyd speaks in round 1", "what was said stays")
		assert.NotContains(t, string(req.Schema.JSON), "Cyd")
		assert.Empty(t, record.Rejections, "a judge who does as it is told is accepted")
	})
}

// A panel's record outlives its process in the middle of the votes.
func TestAPanelIsRestoredBetweenItsVotes(t *testing.T) {
	c := newCourt(forAda(), forBen(), forAda())
	c.config.Judging.Judges[1] = debate.JudgeConfig{Name: "Pat", Person: true}
	session, err := c.engine.Start(t.Context(), c.config)
	require.NoError(t, err)
	_, err = session.Wait(t.Context())
	require.ErrorIs(t, err, debate.ErrAwaitingInput)
	data, err := session.Snapshot(t.Context())
	require.NoError(t, err)
	require.NoError(t, session.Close())

	other := newCourt(forBen(), forBen(), forBen()) // it would judge otherwise
	restored, err := other.engine.Restore(t.Context(), data)
	require.NoError(t, err)
	defer restored.Close()
	require.NoError(t, restored.Answer(t.Context(), "verdict.Pat", forBen().verdict("x")))
	record, err := restored.Wait(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "Ada", view(record).Outcome().Winner)
	assert.Empty(t, other.source.Requests(), "nobody is asked twice")
}

var errNobody = errors.New("nobody is there")

// A judge's errors without a kind are retried, and then another model is asked.
func TestAPanelsFunctionMayFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCourt(forAda(), forBen(), forAda())
		c.config.Judging.Judges[1] = debate.JudgeConfig{Name: "judge-2", Judge: "broken"}
		n := 0
		c.engine.Judges = map[string]debate.Judge{"broken": debate.JudgeFunc(func(context.Context, debate.JudgeTask) (json.RawMessage, error) {
			n++
			return nil, errNobody
		})}
		record := run(t, c.engine, c.config)
		assert.Equal(t, 3, n, "as api_error is retried")
		assert.Equal(t, "Ada", view(record).Outcome().Winner)
		assert.Contains(t, view(record).Outcome().Degraded, "2 of 3 judges have given a verdict")
	})
}
