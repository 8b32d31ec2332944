package log_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/deliberation/evaluation"
	"github.com/agonist-dev/debate/export"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/file"
)

// Whom is removed from all that the tests below write, and Sign is what must be left nowhere.
const (
	whom = `Zora "Zo" Quill & Sons`
	sign = "Quill"
)

// about returns a text of at most 64 characters that holds what is removed.
func about(what string) string { return what + ": " + whom + ", Elm Street." }

// TestEveryField plays conversations of all flows in which every field of the config is set, and in which everybody, models, tools and
// persons, writes what is then removed: in every text of the config, of the replies, of the answers, of the failures, in the keys of
// arguments, and in the reasons of controls. Nothing of it is left in the files of the store, in lists, exports, snapshots and reports.
func TestEveryField(t *testing.T) {
	held := make(map[flow.EventKind]bool) // the kinds of events that held it
	for name, configs := range everyField() {
		set := make(map[string]bool)
		for i, config := range configs {
			t.Run(fmt.Sprintf("%s %d", name, i+1), func(t *testing.T) {
				write(reflect.ValueOf(config), "", "")
				fieldsOf(reflect.ValueOf(config), set)
				var exported bytes.Buffer
				synctest.Test(t, func(t *testing.T) { playEveryField(t, config, &exported) })
				for kind := range forget(t, &exported) {
					held[kind] = true
				}
			})
		}
		for _, field := range slices.Sorted(maps.Keys(set)) {
			assert.True(t, set[field] || slices.Contains(unsetFields(), field), "set %s in a config of this test", field)
		}
	}
	for _, kind := range []flow.EventKind{
		flow.EventStart, flow.EventTransition, flow.EventTurn, flow.EventSummary, flow.EventRejected, flow.EventFailed, flow.EventWarning,
		flow.EventSkipped, flow.EventInquiry, flow.EventAnswer, flow.EventSent, flow.EventNote, flow.EventTools, flow.EventTool, flow.EventIntent,
		flow.EventRedacted, debate.EventAssessment, debate.EventVerdict, debate.EventBallot, debate.EventAssigned, debate.EventFloor, "decision",
	} {
		assert.True(t, held[kind], "no event %s held what is removed", kind)
	}
}

// unsetFields are the fields that no normalized config has, and the tools of debates, which are used as those of deliberations are.
func unsetFields() []string {
	return []string{
		"debate.Config.Tools", "debate.Config.ToolUses", "debate.Config.ID", "deliberation.Config.ID", "arbiter.Config.ID", "evaluation.Config.ID",
		"flow.File.Hash", "flow.File.Size", "flow.File.Pages", "flow.File.URL", // the start sets them, or fetches the file
		"deliberation.Role.Source", "deliberation.Role.SHA256", // read with a role
	}
}

// write writes a text that is removed into all texts of a value that are set.
func write(v reflect.Value, field, tag string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			write(v.Elem(), field, tag)
		}
	case reflect.Struct:
		for f, inner := range v.Fields() {
			if f.IsExported() && f.Tag.Get("json") != "-" {
				write(inner, f.Name, f.Tag.Get("redact"))
			}
		}
	case reflect.Slice:
		if raw, ok := reflect.TypeAssert[json.RawMessage](v); ok {
			v.Set(reflect.ValueOf(json.RawMessage(stage.JSON(map[string]any{about("word"): []string{about(field)}, "n": raw}))))
			return
		}
		for i := range v.Len() {
			write(v.Index(i), field, tag)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			write(value, key.String(), tag)
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		if v.String() != "" && (tag == "" || tag == "keys") && field != "PromptFile" {
			v.SetString(about(field))
		}
	default:
	}
}

// fieldsOf notes the fields of all structs in a value, and which of them are set.
func fieldsOf(v reflect.Value, set map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fieldsOf(v.Elem(), set)
		}
	case reflect.Struct:
		for f, inner := range v.Fields() {
			if f.IsExported() {
				name := v.Type().String() + "." + f.Name
				set[name] = set[name] || !inner.IsZero()
				fieldsOf(inner, set)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			fieldsOf(v.Index(i), set)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			fieldsOf(v.MapIndex(key), set)
		}
	default:
	}
}

// everyField returns the configs of each flow. Together they set every field.
func everyField() map[string][]flow.Config {
	return map[string][]flow.Config{
		"debate":       append([]flow.Config{everyDebate(), customDebate()}, chairedDebates()...),
		"deliberation": {everyDeliberation(), otherDeliberation(), votingDeliberation()},
		"arbiter":      {everyArbitration(), otherArbitration(), personalArbitration()},
		"evaluation":   {everyEvaluation()},
	}
}

func everyOption() *provider.Options {
	return &provider.Options{
		Effort: provider.EffortLow, TopP: new(0.5), Stop: []string{"."}, Seed: new(int64(1)), ServiceTier: "flex", Verbosity: provider.VerbosityLow,
		Search: true, Reasoning: provider.ReasoningAsk, Extra: map[string]json.RawMessage{"user": json.RawMessage(`1`)},
		Header: map[string]string{"X-User": "."},
	}
}

func everyBudget() *flow.Budget {
	return &flow.Budget{
		Warn: 1, Confirm: true, Soft: 900 * flow.USD, SoftTokens: 9_000_000, SoftCalls: 900, SoftTime: 90 * time.Hour,
		Hard: 1000 * flow.USD, HardTokens: 10_000_000, HardCalls: 1000, HardTime: 100 * time.Hour,
	}
}

func everyRetry() *flow.RetryPolicy {
	return &flow.RetryPolicy{
		Max: map[flow.Kind]int{provider.KindAPI: 2}, Base: time.Second, Cap: time.Minute, Jitter: time.Second, RateLimit: time.Minute,
	}
}

func everyRule() []flow.FailureRule {
	return []flow.FailureRule{{
		Calls: []flow.CallKind{flow.KindSummary}, Kinds: []flow.Kind{provider.KindQuota}, Do: flow.OptionModel, Model: "test/other",
	}}
}

func everyFile() ([]flow.File, []flow.Document) {
	one := flow.File{Name: ".", Type: "text/plain", Data: []byte("A file.")}
	return []flow.File{one}, []flow.Document{{Name: ".", Files: []flow.File{{Name: ".", Type: "text/plain", Data: []byte("Another file.")}}}}
}

func everyPolicy() flow.ToolPolicy {
	return flow.ToolPolicy{Unknown: flow.OptionTell, Approval: flow.OptionApprove}
}

// Marks of the host program, whose values are texts.
func everyMark() map[string]string { return map[string]string{"tenant": "."} }

// everyPrompt replaces a template that no answer depends on.
func everyPrompt() map[string]string { return map[string]string{"tools": "."} }

func everyDebate() *debate.Config {
	files, documents := everyFile()
	participant := func(name string) debate.Participant {
		return debate.Participant{
			Name: name, Side: debate.Neutral, Stance: format.Critic, Position: ".", Persona: ".", Instructions: ".", Model: "test/small", Fallbacks: []string{"test/b"},
			Temperature: new(0.3), MaxTokens: 300, Options: everyOption(), Metadata: everyMark(),
		}
	}
	c := &debate.Config{
		Topic: ".", Language: "German", Prompts: everyPrompt(), Attachments: files, Documents: documents, Quotes: true, Format: "free-form", Mode: debate.Simultaneous, Stance: format.Open, Rounds: 2,
		Participants: []debate.Participant{participant("Ada"), participant("Ben"), {Name: "Cid", Model: "test/small"}},
		Judging: &debate.Judging{
			Judges: []debate.JudgeConfig{
				{
					Name: "Una", Model: "test/judge", Fallbacks: []string{"test/b"}, Temperature: new(0.1), MaxTokens: 900, Options: everyOption(),
					Instructions: ".",
				},
				{Name: "Vic", Judge: "jury"},
				{Name: "Wim", Person: true, Term: flow.Term{Within: flow.Duration(time.Hour), Overdue: flow.OptionStandIn, StandIn: "test/a"}},
			},
			Quorum: 1, Protocol: debate.Plurality, When: debate.EveryRound, BothOrders: true, Anonymous: true, AllowSameFamily: true,
			Aim: format.ByTruth, Instructions: ".",
			Rubric: &debate.Rubric{Criteria: []debate.Criterion{
				{Name: "clarity", Weight: 60, Low: ".", High: "."}, {Name: "depth", Weight: 40, Low: ".", High: "."},
			}},
		},
		Audience: &debate.Audience{Members: []debate.Member{
			{Name: "Xia", Model: "test/a", Persona: ".", Instructions: ".", Fallbacks: []string{"test/b"}, Options: everyOption()},
			{Name: "Yul", Judge: "jury"},
			{Name: "Zed", Person: true, Term: flow.Term{Within: flow.Duration(time.Hour), Overdue: flow.OptionSkip}},
		}, Instructions: "."},
		AssignPositions: &debate.AssignPositions{
			Model: "test/a", Fallbacks: []string{"test/b"}, Diversity: debate.Spectrum, Instructions: ".", Temperature: new(0.9),
			Options: everyOption(),
		},
		Watch: []format.Detector{format.DetectRepetition}, StopOn: []format.Detector{format.DetectDrift},
		Budget: everyBudget(), OnFailure: everyRule(), Patience: time.Minute, Context: "hybrid", Summarizer: "test/a", AutoSummary: true,
		SummarizerOptions: everyOption(), TruncateTurns: true, Reserve: 100, MaxTokens: 500, Temperature: new(0.4),
		RoundTimeout: time.Hour, TurnTimeout: time.Minute, JudgeTimeout: time.Minute, Retry: everyRetry(), ToolPolicy: everyPolicy(),
		Labels: everyMark(),
	}
	return c
}

func customDebate() *debate.Config {
	c := stage.TwoDebaters()
	c.Participants = append(c.Participants, debate.Participant{
		Name: "Cid", Person: true, Term: flow.Term{Within: flow.Duration(time.Hour), Overdue: flow.OptionWait}, // whom nobody asks
	})
	for i, side := range []debate.Side{debate.For, debate.Against, debate.Neutral} {
		c.Participants[i].Side = side
	}
	c.Unattended, c.Rounds = true, 1
	c.Judging.Criteria = []string{"candour"}
	c.Format, c.CustomFormat = "salon", &format.Format{
		Name: "salon", Guidance: ".", Stance: format.Shared, Aim: format.ByTruth, MinParticipants: 2, MaxParticipants: 4,
		Seats: []format.Seats{{Side: format.For, Min: 1, Max: 2, Role: ".", Stance: format.Open}, {Side: format.Against, Role: "."}, {Side: format.Neutral, Role: "."}},
		Chair: format.Neutral, Rounds: 1, Phases: []format.Phase{{
			Name: "talk", First: 1, Last: -1, Instruction: ".", Back: 1, Release: true,
			Slots: []format.Slot{
				{Who: format.BothSides, Kind: "speech", Minutes: 1, Words: 50, MaxTokens: 400, Instruction: ".", Group: 1},
				{Who: "name:Ada", To: "name:Ben", Exchanges: 1, Instruction: ".", Answer: "."},
			},
		}},
		Reads: format.Reads{Graph: format.GivenEdges, Edges: map[string][]string{"Ada": {"Ben"}, "Ben": {"Ada"}, "Cid": {"Ada", "Ben"}}},
		End:   format.EndByRounds, Watch: []format.Detector{format.DetectRepetition}, StopOn: []format.Detector{format.DetectDrift},
		Decide: format.ByJudges, LeaverMayWin: true, Asides: 2,
	}
	return &c
}

// chairedDebates are debates in which a model, a function and a person give the floor.
func chairedDebates() []flow.Config {
	var all []flow.Config
	for _, floor := range []debate.Floor{
		{Name: "Kim", Model: "test/a", Fallbacks: []string{"test/b"}, Options: everyOption(), Instructions: "."},
		{Judge: "jury"},
		{Person: true, Term: flow.Term{Within: flow.Duration(time.Hour), Overdue: flow.OptionStandIn, StandIn: "test/a"}},
	} {
		c := stage.TwoDebaters()
		c.Floor, c.Rounds = &floor, 1
		all = append(all, &c)
	}
	return all
}

func everyDeliberation() *deliberation.Config {
	files, documents := everyFile()
	agent := func(id, role string) deliberation.Agent {
		return deliberation.Agent{
			ID: id, Name: ".", Role: role, Model: "test/a", Fallbacks: []string{"test/b"}, Temperature: new(0.3), MaxTokens: 900, Options: everyOption(),
			Prompt: ".", Origin: &deliberation.Origin{Source: ".", SHA256: flow.HashOf(nil), Of: flow.HashOf(nil)},
			Summaries: &deliberation.Summaries{Threshold: 200, MaxLength: 100}, Tools: &[]string{"look"}, Metadata: everyMark(),
		}
	}
	c := &deliberation.Config{
		Problem: ".", Context: ".", Language: "German", Prompts: everyPrompt(), Attachments: files, Documents: documents,
		Agents: []deliberation.Agent{agent("ada", "gardener"), agent("ben", deliberation.RoleArchitect), {
			ID: "cid", Person: true, Disabled: true,
			Term: flow.Term{Within: flow.Duration(time.Hour), Overdue: flow.OptionStandIn, StandIn: "test/a"},
		}},
		Judge: deliberation.Judge{
			Model: "test/judge", Fallbacks: []string{"test/b"}, Temperature: new(0.1), MaxTokens: 900, Options: everyOption(), Prompt: ".",
			Origin: &deliberation.Origin{Source: ".", SHA256: flow.HashOf(nil), Of: flow.HashOf(nil)},
		},
		Rounds: 3, Termination: deliberation.Termination{Kind: deliberation.TerminationConvergence, Threshold: new(99.0)},
		Synthesis: deliberation.SynthesisJudge, Topology: deliberation.Topology{Kind: deliberation.TopologyNearest, K: 1},
		Proposals: deliberation.ProposalsFresh, FullHistory: new(true), Summaries: deliberation.Summaries{Threshold: 200, MaxLength: 100},
		Clarification: deliberation.Clarification{
			On: true, Iterations: 1, Questions: 1, Within: flow.Duration(time.Hour), Known: []deliberation.KnownAnswer{{Question: ".", Answer: "."}},
		},
		Tools: []string{"look"}, ToolCalls: 2, ToolPolicy: everyPolicy(),
		Roles: []deliberation.Role{{
			Name: "gardener", Title: ".", System: ".", Propose: ".", Critique: ".", Refine: ".", Summarize: ".",
		}},
		Temperature: new(0.4), MaxTokens: 900, Reserve: 100, RoundTimeout: time.Hour, TurnTimeout: time.Minute, JudgeTimeout: time.Minute,
		Budget: everyBudget(), Retry: everyRetry(), OnFailure: everyRule(), Patience: time.Minute, Labels: everyMark(),
	}
	return c
}

func otherDeliberation() *deliberation.Config {
	return &deliberation.Config{
		Problem: ".", Unattended: true, Rounds: 1,
		Agents: []deliberation.Agent{
			{ID: "ada", Model: "test/a", PromptFile: "testdata/prompt.md"}, {ID: "ben", Model: "test/a"}, {ID: "cid", Model: "test/a"},
		},
		Judge: deliberation.Judge{Model: "test/judge", PromptFile: "testdata/prompt.md"}, Summaries: deliberation.Summaries{Off: true},
		Synthesis: deliberation.SynthesisRegistered, Synthesizer: "merge",
	}
}

func votingDeliberation() *deliberation.Config {
	c := otherDeliberation()
	c.Synthesis, c.Synthesizer = deliberation.SynthesisVoting, ""
	return c
}

func everyArbitration() *arbiter.Config {
	files, documents := everyFile()
	agent := func(name string) arbiter.Agent {
		return arbiter.Agent{
			Name: name, Description: ".", Prompt: ".", Model: "test/a", Fallbacks: []string{"test/b"}, Tools: []string{"look"}, MaxIterations: 5,
			Temperature: new(0.3), MaxTokens: 900, Options: everyOption(), Metadata: everyMark(),
		}
	}
	return &arbiter.Config{
		Task: ".", Language: "German", Prompts: everyPrompt(), Attachments: files, Documents: documents,
		Arbiter: arbiter.Arbiter{
			Model: "test/judge", Fallbacks: []string{"test/b"}, Prompt: ".", Temperature: new(0.1), MaxTokens: 900, Options: everyOption(),
		},
		Agents: []arbiter.Agent{agent("Ada"), agent("Ben")}, MaxIterations: 6, MaxFailures: 5, Parallel: 2, Temperature: new(0.4), MaxTokens: 900,
		Reserve: 100, Context: "hybrid", Summarizer: "test/a", TurnTimeout: time.Minute, Budget: everyBudget(), Retry: everyRetry(),
		Patience: time.Minute, OnFailure: everyRule(), ToolPolicy: everyPolicy(), Labels: everyMark(),
	}
}

func otherArbitration() *arbiter.Config {
	return &arbiter.Config{
		Task: ".", Unattended: true, Arbiter: arbiter.Arbiter{Function: "decide", Prompt: "."}, Agents: []arbiter.Agent{{Name: "Ada", Model: "test/a"}},
	}
}

func personalArbitration() *arbiter.Config {
	return &arbiter.Config{Task: ".", Agents: []arbiter.Agent{{Name: "Ada", Model: "test/a"}}, Arbiter: arbiter.Arbiter{
		Person: true, Prompt: ".", Term: flow.Term{Within: flow.Duration(time.Hour), Overdue: flow.OptionStandIn, StandIn: "test/a"},
	}}
}

func everyEvaluation() *evaluation.Config {
	return &evaluation.Config{
		Evaluators: []evaluation.Evaluator{
			{
				ID: "eva", Model: "test/judge", Fallbacks: []string{"test/b"}, Temperature: new(0.1), MaxTokens: 900, Options: everyOption(), Prompt: ".",
				Origin: &deliberation.Origin{Source: ".", SHA256: flow.HashOf(nil), Of: flow.HashOf(nil)},
			},
			{ID: "leo", Model: "test/judge", PromptFile: "testdata/prompt.md"},
		},
		Problem: ".", Context: ".", Solution: ".", Language: "German", Temperature: new(0.4), MaxTokens: 900, Reserve: 100, TurnTimeout: time.Minute, Budget: everyBudget(),
		Retry: everyRetry(), Unattended: true, OnFailure: everyRule(), Labels: everyMark(),
	}
}

// everyEngine has all that the configs name. Everybody writes what is removed.
func everyEngine(kept store.Store) *debate.Engine {
	row := flow.Model{Priced: true, Input: 1, Output: 2}
	e := &debate.Engine{
		Store: kept, Logger: slog.New(slog.DiscardHandler), SkipModelCheck: true, Providers: map[string]debate.Provider{"test": &writer{}},
		Models: make(map[string]flow.Model), Tools: map[string]flow.Tool{"look": looking{}},
		Judges: map[string]debate.Judge{"jury": debate.JudgeFunc(func(_ context.Context, task debate.JudgeTask) (json.RawMessage, error) {
			return json.RawMessage(answerTo(task.Schema)), nil
		})},
		Functions: map[string]flow.Function{
			"decide": arbiter.Func(func(_ context.Context, s arbiter.Situation) (arbiter.Ruling, error) {
				if len(s.Executions) == 0 {
					return arbiter.Ruling{Move: arbiter.MoveSelect, Agents: []string{"Ada"}, Reason: about("reason")}, nil
				}
				return arbiter.Ruling{Move: arbiter.MoveComplete, Reason: about("reason"), Summary: about("summary")}, nil
			}),
			"merge": deliberation.SynthesizerFunc(func(context.Context, deliberation.SynthesisTask) (*deliberation.Solution, error) {
				return &deliberation.Solution{
					Description: about("solution"), OpenQuestions: []string{about("question")}, Confidence: 50,
					Requirements: []deliberation.Requirement{{Text: about("requirement"), Note: about("note")}},
				}, nil
			}),
		},
		Flows: map[string]*flow.Flow{
			deliberation.FlowName: deliberation.Flow(), evaluation.FlowName: evaluation.Flow(), arbiter.FlowName: arbiter.Flow(),
		},
	}
	for _, name := range []string{"a", "b", "judge", "debater", "other"} {
		e.Models["test/"+name] = row
	}
	row.Window = 5000 // what is said is summarised
	e.Models["test/small"] = row
	return e
}

// looking is a tool whose description, arguments, answers and failures hold what is removed.
type looking struct{}

func (looking) Describe() flow.ToolInfo {
	return flow.ToolInfo{
		Description: about("tool"), Approval: true,
		Parameters: json.RawMessage(stage.JSON(map[string]any{"type": "object", "description": about("arguments"), "properties": map[string]any{}})),
	}
}

func (looking) Use(_ context.Context, use flow.ToolUse) (string, error) {
	return about("found") + string(use.Arguments), nil
}

// proposed finds whose proposals a voter is shown.
var proposed = regexp.MustCompile(`<<<\d+ (\w+): proposal>>>`)

// writer is a provider of which each third call fails at first, and each other third gets an answer that is not accepted.
type writer struct {
	mu    sync.Mutex
	calls []string
}

func (w *writer) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	call, attempt := stage.CutAttempt(req.ID)
	w.mu.Lock()
	if !slices.Contains(w.calls, call) {
		w.calls = append(w.calls, call)
	}
	n := slices.Index(w.calls, call)
	w.mu.Unlock()
	out := &provider.Response{
		Text: strings.Repeat(about("reply")+" ", 60), Stop: provider.StopEnd, Usage: provider.Usage{Input: 20, Output: 20}, Reasoning: about("thought"),
		Citations: []provider.Citation{{Title: about("title"), URL: "https://example.com/", Quote: about("quote")}}, ID: "reply-" + attempt,
	}
	switch {
	case strings.Contains(call, "/r2.critique."):
		return nil, &provider.Error{Kind: provider.KindRefusal, Message: about("refusal")}
	case n%3 == 1 && attempt == "1":
		return nil, &provider.Error{Kind: provider.KindAPI, Message: about("failure")}
	case req.Schema != nil && n%3 == 2 && attempt == "1":
		out.Text = stage.JSON(map[string]string{about("key"): about("answer")})
	case req.Schema != nil && strings.HasPrefix(req.Schema.Name, "vote"):
		vote := deliberation.Vote{Reasoning: about("reasoning")}
		for _, m := range proposed.FindAllStringSubmatch(req.Last.Text, -1) {
			vote.Ranking = append(vote.Ranking, m[1])
		}
		out.Text = stage.JSON(vote)
	case req.Schema != nil:
		out.Text = answerTo(req.Schema.JSON)
	}
	used := slices.ContainsFunc(req.Messages, func(m provider.Message) bool { return m.ToolResult != nil })
	if len(req.Tools) > 0 && !used && req.Last.ToolResult == nil {
		out.Text, out.Calls, out.Stop = about("beside"), []provider.ToolCall{{
			ID: "use", Name: req.Tools[0].Name, Arguments: json.RawMessage(stage.JSON(map[string]string{about("key"): about("argument")})),
		}}, provider.StopTool
	}
	emit(provider.Chunk{Text: out.Text})
	return out, nil
}

// answerTo makes an answer that matches a schema, and whose texts hold what is removed.
func answerTo(schema []byte) string {
	var tree map[string]any
	if err := json.Unmarshal(schema, &tree); err != nil {
		return err.Error()
	}
	return stage.JSON(valueOf(tree, ""))
}

func valueOf(schema map[string]any, key string) any {
	if list, ok := schema["oneOf"].([]any); ok {
		first, _ := list[0].(map[string]any)
		return valueOf(first, key)
	}
	if names, ok := schema["enum"].([]any); ok {
		return names[len(names)-1] // of the moves of an arbiter, the one that completes
	}
	if key == "planUpdates" {
		return arbiter.PlanUpdate{Steps: []arbiter.StepUpdate{{Description: about("step"), Status: arbiter.Complete, Agent: "Ada"}}}
	}
	items, _ := schema["items"].(map[string]any)
	switch schema["type"] {
	case "object":
		out := make(map[string]any)
		properties, _ := schema["properties"].(map[string]any)
		for name, inner := range properties {
			of, _ := inner.(map[string]any)
			out[name] = valueOf(of, name)
		}
		if out["move"] == string(arbiter.MoveSelect) {
			out["agents"], out["summary"] = []any{"Ada"}, ""
		}
		return out
	case "array":
		if key == "agents" {
			return []any{}
		}
		var out []any
		for _, name := range namesIn(items) {
			one, _ := valueOf(items, key).(map[string]any)
			one["participant"] = name
			if _, ok := one["position"]; ok {
				one["position"] = about("a park with trees, a lake, many benches and no car at all, ever, for " + fmt.Sprint(name)) // unlike all others
			}
			out = append(out, one)
		}
		if out == nil {
			out = append(out, valueOf(items, key))
		}
		return out
	case "boolean":
		return key == "shouldContinue" || key == "success" || key == "major"
	case "number", "integer":
		return 5
	default:
		if key == "winner" { // a person's
			return ""
		}
		return about(key)
	}
}

// namesIn returns the participants each of whom an item is for.
func namesIn(items map[string]any) []any {
	properties, _ := items["properties"].(map[string]any)
	participant, _ := properties["participant"].(map[string]any)
	names, _ := participant["enum"].([]any)
	return names
}

// playEveryField plays a conversation to its end. A person answers all questions, and the host pauses it once.
func playEveryField(t *testing.T, config flow.Config, exported *bytes.Buffer) {
	t.Helper()
	engine := everyEngine(&store.Memory{})
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	defer session.Close()
	stage.Pass(1500 * time.Millisecond)
	if !session.State().Idle() {
		require.NoError(t, session.Control(t.Context(), flow.Pause{Reason: about("pause")}))
		stage.Pass(time.Second)
	}
	if _, ok := config.(*arbiter.Config); ok && session.State() != flow.StateCompleted {
		require.NoError(t, session.Control(t.Context(), flow.Sent{
			Trigger: arbiter.TriggerForceAgent, Payload: json.RawMessage(`{"agent":"Ada"}`), Reason: about("reason"),
		}))
	}
	if session.State() == flow.StatePaused {
		_, err := session.Say(t.Context(), flow.Note{As: about("as"), Text: about("note"), Person: about("person")})
		require.NoError(t, err)
		require.NoError(t, session.Control(t.Context(), flow.Resume{Reason: about("resume")}))
	}
	for n := range 300 {
		record, err := session.Wait(t.Context())
		switch {
		case err == nil:
			require.Equal(t, flow.StateCompleted, record.State)
			require.NoError(t, engine.Export(t.Context(), session.ID(), exported))
			return
		case errors.Is(err, flow.ErrAwaitingInput):
			for _, q := range record.Inquiries {
				require.NoError(t, session.Control(t.Context(), reply(&q, n)))
			}
		default:
			require.NoError(t, session.Control(t.Context(), flow.Retry{Reason: about("retry")}), "%v", err)
		}
	}
	t.Fatal("the conversation has no end")
}

// reply is what a person answers: now this, now that, where there is a choice.
func reply(q *flow.Inquiry, n int) flow.Answer {
	a := flow.Answer{Inquiry: q.ID, Person: about("person")}
	switch {
	case q.Schema != nil:
		a.Text = answerTo(q.Schema)
	case len(q.Options) == 0:
		a.Text = about("answer")
	case slices.Contains(q.Options, flow.OptionDeny) && n%2 == 0:
		a.Option, a.Text = flow.OptionDeny, about("denied")
	default:
		a.Option = q.Options[0]
		for _, option := range []flow.Option{flow.OptionContinue, flow.OptionApprove, flow.OptionSkip} {
			if slices.Contains(q.Options, option) {
				a.Option = option
			}
		}
	}
	return a
}

// forget stores an export, removes what was written about Zora, and looks for it in all that is left. It returns the kinds of the
// events that held it.
func forget(t *testing.T, exported *bytes.Buffer) map[flow.EventKind]bool {
	t.Helper()
	ctx, dir := t.Context(), t.TempDir()
	kept := &file.Store{Dir: dir, Sync: file.SyncNever}
	defer func() { require.NoError(t, kept.Close()) }()
	engine := everyEngine(kept)
	id, err := engine.Import(ctx, exported)
	require.NoError(t, err)
	_, err = engine.Redact(ctx, id, flow.Redaction{Texts: []string{"Elm Street"}, By: whom, Reason: whom + " has asked for it"})
	require.NoError(t, err)
	held := make(map[flow.EventKind]bool)
	for event, err := range kept.Read(ctx, id, 0) {
		require.NoError(t, err)
		if strings.Contains(stage.JSON(event), sign) {
			held[event.Kind()] = true
		}
	}
	fact, err := engine.Redact(ctx, id, flow.Redaction{Texts: []string{whom}})
	require.NoError(t, err)
	assert.Empty(t, fact.Kept)

	left := func(where, text string) {
		if at := strings.Index(text, sign); at >= 0 {
			t.Errorf("%s: …%s…", where, text[max(0, at-80):min(len(text), at+40)])
		}
	}
	for event, err := range kept.Read(ctx, id, 0) {
		require.NoError(t, err)
		left(fmt.Sprintf("event %d, %s", event.Seq, event.Kind()), stage.JSON(event))
	}
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		left(path, string(data))
		return err
	}))
	for info, err := range engine.List(ctx, store.Filter{}) {
		require.NoError(t, err)
		left("the list", stage.JSON(info))
	}
	var out bytes.Buffer
	require.NoError(t, engine.Export(ctx, id, &out))
	left("the export", out.String())
	record, err := engine.Record(ctx, id)
	require.NoError(t, err)
	left("the record", stage.JSON(record))
	left("the projection", stage.JSON(record.Projection()))
	for name, render := range map[string]func(*bytes.Buffer) error{
		"Markdown": func(w *bytes.Buffer) error { return export.Markdown(w, record) },
		"HTML":     func(w *bytes.Buffer) error { return export.HTML(w, record) },
	} {
		out.Reset()
		require.NoError(t, render(&out))
		left(name, out.String())
	}
	again, err := everyEngine(&store.Memory{}).Import(ctx, bytes.NewReader(stage.Exported(t, engine, id)))
	require.NoError(t, err, "it can be read as before")
	assert.Equal(t, id, again)
	return held
}
