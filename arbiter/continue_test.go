package arbiter_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/flow/flowtest"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// essay is a result that does not fit one reply, and cut are three parts of it.
func essay() (whole string, cut [3]string) {
	whole = toJSON(arbiter.Result{Success: true, Output: strings.Repeat("One \"thing\" after the other. ", 12) + "The end."})
	return whole, [3]string{whole[:60], whole[60:135], whole[135:]}
}

// inParts answers a call: all texts but the last end at their cap.
func inParts(texts ...string) func(*provider.Request) scripted.Reply {
	n := 0
	return func(*provider.Request) scripted.Reply {
		n++
		if n < len(texts) {
			return scripted.Reply{Text: texts[n-1], Stop: provider.StopLength}
		}
		return scripted.Reply{Text: texts[len(texts)-1]}
	}
}

// ends returns the kinds of the events that have ended attempts at Ada's first execution.
func ends(t *testing.T, engine *debate.Engine) (out []flow.EventKind) {
	t.Helper()
	for event, err := range engine.Store.Read(t.Context(), "work", 0) {
		require.NoError(t, err)
		if spend := flow.SpendOf(event.Body); spend != nil && strings.HasPrefix(spend.Call, "r1.Ada") {
			out = append(out, event.Body.EventKind())
		}
	}
	return out
}

// TestACutReplyIsContinued plays an agent whose result needs several replies, and models that do something else when they are
// asked to continue.
func TestACutReplyIsContinued(t *testing.T) {
	whole, cut := essay()
	const continued, turn, rejected, failed = flow.EventContinued, flow.EventTurn, flow.EventRejected, flow.EventFailed
	for name, test := range map[string]struct {
		replies []string
		want    []flow.EventKind
	}{
		"in three parts":                {cut[:], []flow.EventKind{continued, continued, turn}},
		"with nothing left to say":      {[]string{whole, " "}, []flow.EventKind{continued, turn}},
		"begun anew":                    {[]string{cut[0], whole}, []flow.EventKind{continued, turn}},
		"begun anew in other words":     {[]string{cut[0], "```json\n" + whole + "\n```"}, []flow.EventKind{continued, turn}},
		"begun anew, and cut again":     {[]string{cut[0], cut[0] + cut[1], cut[2]}, []flow.EventKind{continued, continued, turn}},
		"continued with something else": {[]string{cut[0], "I am sorry."}, []flow.EventKind{continued, rejected, turn}},
		"without an end":                {[]string{cut[0], "and ", "so ", "on ", ""}, []flow.EventKind{continued, continued, continued, rejected, turn}},
		"only thoughts":                 {[]string{cut[0], "", cut[1] + cut[2]}, []flow.EventKind{continued, failed, turn}},
	} {
		t.Run(name, func(t *testing.T) {
			engine, _ := engineFor(answers{"r1.Ada": inParts(test.replies...), "r1.Ada again": whole})
			w := worked(t, engine, config())
			assert.Equal(t, test.want, ends(t, engine))
			result, ok := arbiter.ResultOf(w.Turns[0])
			require.True(t, ok)
			assert.JSONEq(t, whole, toJSON(result))
			e := w.Executions()[0]
			assert.Equal(t, arbiter.Success, e.Result)
			assert.Equal(t, result.Output, e.Output)
			took, _ := w.Record.CallUsage(e.Call)
			assert.Equal(t, len(test.want), took.Attempts, "all that was paid counts for the execution")
			assert.Positive(t, e.Usage.Output)
		})
	}
}

// TestHowAReplyIsContinued reads what the model is sent, after a use of a tool too.
func TestHowAReplyIsContinued(t *testing.T) {
	whole, cut := essay()
	rest := inParts(cut[:]...)
	engine, p := engineFor(answers{"r1.Ada": func(req *provider.Request) scripted.Reply {
		if n := len(req.Messages); n == 0 {
			return uses("double", `{"n":2}`)
		}
		return rest(req)
	}})
	engine.Tools = map[string]flow.Tool{"double": double(t, flow.ToolInfo{Description: "doubles", ReadOnly: true})}
	p.Record = true
	c := config()
	c.Agents[0].Tools, c.Agents[0].MaxIterations, c.Agents[0].MaxTokens = []string{"double"}, 2, 100
	w := worked(t, engine, c)
	assert.Equal(t, []flow.EventKind{flow.EventTools, flow.EventTool, flow.EventContinued, flow.EventContinued, flow.EventTurn}, ends(t, engine))
	assert.JSONEq(t, whole, string(w.Turns[0].Data))
	var asked []provider.Request
	for _, req := range p.Requests() {
		if callOf(&req) == "r1.Ada" {
			asked = append(asked, req)
		}
	}
	require.Len(t, asked, 4)
	first, last := &asked[0], &asked[3]
	assert.NotNil(t, first.Schema)
	assert.Nil(t, last.Schema, "vendors would make each part a whole object")
	assert.Equal(t, 100, last.MaxTokens, "each part has the agent's limit")
	n := len(last.Messages)
	require.Equal(t, 5, n)
	assert.Contains(t, last.Messages[0].Text, first.Last.Text, "the instruction stays")
	assert.Contains(t, last.Messages[0].Text, string(first.Schema.JSON))
	assert.NotNil(t, last.Messages[2].ToolResult)
	assert.Contains(t, last.Messages[3].Text, "what your tools have answered")
	assert.Equal(t, provider.Message{Speaker: "Ada", Text: cut[0] + cut[1]}, last.Messages[4], "its own message")
	assert.Equal(t, "Ada", last.Self)
	assert.Contains(t, last.Last.Text, "Continue it with the very next character.")
	assert.NotEmpty(t, last.Tools, "vendors refuse uses of tools that are not described")
}

// TestAContinuedReplyStreamsAsOneText reads the pieces of a reply in three parts, from its beginning and from its middle.
func TestAContinuedReplyStreamsAsOneText(t *testing.T) {
	whole, cut := essay()
	for name, late := range map[string]bool{"from the beginning": false, "from the middle": true} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			hold := make(chan struct{})
			next := inParts(cut[:]...)
			n := 0
			engine, _ := engineFor(answers{"d2": completes("Done."), "r1.Ada": func(req *provider.Request) scripted.Reply {
				reply := next(req)
				if n++; n == 2 {
					reply.Hold = hold
				}
				reply.ChunkSize = 7
				return reply
			}})
			session := stage.Started(t, engine, config())
			if synctest.Wait(); !late {
				close(hold)
			}
			text, repeated, after := "", 0, int64(0)
			if late {
				for event, err := range engine.Store.Read(t.Context(), "work", 0) {
					require.NoError(t, err)
					after = event.Seq
				}
			}
			for event, err := range session.Events(t.Context(), after) {
				require.NoError(t, err)
				switch body := event.Body.(type) {
				case *flow.Chunk:
					if body.Call != "r1.Ada" {
						continue
					}
					if repeated += len(text) - body.Offset; late && text == "" {
						assert.Greater(t, len(body.Text), 30, "what was said before the reader came")
						close(hold)
					}
					text = text[:body.Offset] + body.Text
				case *flow.Turn:
					assert.Equal(t, body.Text, text)
					assert.JSONEq(t, whole, string(body.Data))
				}
			}
			assert.Zero(t, repeated, "no byte comes twice")
		}))
	}
}

// TestACrashBetweenPartsLosesNone cuts the log behind each part, and goes on in another process.
func TestACrashBetweenPartsLosesNone(t *testing.T) {
	whole, cut := essay()
	engine, _ := engineFor(nil)
	h := flowtest.Begin(t, engine, config())
	h.Say("d1", toJSON(picks("Ada")))
	for i, part := range cut {
		record := h.Reload()
		assert.True(t, record.Asking("r1.Ada"))
		if i > 0 {
			other := stage.CoreOf(t, engine, "test", copied(t, h.Log))
			command, err := other.Command("r1.Ada")
			require.NoError(t, err)
			assert.Equal(t, strings.Join(cut[:i], ""), command.Said)
			assert.Contains(t, command.Request.Last.Text, "Continue it")
			assert.Equal(t, i+1, command.Attempt)
		}
		if stop := (flow.Result{Call: "r1.Ada", Attempt: i + 1, Text: part, Stop: provider.StopLength}); i < len(cut)-1 {
			h.Do(stop)
		}
	}
	h.Do(flow.Lost{Call: "r1.Ada", Attempt: 3}) // its process is gone
	h.Do(flow.Result{Call: "r1.Ada", Attempt: 4, Text: cut[2]})
	record := h.Reload()
	require.Len(t, record.Turns, 1)
	assert.JSONEq(t, whole, string(record.Turns[0].Data))
}

func copied(t *testing.T, events []flow.Event) (out []flow.Event) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(toJSON(events)), &out))
	return out
}

// TestARestThatDoesNotFitTheWindow plays models whose window has no room for the rest of a reply: the reply is asked for again. If only
// the vendor knows that, a retry of the host program begins the reply anew.
func TestARestThatDoesNotFitTheWindow(t *testing.T) {
	t.Parallel()
	whole, cut := essay()
	begin := func(window int, part string) *flowtest.Hand {
		engine, _ := engineFor(nil)
		engine.Models = map[string]debate.Model{"test/m": {Window: window}}
		h := flowtest.Begin(t, engine, config())
		h.Say("d1", toJSON(picks("Ada")))
		h.Do(flow.Result{Call: "r1.Ada", Attempt: 1, Text: part, Stop: provider.StopLength})
		return h
	}
	h := begin(10_000, cut[0]+strings.Repeat("so and so on, ", 2000))
	h.Say("r1.Ada", whole)
	require.Len(t, h.Reload().Turns, 1)

	h = begin(0, cut[0])
	for attempt := 2; h.Record().State == arbiter.StateExecuting; attempt++ {
		h.Do(flow.Failed{Call: "r1.Ada", Attempt: attempt, Error: &flow.Error{Kind: provider.KindContextOverflow}})
	}
	require.Equal(t, flow.StateError, h.Record().State)
	h.Do(flow.Retry{})
	assert.NotContains(t, h.Prompt("r1.Ada"), "Continue it")
	h.Say("r1.Ada", whole)
	require.Len(t, h.Reload().Turns, 1)
}

// TestWhatContinuesNoReply lets the budget and another model come between two parts: a reply is of one model.
func TestWhatContinuesNoReply(t *testing.T) {
	_, cut := essay()
	const other = `{"output":"I have done it too.","success":true}`
	engine, _ := engineFor(answers{"r1.Ada": inParts(cut[:]...)})
	c := config()
	c.Budget = &debate.Budget{HardCalls: 3}
	w, err := play(t, engine, c)
	require.Error(t, err)
	assert.Equal(t, flow.StateError, w.State)
	assert.Equal(t, []flow.EventKind{flow.EventContinued, flow.EventContinued}, ends(t, engine), "what was paid is kept")

	engine, _ = engineFor(answers{"r1.Ada": func(req *provider.Request) scripted.Reply {
		switch {
		case req.Model == "n" && req.Schema != nil:
			return scripted.Reply{Text: other[:20], Stop: provider.StopLength}
		case req.Model == "n":
			return scripted.Reply{Text: other[20:]}
		case req.Schema != nil:
			return scripted.Reply{Text: cut[0], Stop: provider.StopLength}
		default:
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal, Message: "I will not."}}
		}
	}})
	c = config()
	c.Agents[0].Fallbacks = []string{"test/n"}
	w = worked(t, engine, c)
	assert.Equal(t, []flow.EventKind{flow.EventContinued, flow.EventFailed, flow.EventContinued, flow.EventTurn}, ends(t, engine))
	assert.JSONEq(t, other, string(w.Turns[0].Data))
}
