package stage

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// Bench is a debate of one round whose judge reads answers from a list; when it is used up, each
// answer is well-formed. It counts what the judge was asked, as a model or as a Judge.
type Bench struct {
	Engine *debate.Engine
	Config debate.Config
	source *scripted.Provider

	mu    sync.Mutex
	kind  flow.CallKind // the answers are for
	list  []scripted.Reply
	Asked []Asked // about that kind
}

func (b *Bench) next(kind flow.CallKind, a Asked) scripted.Reply {
	b.mu.Lock()
	defer b.mu.Unlock()
	if kind == b.kind {
		b.Asked = append(b.Asked, a)
		if len(b.list) > 0 {
			reply := b.list[0]
			b.list = b.list[1:]
			return reply
		}
	}
	if kind == debate.KindVerdict {
		return scripted.Reply{Text: Verdict([]string{"Ada", "Ben"})}
	}
	return scripted.Reply{Text: Judgement([]string{"Ada", "Ben"}, true)}
}

// Start plays until the debate is over or stops at an error.
func (b *Bench) Start(t *testing.T) (*debate.Session, *debate.Record, error) {
	t.Helper()
	session, err := b.Engine.Start(t.Context(), b.Config)
	require.NoError(t, err)
	t.Cleanup(func() { session.Close() })
	record, err := session.Wait(t.Context())
	return session, record, err
}

// Asked is what the judge of a Bench was asked.
type Asked struct {
	Call, Instruction string
	Schema            json.RawMessage
}

// PanelOf makes a panel of so many judges.
func PanelOf(n int) func(*debate.Config) {
	return func(c *debate.Config) {
		c.Judging.Judges = nil
		for range n {
			c.Judging.Judges = append(c.Judging.Judges, debate.JudgeConfig{Model: "test/judge"})
		}
	}
}

// NewBench makes a Bench, with a person who is asked about failures; outside: the judge is a Go function.
func NewBench(kind flow.CallKind, outside bool, answers ...scripted.Reply) *Bench {
	b := &Bench{kind: kind, list: answers, Config: Attended()}
	b.Config.Rounds = 1
	b.Engine, b.source = Engine(b.Config)
	answer := b.source.Reply
	b.source.Reply = func(req *provider.Request) scripted.Reply {
		if req.Schema == nil {
			return answer(req)
		}
		parts := strings.Split(req.ID, "/")
		return b.next(KindOf(req), Asked{parts[1] + "/" + parts[2], req.Last.Text, req.Schema.JSON})
	}
	if outside {
		b.Config.Judging.Judges[0] = debate.JudgeConfig{Judge: "panel"}
		b.Engine.Judges = map[string]debate.Judge{"panel": debate.JudgeFunc(func(_ context.Context, task debate.JudgeTask) (json.RawMessage, error) {
			reply := b.next(task.Kind, Asked{fmt.Sprintf("%s/%d", task.Call, task.Attempt), task.Instruction, task.Schema})
			return json.RawMessage(reply.Text), reply.Err
		})}
	}
	return b
}

// Recorded yields the judge's JSON as it was recorded; "": nothing was.
func Recorded(r *debate.Record, kind flow.CallKind) string {
	switch {
	case kind == debate.KindVerdict && View(r).Verdict != nil:
		return JSON(View(r).Verdict.FinalVerdict)
	case kind == debate.KindAssessment && len(View(r).Assessments) > 0:
		return JSON(View(r).Assessments[0].Judgement)
	default:
		return ""
	}
}

// WellFormed is what a Bench answers by itself.
func WellFormed(kind flow.CallKind) string {
	if kind == debate.KindVerdict {
		return Verdict([]string{"Ada", "Ben"})
	}
	return Judgement([]string{"Ada", "Ben"}, true)
}

// JudgeOptions are what can be chosen about the only judge, who has failed for good.
func JudgeOptions(call flow.CallKind) []debate.Option {
	options := []debate.Option{flow.OptionRetry, flow.OptionWait, flow.OptionModel}
	if call == debate.KindAssessment {
		return append(options, flow.OptionSkip, flow.OptionDrop, flow.OptionEnd)
	}
	return append(options, flow.OptionDrop)
}

// LabelsIn yields the names that a schema allows for a participant, in their order.
func LabelsIn(schema []byte) []string { return listed(schema, "participant", "enum") }

// SidesIn yields the sides that can win by a schema; nil: no side can.
func SidesIn(schema []byte) []string { return listed(schema, "side", "enum") }

// listed yields a list of texts that the schema of the fields of a name holds: their values, or their keys.
func listed(schema []byte, name, key string) []string {
	var tree any
	_ = json.Unmarshal(schema, &tree)
	var find func(tree any) []string
	find = func(tree any) []string {
		switch v := tree.(type) {
		case map[string]any:
			if p, ok := v[name].(map[string]any); ok {
				if list, ok := p[key].([]any); ok {
					var out []string
					for _, each := range list {
						out = append(out, fmt.Sprint(each))
					}
					return out
				}
			}
			for _, each := range v {
				if out := find(each); out != nil {
					return out
				}
			}
		case []any:
			for _, each := range v {
				if out := find(each); out != nil {
					return out
				}
			}
		}
		return nil
	}
	return find(tree)
}

// Named yields those of the names that a schema names, in the order of names. If it names none of them, it has labels: a judge who
// has guessed everybody's name may write names all the same, but a judge who is to judge some only writes labels.
func Named(schema []byte, names []string) []string {
	known := LabelsIn(schema)
	out := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(known, name) })
	switch {
	case len(out) > 0:
		return out
	case len(known) > 0 && len(known) != len(names):
		return known
	default:
		return names
	}
}

// Marked gives each participant of an assessment a mark for each criterion of a schema, in place of the score. If the schema has none, the
// assessment stays as it is.
func Marked(schema []byte, judgement string) string {
	criteria := listed(schema, "criteria", "required")
	var j map[string]any
	if len(criteria) == 0 || json.Unmarshal([]byte(judgement), &j) != nil {
		return judgement
	}
	list, _ := j["assessments"].([]any)
	for i := range list {
		mark, _ := list[i].(map[string]any)
		marks := make(map[string]int, len(criteria))
		for _, name := range criteria {
			marks[name] = 7 + i%3
		}
		delete(mark, "score")
		mark["criteria"] = marks
	}
	return JSON(j)
}

// KindOf yields the kind of the call that a request with a schema is for, whatever the schema is called.
func KindOf(req *provider.Request) flow.CallKind {
	switch call := "." + CallOf(req); { // an ID of a debate that goes on after its verdict begins with another word
	case strings.Contains(call, ".verdict."):
		return debate.KindVerdict
	case strings.Contains(call, ".assessment."):
		return debate.KindAssessment
	case strings.Contains(call, ".vote."):
		return debate.KindBallot
	default:
		return flow.CallKind(req.Schema.Name)
	}
}

// InShape brings a verdict into the shape that a schema asks for. Where sides win, the side "for" has won, or the first of the schema.
// Where nobody can win, there is no winner, and there are no scores.
func InShape(schema []byte, verdict string) string {
	var v map[string]any
	if json.Unmarshal([]byte(verdict), &v) != nil {
		return verdict
	}
	sides, asks := SidesIn(schema), strings.Contains(string(schema), `"winner"`)
	winner, named := v["winner"].(map[string]any)
	switch {
	case !asks:
		delete(v, "winner")
		delete(v, "scores")
	case len(sides) > 0 && named && winner["side"] == nil:
		delete(winner, "participant")
		winner["side"] = sides[max(0, slices.Index(sides, string(debate.For)))]
	default:
		return verdict
	}
	return JSON(v)
}

// ReadBy is all that a model reads of a request.
func ReadBy(req *provider.Request) string {
	var b strings.Builder
	for role, text := range req.Chat() {
		fmt.Fprintf(&b, "%s: %s\n", role, text)
	}
	for i := range req.Messages {
		fmt.Fprintf(&b, "%s\n", req.Messages[i].Speaker)
	}
	b.Write(req.Schema.JSON)
	return b.String()
}

// ByPerson is what a person who judges answers: the first name has won.
func ByPerson(kind flow.CallKind, names ...string) string {
	scores, most := map[string]float64{}, 10.0
	if kind == debate.KindVerdict {
		most = 100
	}
	for i, name := range names {
		scores[name] = most * (0.9 - 0.1*float64(i))
	}
	if kind == debate.KindVerdict {
		return JSON(debate.PersonVerdict{Scores: scores, QualityScore: 70, Winner: names[0], Reasoning: names[0] + " answered more."})
	}
	return JSON(debate.PersonJudgement{Scores: scores, QualityScore: 7, ShouldContinue: true, Reasoning: "Both were clear."})
}

// SpeakerOptions are what can be chosen about a speaker who has failed for good and whom a person may drop.
func SpeakerOptions() []debate.Option {
	return []debate.Option{flow.OptionRetry, flow.OptionWait, flow.OptionModel, flow.OptionSkip, flow.OptionDrop, flow.OptionEnd}
}

// ControlTokens are strings that servers of models read as control tokens, wherever they stand.
func ControlTokens() []string {
	return []string{
		"<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|start_header_id|>", "<|end|>", "<|channel|>", "<|begin_of_text|>",
		"<｜end▁of▁sentence｜>", "<｜User｜>", "<start_of_turn>", "<end_of_turn>", "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>", "<bos>", "<eos>",
		"</s>", "[TOOL_CALLS]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]", "[SYSTEM_PROMPT]",
	}
}
