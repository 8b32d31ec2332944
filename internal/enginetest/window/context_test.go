package window_test

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/prompt"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// tokensOf counts what a request sends as text.
func tokensOf(req *provider.Request) int {
	n := 0
	for _, text := range req.Chat() {
		n += token.ForModel("debater").Count(text)
	}
	return n
}

// narrowEngine is an engine whose debaters have a small window, speak at length, and report what they
// have read.
func narrowEngine(config debate.Config, tokens int) (*debate.Engine, *scripted.Provider) {
	engine, p := stage.Engine(config)
	engine.Models["test/debater"] = debate.Model{Priced: true, Input: 1_000_000, Output: 2_000_000, Window: tokens}
	stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
		if req.Schema == nil {
			r.Text += strings.Repeat(" Prices are a gentler tool than bans, and they raise money for trams.", 20)
			r.Usage.Input = tokensOf(req)
		}
	})
	return engine, p
}

func TestALongDebateIsCutToTheWindow(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	const limit = 8000 - 500 // beside the reserve
	for name, tc := range map[string]struct {
		opening bool
		moves   int
		told    []flow.WarningKind
	}{
		"":                   {true, 14, []flow.WarningKind{flow.WarnNear, flow.WarnHigh, flow.WarnShort}},
		flow.ContextSliding:  {true, 14, []flow.WarningKind{flow.WarnNear, flow.WarnHigh, flow.WarnShort}},
		flow.ContextTruncate: {false, 14, []flow.WarningKind{flow.WarnNear, flow.WarnHigh, flow.WarnShort}},
	} {
		t.Run(cmp.Or(name, "default"), func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Format, config.Rounds, config.MaxTokens, config.Reserve, config.Context = format.RoundLimited, 24, 500, 500, name
			engine, p := narrowEngine(config, 8000)
			record := stage.Run(t, engine, config)

			told := map[string][]flow.WarningKind{}
			for _, w := range record.Warnings {
				told[w.By] = append(told[w.By], w.Kind)
				assert.Equal(t, w.Kind == flow.WarnShort, w.Left > 0, "%+v", w)
				assert.True(t, strings.HasSuffix(w.Call, "."+w.By), w.Call)
			}
			assert.Equal(t, map[string][]flow.WarningKind{"Ada": tc.told, "Ben": tc.told}, told, "the judge has room")
			most, moves, last := 0, 0, map[string]string{}
			for _, req := range p.Requests() {
				if req.Schema != nil {
					continue
				}
				most = max(most, tokensOf(&req))
				if len(req.Messages) < 3 {
					continue
				}
				first := req.Messages[0].Text
				if tc.opening {
					assert.Equal(t, record.Turns[0].Text, first, "the opening stays")
					assert.Equal(t, record.Turns[1].Text, req.Messages[1].Text, "that of the other side too")
					first = req.Messages[2].Text
				}
				if before, ok := last[req.Self]; ok && before != first {
					moves++
				}
				last[req.Self] = first
			}
			assert.LessOrEqual(t, most, limit, "every request fits")
			assert.Greater(t, most, limit*80/100, "and what there is room for is sent")
			assert.Positive(t, moves)
			t.Log("moves", moves, most)
			assert.LessOrEqual(t, moves, tc.moves, "the beginning stays put between cuts, so that caches hit")
			for _, req := range p.Requests() {
				if req.Schema != nil && req.Schema.Name == "verdict" {
					assert.Len(t, req.Messages, 48, "the judge's window holds everything")
				}
			}
		})
	}
}

// What does not fit is not sent. It has failed, with what does not fit, and a person is asked.
func TestWhatDoesNotFitAtAllIsAQuestionThatNamesIt(t *testing.T) {
	config := stage.Attended()
	config.MaxTokens, config.Reserve = 200, 200
	config.Participants[0].MaxTokens = 800 // longer than Ben has room for
	for name, tc := range map[string]struct {
		tokens int
		call   string
		want   string
		after  func(t *testing.T, s *debate.Session, q flow.Inquiry)
	}{
		"the prompt": {900, "r1.opening.Ada", "the prompt alone does not fit the window of 900 tokens", func(t *testing.T, s *debate.Session, q flow.Inquiry) {
			require.NoError(t, s.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionTruncate}))
			record, err := s.Wait(t.Context())
			again := stage.Question(t, record, err)
			require.Len(t, again.About, 1)
			assert.Equal(t, q.About[0].Call, again.About[0].Call, "there is nothing to leave out")
			assert.Equal(t, []debate.Option{flow.OptionRetry, flow.OptionWait, flow.OptionModel, flow.OptionSkip, flow.OptionEnd}, again.Options,
				"so that is not offered again")
			assert.NotEqual(t, q.ID, again.ID)
			require.NoError(t, s.Answer(t.Context(), flow.Answer{Inquiry: again.ID, Option: flow.OptionEnd}))
			record = stage.Ended(t, s)
			assert.Equal(t, flow.StateCompleted, record.State)
			assert.Empty(t, record.Turns)
			assert.Equal(t, flow.EndHost, record.Reason)
			assert.Contains(t, record.Evidence, "the prompt alone")
		}},
		"one message": {1600, "r1.opening.Ben", "the turn of Ada in round 1 alone does not fit the window of 1600 tokens", func(t *testing.T, s *debate.Session, q flow.Inquiry) {
			require.NoError(t, s.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionTruncate}))
			record, err := s.Wait(t.Context())
			ada := stage.Question(t, record, err)
			assert.Equal(t, "r2.rebuttal.Ada", ada.About[0].Call, "Ben was asked about for the whole debate, and she for herself")
			require.NoError(t, s.Answer(t.Context(), flow.Answer{Inquiry: ada.ID, Option: flow.OptionTruncate}))
			record = stage.Ended(t, s)
			assert.Len(t, record.Turns, 6)
			require.Len(t, record.Answers, 2)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			engine, p := narrowEngine(config, tc.tokens)
			engine.Store = &store.Memory{}
			stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
				if req.Schema == nil {
					r.Text = strings.Repeat(r.Text, 4)
				}
			})
			session := stage.Started(t, engine, config)
			record, err := session.Wait(t.Context())
			q := stage.Question(t, record, err)
			require.Len(t, q.About, 1)
			assert.Equal(t, tc.call, q.About[0].Call)
			assert.Equal(t, []debate.Option{
				flow.OptionRetry, flow.OptionWait, flow.OptionModel, flow.OptionTruncate, flow.OptionSkip, flow.OptionEnd,
			}, q.Options, "without a summarizer nothing is summarised")
			assert.Equal(t, provider.KindContextOverflow, q.Failure.Kind)
			assert.ErrorContains(t, q.Failure, tc.want)
			assert.Len(t, record.Turns, p.Calls(), "nothing was sent for it")
			failure := failureOf(t, engine, record.ID, tc.call)
			assert.True(t, failure.Final)
			assert.Equal(t, q.Failure.Error(), failure.Error.Error())
			assert.Zero(t, failure.Cost)
			tc.after(t, session, q)
			for _, req := range p.Requests() {
				if req.Schema == nil {
					assert.LessOrEqual(t, tokensOf(&req), tc.tokens-200, req.ID)
				}
			}
		})
	}
}

// With nobody there it is made smaller for as long as that can help, and is then the debate's error.
func TestWhatDoesNotFitAtAllInAnUnattendedDebate(t *testing.T) {
	config := stage.TwoDebaters()
	config.MaxTokens, config.Reserve, config.Unattended = 200, 200, true
	engine, p := narrowEngine(config, 500)
	session := stage.Started(t, engine, config)
	record, err := session.Wait(t.Context())
	stage.RequireKind(t, err, provider.KindContextOverflow)
	assert.ErrorContains(t, err, "the prompt alone does not fit the window of 500 tokens")
	assert.Equal(t, flow.StateError, record.State)
	assert.Zero(t, p.Calls())
	require.Len(t, record.Answers, 1, "the prompt gets no smaller by another try")
	assert.Equal(t, flow.OptionTruncate, record.Answers[0].Option)
	assert.True(t, record.Answers[0].Rule)
}

// failureOf yields the first failure of a call in a debate's log. It comes right after the call's intent.
func failureOf(t *testing.T, engine *debate.Engine, id, call string) *flow.Failure {
	t.Helper()
	var before debate.Event
	for event, err := range engine.Events(t.Context(), id, 0) {
		require.NoError(t, err)
		if event.Kind() == flow.EventFailed && body.As[flow.Failure](event).Call == call {
			require.Equal(t, flow.EventIntent, before.Kind())
			require.Equal(t, call, body.As[flow.Intent](before).Call)
			return body.As[flow.Failure](event)
		}
		before = event
	}
	require.Fail(t, "no such failure", call)
	return nil
}

// unread makes a flow whose speakers read nothing of what was said.
func unread() *debate.Flow {
	f := debate.DebateFlow()
	f.Name = "unread"
	step := f.Steps[debate.StateAwaitingResponses]
	calls := step.Calls
	step.Calls = func(r *debate.Record) []*flow.Call {
		all := calls(r)
		for i := range all {
			all[i].View.None = true
		}
		return all
	}
	f.Steps[debate.StateAwaitingResponses] = step
	return f
}

func TestWhoReadsNothingNeedsNoRoomForIt(t *testing.T) {
	config := stage.TwoDebaters()
	config.Format, config.Rounds, config.MaxTokens, config.Reserve = format.RoundLimited, 12, 500, 500
	engine, p := narrowEngine(config, 2500)
	engine.Flows = map[string]*debate.Flow{"unread": unread()}
	record := stage.Run(t, engine, flow.Named("unread", config))
	assert.Len(t, record.Turns, 24)
	assert.Empty(t, record.Warnings)
	for _, req := range p.Requests() {
		if req.Schema == nil {
			assert.Empty(t, req.Messages)
		}
	}
}

func TestTheModelCapsTheOutput(t *testing.T) {
	config := stage.TwoDebaters()
	engine, p := stage.Engine(config)
	model := engine.Models["test/debater"]
	model.MaxOutput = 1000
	engine.Models["test/debater"] = model
	config.Participants[1].MaxTokens = 300
	stage.Run(t, engine, config)
	requests := p.Requests()
	assert.Equal(t, 1000, requests[0].MaxTokens)
	assert.Equal(t, 300, requests[1].MaxTokens)
	assert.Equal(t, 4096, requests[2].MaxTokens)
}

// firstAndLast keeps the first message and the newest.
type firstAndLast struct{}

func (firstAndLast) Plan(p window.Problem) window.Plan {
	n := p.Len()
	if n < 3 {
		return window.Plan{Fits: true, TooBig: -1}
	}
	return window.Plan{Head: 1, From: n - 1, Fits: true, TooBig: -1}
}

func TestAHostsOwnContextManager(t *testing.T) {
	config := stage.TwoDebaters()
	config.Context = "ends"
	config.Participants[0].Model = "test/small"
	engine, p := stage.Engine(config)
	engine.Contexts = map[string]debate.ContextManager{"ends": firstAndLast{}}
	engine.Models["test/small"] = debate.Model{Window: 5000}
	stage.Run(t, engine, config)
	for _, req := range p.Requests() {
		if strings.HasSuffix(req.ID, "r3.closing.Ada/1") {
			require.Len(t, req.Messages, 2)
			assert.Equal(t, "Ada", req.Messages[0].Speaker)
			assert.Equal(t, stage.Speech("Ben", 2), req.Messages[1].Text)
			return
		}
	}
	t.Fatal("Ada did not close")
}

func TestPromptsAreTheHostsToReplace(t *testing.T) {
	config := stage.TwoDebaters()
	engine, p := stage.Engine(config)
	engine.Prompts = map[string]string{"turn": "Speak, it is round {{.Round}} of {{.Rounds}}."}
	stage.Run(t, engine, config)
	assert.Equal(t, "Speak, it is round 1 of 3.", p.Requests()[0].Last.Text)

	broken := &debate.Engine{Prompts: map[string]string{"turn": "{{.Nothing}}", "unknown": "x"}}
	err := broken.Validate(t.Context(), config)
	require.ErrorContains(t, err, "Prompts")
	assert.ErrorContains(t, err, "unknown")
}

// TestPromptsOfAConfig: two conversations of one engine have prompts and languages of their own, and each renders its own.
func TestPromptsOfAConfig(t *testing.T) {
	config := stage.TwoDebaters()
	engine, p := stage.Engine(config)
	engine.Prompts = map[string]string{"turn": "Speak, it is round {{.Round}}.", "language": `In {{or .Language "Latin"}}.`}
	own, spoken := config, config
	own.Language, own.Prompts = "German", map[string]string{"turn": "Go on, round {{.Round}} of {{.Rounds}}."}
	spoken.Language = "Greek"
	for range 2 { // the second time, what was rendered is used again
		for _, c := range []struct {
			config         debate.Config
			last, language string
		}{
			{own, "Go on, round 1 of 3.", "In German."}, {config, "Speak, it is round 1.", "In Latin."}, {spoken, "Speak, it is round 1.", "In Greek."},
		} {
			record := stage.Run(t, engine, c.config)
			first := slices.IndexFunc(p.Requests(), func(req provider.Request) bool { return strings.HasPrefix(req.ID, record.ID+"/") })
			require.GreaterOrEqual(t, first, 0)
			assert.Equal(t, c.last, p.Requests()[first].Last.Text)
			assert.Contains(t, record.Text("system.summarizer"), c.language)
			assert.Equal(t, c.config.Language, record.Settings().Language)
			assert.Equal(t, c.config.Prompts, record.Settings().Prompts)
		}
	}
}

// TestPromptsOfAConfigAreTried: what cannot be used is refused when the config is checked, with all that is wrong.
func TestPromptsOfAConfigAreTried(t *testing.T) {
	config := stage.TwoDebaters()
	engine, p := stage.Engine(config)
	engine.Flows = map[string]*debate.Flow{deliberation.FlowName: deliberation.Flow()}
	many := make(map[string]string)
	for i := range flow.MaxPrompts + 1 {
		many[strconv.Itoa(i)] = "x"
	}
	for name, c := range map[string]struct {
		change func(*debate.Config)
		fields []string
		want   []string
	}{
		"unknown, broken and without the fence": {
			func(c *debate.Config) {
				c.Prompts = map[string]string{"referee": "x", "turn": "{{.Colour}}", "debater": "You are {{.Name}}."}
			},
			[]string{"prompts.debater", "prompts.referee", "prompts.turn"},
			[]string{`"referee"`, "Colour", `"debater": never explains the markers`},
		},
		"too many": {func(c *debate.Config) { c.Prompts = many }, []string{"prompts"}, []string{"at most 32"}},
		"too long": {
			func(c *debate.Config) { c.Prompts = map[string]string{"turn": strings.Repeat("x", flow.MaxPrompt+1)} },
			[]string{"prompts.turn"},
			[]string{"at most 100000"},
		},
		"so long that to parse it would fill the stack": {
			func(c *debate.Config) { c.Prompts = map[string]string{"turn": strings.Repeat("{{if 1}}", 900_000)} },
			[]string{"prompts.turn"},
			[]string{"at most 100000"},
		},
		"of no flow that reads them here": {
			func(c *debate.Config) {
				c.Prompts = map[string]string{"review.ask": "x", "tools": "Done.", "deliberation.merge": "Merge."}
			},
			[]string{"prompts.deliberation.merge", "prompts.review.ask"},
			[]string{"is a template of another flow, which nobody reads here", "no template"},
		},
		"no text with values": {
			func(c *debate.Config) {
				c.Prompts = map[string]string{"turn": `{{define "x"}}{{end}}Go.`, "stance": "{{printf .Stance}}"}
			},
			[]string{"prompts.stance", "prompts.turn"},
			[]string{`calls the function "printf"`, `defines the template "x"`},
		},
		"no UTF-8":                {func(c *debate.Config) { c.Prompts = map[string]string{"turn": "\xff"} }, []string{"prompts.turn"}, []string{"UTF-8"}},
		"a language of two lines": {func(c *debate.Config) { c.Language = "German\nand" }, []string{"language"}, []string{"does not print"}},
	} {
		t.Run(name, func(t *testing.T) {
			config := config
			c.change(&config)
			err := engine.Validate(t.Context(), config)
			assert.Equal(t, c.fields, stage.FieldsOf(t, err))
			for _, want := range c.want {
				assert.ErrorContains(t, err, want)
			}
		})
	}
	assert.Zero(t, p.Calls())
}

// TestAFlowThatIsMadeOfAnotherReadsItsTemplatesToo: a config replaces those of both, and none that nobody reads.
func TestAFlowThatIsMadeOfAnotherReadsItsTemplatesToo(t *testing.T) {
	ask := prompt.Template{Text: "Ask.", Samples: []any{struct{}{}}}
	review, council := debate.DebateFlow(), deliberation.Flow()
	review.Name, review.Prompts = "review", map[string]prompt.Template{"review.ask": ask}
	council.Name, council.Prompts = "council", maps.Clone(council.Prompts)
	council.Prompts["council.ask"] = ask
	config := stage.TwoDebaters()
	engine, _ := stage.Engine(config)
	engine.Flows = map[string]*debate.Flow{"review": review, "council": council, deliberation.FlowName: deliberation.Flow()}
	talk := deliberation.Config{Problem: "Which cache?", Unattended: true, Agents: []deliberation.Agent{
		{ID: "ada", Role: deliberation.RoleArchitect, Model: "test/debater"}, {ID: "ben", Role: deliberation.RoleArchitect, Model: "test/debater"},
	}, Judge: deliberation.Judge{Model: "test/judge"}}
	fields := func(kind string, prompts ...string) []string {
		given := make(map[string]string)
		for _, name := range prompts {
			given[name] = "Now."
		}
		debates, talks := config, talk
		debates.Prompts, talks.Prompts = given, given
		var whole flow.Config = debates
		if kind == "council" || kind == deliberation.FlowName {
			whole = talks
		}
		err := engine.Validate(t.Context(), flow.Named(kind, whole))
		if err == nil {
			return nil
		}
		return stage.FieldsOf(t, err)
	}
	assert.Empty(t, fields("review", "review.ask", "turn", "tools"))
	assert.Equal(t, []string{"prompts.council.ask"}, fields("review", "council.ask", "turn"))
	assert.Equal(t, []string{"prompts.deliberation.merge"}, fields("review", "deliberation.merge"))
	assert.Equal(t, []string{"prompts.review.ask"}, fields(debate.FlowName, "review.ask", "turn"))
	assert.Empty(t, fields("council", "council.ask", "deliberation.merge", "tools"))
	assert.Equal(t, []string{"prompts.review.ask", "prompts.turn"}, fields("council", "review.ask", "turn"))
	assert.Equal(t, []string{"prompts.council.ask", "prompts.turn"}, fields(deliberation.FlowName, "council.ask", "turn"))
}

// tallied is a manager that keeps the newest two messages, and counts the requests that it is asked about. About one of a
// judge it is asked twice, since it leaves something out: whether a summary changes that.
type tallied struct{ times *atomic.Int64 }

func (a tallied) Plan(p window.Problem) window.Plan {
	if !p.Summarizer {
		a.times.Add(1)
	}
	from := max(0, p.Len()-2)
	return window.Plan{From: from, Fits: true, TooBig: -1, Used: p.Fixed + p.Size(from, p.Len())}
}

// TestAManagerOfTheHostsIsAskedBeforeEachCall, whether or not the window is known, and however much room there is.
func TestAManagerOfTheHostsIsAskedBeforeEachCall(t *testing.T) {
	for name, size := range map[string]int{"much room": 1_000_000, "an unknown window": 0} {
		t.Run(name, func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Context = "own"
			engine, p := stage.Engine(config)
			var times atomic.Int64
			engine.Contexts = map[string]debate.ContextManager{"own": tallied{&times}}
			for model, row := range engine.Models {
				row.Window = size
				engine.Models[model] = row
			}
			record := stage.Run(t, engine, config)
			assert.EqualValues(t, p.Calls(), times.Load())
			for _, req := range p.Requests() {
				assert.LessOrEqual(t, len(req.Messages), 3, "two messages, and one that may mark the gap")
			}
			for _, w := range record.Warnings {
				assert.Equal(t, flow.WarnShort, w.Kind, "no share of the window is reached")
			}
		})
	}
}
