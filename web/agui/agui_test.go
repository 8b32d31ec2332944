package agui_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/web"
	"github.com/agonist-dev/debate/web/agui"
)

// user is a user interface: a thread with its messages.
type user struct {
	t       *testing.T
	web     *web.Handler
	handler http.Handler
	thread  string
	header  http.Header

	messages []message
	state    struct{ Record struct{ State flow.State } }
}

// message is one that the user sees.
type message struct {
	ID      string `json:"id"`
	Role    string `json:"role"`
	Name    string `json:"name,omitempty"`
	Content string `json:"content"`
}

// event is an event of the protocol, as clients read it.
type event struct {
	Type, ThreadID, RunID, MessageID, Role, Name, Delta, StepName, Message, Code string
	ToolCallID, ToolCallName, Content                                            string

	Messages []message
	Snapshot json.RawMessage
	Value    map[string]any
	Usage    []struct {
		Provider, Model          string
		InputTokens, TotalTokens int
	}
	Outcome struct {
		Type       string
		Interrupts []struct {
			ID, Reason, Message, ExpiresAt string
			ResponseSchema                 struct {
				Properties struct{ Option struct{ Enum []string } }
			}
		}
	}
}

// offering is a user of an endpoint that offers a debate as its only preset.
func offering(t *testing.T, engine *debate.Engine, config debate.Config, o web.Options) *user {
	t.Helper()
	engine.Store = &store.Memory{}
	data, err := flow.EncodeConfig(config)
	require.NoError(t, err)
	o.Presets = []web.Preset{{Name: "two", Config: data}}
	h, err := web.New(engine, o)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		assert.NoError(t, engine.Shutdown(ctx))
	})
	return &user{t: t, web: h, handler: agui.New(h), thread: "chess"}
}

// request is one with an input, or with another body.
func (u *user) request(method, body string) *http.Request {
	request := httptest.NewRequestWithContext(u.t.Context(), method, "/agui", strings.NewReader(body))
	request.RemoteAddr, request.Host = "127.0.0.1:40000", "localhost:8080"
	request.Header.Set("Content-Type", "application/json")
	maps.Copy(request.Header, u.header)
	return request
}

// ask sends a body by POST.
func (u *user) ask(body string) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	u.handler.ServeHTTP(answer, u.request(http.MethodPost, body))
	return answer
}

// says adds a message of the user.
func (u *user) says(text string) {
	u.messages = append(u.messages, message{ID: fmt.Sprintf("m%d", len(u.messages)), Role: "user", Content: text})
}

// run makes a run, and applies its events as the client of the protocol does. It returns them.
func (u *user) run(resume ...map[string]any) []event {
	u.t.Helper()
	body, err := json.Marshal(map[string]any{
		"threadId": u.thread, "runId": "r1", "parentRunId": "r0", "messages": u.messages, "state": map[string]any{}, "tools": []any{},
		"context": []any{}, "resume": resume,
	})
	require.NoError(u.t, err)
	answer := u.ask(string(body))
	require.Equal(u.t, http.StatusOK, answer.Code, answer.Body)
	require.Equal(u.t, "text/event-stream", answer.Header().Get("Content-Type"))
	var all []event
	for block := range bytes.SplitSeq(bytes.TrimSuffix(answer.Body.Bytes(), []byte("\n\n")), []byte("\n\n")) {
		data, ok := bytes.CutPrefix(block, []byte("data: "))
		if !ok {
			require.Equal(u.t, ":", string(block))
			continue
		}
		var e event
		require.NoError(u.t, json.Unmarshal(data, &e), string(data))
		all = append(all, e)
	}
	u.apply(all)
	return all
}

// apply checks the order of events, and keeps what they say.
func (u *user) apply(all []event) {
	u.t.Helper()
	require.NotEmpty(u.t, all)
	require.Equal(u.t, "RUN_STARTED", all[0].Type)
	require.Equal(u.t, "chess", all[0].ThreadID)
	open, steps, calls := make(map[string]bool), make(map[string]bool), make(map[string]bool)
	for i, e := range all {
		at := fmt.Sprintf("event %d, %s", i, e.Type)
		switch e.Type {
		case "TEXT_MESSAGE_START":
			require.False(u.t, open[e.MessageID], at)
			open[e.MessageID] = true
			u.messages = append(u.messages, message{ID: e.MessageID, Role: e.Role, Name: e.Name})
		case "TEXT_MESSAGE_CONTENT":
			require.True(u.t, open[e.MessageID], at)
			require.NotEmpty(u.t, e.Delta, at)
			for k := range u.messages {
				if u.messages[k].ID == e.MessageID {
					u.messages[k].Content += e.Delta
				}
			}
		case "TEXT_MESSAGE_END":
			require.True(u.t, open[e.MessageID], at)
			delete(open, e.MessageID)
		case "MESSAGES_SNAPSHOT":
			require.Empty(u.t, open, at)
			u.messages = e.Messages
		case "STATE_SNAPSHOT":
			require.NoError(u.t, json.Unmarshal(e.Snapshot, &u.state), at)
		case "STEP_STARTED":
			require.False(u.t, steps[e.StepName], at)
			steps[e.StepName] = true
		case "STEP_FINISHED":
			require.True(u.t, steps[e.StepName], at)
			delete(steps, e.StepName)
		case "TOOL_CALL_START":
			require.False(u.t, calls[e.ToolCallID], at)
			calls[e.ToolCallID] = true
		case "TOOL_CALL_ARGS":
			require.True(u.t, calls[e.ToolCallID], at)
			require.NotEmpty(u.t, e.Delta, at)
		case "TOOL_CALL_END":
			require.True(u.t, calls[e.ToolCallID], at)
			delete(calls, e.ToolCallID)
		case "RUN_STARTED", "CUSTOM", "TOOL_CALL_RESULT":
		case "RUN_FINISHED", "RUN_ERROR":
			require.Equal(u.t, len(all)-1, i, at)
			require.Empty(u.t, open, at)
			require.Empty(u.t, steps, at)
			require.Empty(u.t, calls, at)
		default:
			require.Fail(u.t, "unknown event", at)
		}
	}
}

// count counts events of a type.
func count(all []event, kind string) (n int) {
	for _, e := range all {
		if e.Type == kind {
			n++
		}
	}
	return n
}

// tokens are those that a run has used.
func tokens(all []event) (n int) {
	for _, u := range all[len(all)-1].Usage {
		n += u.TotalTokens
	}
	return n
}

// assertNone: no conversation was started.
func assertNone(t *testing.T, engine *debate.Engine) {
	t.Helper()
	for info, err := range engine.List(t.Context(), store.Filter{}) {
		t.Error("a conversation was started", info.ID, err)
	}
}

// assertSaid: the user sees each turn of the debate once, with the text that counts.
func (u *user) assertSaid(engine *debate.Engine) {
	u.t.Helper()
	var want []message
	for _, turn := range stage.StoredRecord(u.t, engine, u.thread).Turns {
		want = append(want, message{turn.Call, "assistant", turn.Speaker, strings.TrimSpace(turn.Text)})
	}
	var seen []message
	for _, m := range u.messages {
		if m.Content = strings.TrimSpace(m.Content); m.Role == "assistant" && m.Content != "" { // one that uses a tool has no text
			seen = append(seen, m)
		}
	}
	assert.ElementsMatch(u.t, want, seen)
}

// TestARunHoldsADebate: about the user's message, and a later run of the thread has all messages again.
func TestARunHoldsADebate(t *testing.T) {
	engine, _ := stage.Engine(stage.TwoDebaters())
	u := offering(t, engine, stage.TwoDebaters(), web.Options{})
	u.says("Is chess a sport?")
	all := u.run()
	last := all[len(all)-1]
	assert.Equal(t, "RUN_FINISHED", last.Type)
	assert.Equal(t, "success", last.Outcome.Type)
	assert.Equal(t, "r1", last.RunID)
	require.Len(t, last.Usage, 2)
	for i, model := range []string{"debater", "judge"} {
		u := last.Usage[i]
		assert.Equal(t, []string{"test", model}, []string{u.Provider, u.Model})
		assert.Positive(t, u.InputTokens)
	}
	usage := stage.StoredRecord(t, engine, "chess").Spent().Usage
	assert.Equal(t, usage.Input+usage.Output, tokens(all))
	assert.Equal(t, 3, count(all, "STEP_STARTED"))
	assert.Zero(t, count(all, "MESSAGES_SNAPSHOT"))
	u.assertSaid(engine)
	assert.Len(t, u.messages, 7)
	assert.Equal(t, flow.StateCompleted, u.state.Record.State)
	assert.Equal(t, "Is chess a sport?", stage.StoredRecord(t, engine, "chess").Settings().Topic)
	verdicts := 0
	for _, e := range all {
		if e.Type == "CUSTOM" && e.Name == "verdict" {
			verdicts++
			assert.Equal(t, "A close debate.", e.Value["summary"])
		}
	}
	assert.Equal(t, 1, verdicts)

	u.messages = u.messages[:3]
	again := u.run()
	assert.Equal(t, "success", again[len(again)-1].Outcome.Type)
	assert.Empty(t, again[len(again)-1].Usage, "it has used nothing itself")
	assert.Len(t, u.messages, 7)
	u.assertSaid(engine)

	u.says("And what of go?")
	after := u.run()
	assert.Equal(t, "success", after[len(after)-1].Outcome.Type)
	assert.Len(t, u.messages, 7, "nothing is said after the end")
}

// TestWhatIsBesideTheTopic: earlier messages and the context are documents, and what is no text is left out.
func TestWhatIsBesideTheTopic(t *testing.T) {
	engine, _ := stage.Engine(stage.TwoDebaters())
	u := offering(t, engine, stage.TwoDebaters(), web.Options{})
	answer := u.ask(`{"threadId":"chess","runId":"r","context":[{"description":"Place","value":"Oslo"}],"messages":[
		{"id":"1","role":"system","content":"Be kind."},
		{"id":"2","role":"activity","activityType":"map","content":{"zoom":1}},
		{"id":"3","role":"user","name":"Ann","content":"Hello."},
		{"id":"4","role":"user","content":[{"type":"image","source":{}},{"type":"text","text":"Is chess a sport?"}]}
	]}`)
	require.Equal(t, http.StatusOK, answer.Code, answer.Body)
	settings := stage.StoredRecord(t, engine, "chess").Settings()
	assert.Equal(t, "Is chess a sport?", settings.Topic)
	var got []string
	for _, d := range settings.Documents {
		data, err := engine.File(t.Context(), "chess", d.Files[0].Hash)
		require.NoError(t, err)
		got = append(got, d.Name, string(data))
	}
	want := []string{"Earlier messages", "system:\nBe kind.\n\nuser Ann:\nHello.\n\n", "Context", "Place:\nOslo\n\n"}
	assert.Equal(t, want, got)
}

// TestNothingIsStartedThatCannotBeFollowed: if all streams are taken, nothing is paid.
func TestNothingIsStartedThatCannotBeFollowed(t *testing.T) {
	engine, _ := stage.Engine(stage.TwoDebaters())
	u := offering(t, engine, stage.TwoDebaters(), web.Options{Streams: 1})
	_, release, err := u.web.Hold(u.request(http.MethodPost, ""))
	require.NoError(t, err)
	full := u.ask(`{"threadId":"chess","runId":"r","messages":[{"id":"m","role":"user","content":"Is chess a sport?"}]}`)
	assert.Equal(t, http.StatusServiceUnavailable, full.Code)
	assert.NotEmpty(t, full.Header().Get("Retry-After"))
	assertNone(t, engine)
	release()
	u.says("Is chess a sport?")
	for range 2 { // each run gives its stream back
		all := u.run()
		assert.Equal(t, "success", all[len(all)-1].Outcome.Type)
	}
}

// TestWhenAnInterruptExpires: not while a late answer still counts.
func TestWhenAnInterruptExpires(t *testing.T) {
	for overdue, expires := range map[flow.Option]bool{flow.OptionWait: false, flow.OptionSkip: true} {
		config := stage.TwoDebaters()
		config.Unattended = false
		ben := &config.Participants[1]
		ben.Model, ben.Person, ben.Term = "", true, flow.Term{Within: flow.Duration(time.Hour), Overdue: overdue}
		engine, _ := stage.Engine(config)
		u := offering(t, engine, config, web.Options{})
		u.says("Is chess a sport?")
		all := u.run()
		interrupts := all[len(all)-1].Outcome.Interrupts
		require.Len(t, interrupts, 1, overdue)
		assert.Equal(t, expires, interrupts[0].ExpiresAt != "", overdue)
	}
}

// TestQuestionsAreInterrupts: the next run answers them. One that is cancelled stays open.
func TestQuestionsAreInterrupts(t *testing.T) {
	config := stage.TwoDebaters()
	config.Unattended = false
	engine, source := stage.Engine(config)
	stage.Befall(source, provider.KindRefusal, stage.Said("Ben", 2))
	u := offering(t, engine, config, web.Options{})
	u.says("Is chess a sport?")
	all := u.run()
	asked := all[len(all)-1].Outcome
	require.Equal(t, "interrupt", asked.Type)
	require.Len(t, asked.Interrupts, 1)
	assert.Equal(t, "decision", asked.Interrupts[0].Reason)
	assert.Contains(t, asked.Interrupts[0].ResponseSchema.Properties.Option.Enum, "skip")
	id, used := asked.Interrupts[0].ID, tokens(all)

	all = u.run(map[string]any{"interruptId": id, "status": "cancelled"})
	require.Equal(t, asked, all[len(all)-1].Outcome)
	for runs := 0; asked.Type == "interrupt" && runs < 10; runs++ {
		var payload any = "skip"
		if runs > 0 {
			payload = map[string]any{"option": "skip"}
		}
		closed := map[string]any{"interruptId": "nothing", "status": "resolved", "payload": "skip"}
		all = u.run(closed, map[string]any{"interruptId": asked.Interrupts[0].ID, "status": "resolved", "payload": payload})
		used += tokens(all)
		asked = all[len(all)-1].Outcome
	}
	assert.Equal(t, "success", asked.Type)
	record := stage.StoredRecord(t, engine, "chess")
	assert.NotEmpty(t, record.SkippedCalls)
	usage := record.Spent().Usage
	assert.Equal(t, usage.Input+usage.Output, used, "each run has counted its own")
	u.assertSaid(engine)
}

// TestAFailureEndsTheRun: with its message and its kind.
func TestAFailureEndsTheRun(t *testing.T) {
	engine, source := stage.Engine(stage.TwoDebaters())
	stage.Befall(source, provider.KindAuthentication, stage.Said("Ben", 2))
	u := offering(t, engine, stage.TwoDebaters(), web.Options{})
	u.says("Is chess a sport?")
	all := u.run()
	last := all[len(all)-1]
	assert.Equal(t, "RUN_ERROR", last.Type)
	assert.Equal(t, "authentication", last.Code)
	assert.NotEmpty(t, last.Message)
}

// TestARunIsNotSilentWhileNothingIsShown: the state is sent again while a judge writes what no message has.
func TestARunIsNotSilentWhileNothingIsShown(t *testing.T) {
	states := func(pause time.Duration) (n int) {
		synctest.Test(t, func(t *testing.T) {
			engine, source := stage.Engine(stage.TwoDebaters())
			stage.Altered(source, func(req *provider.Request, r *scripted.Reply) {
				if req.Schema != nil {
					r.Interval, r.Chunks = pause, 10
				}
			})
			u := offering(t, engine, stage.TwoDebaters(), web.Options{})
			u.says("Is chess a sport?")
			n = count(u.run(), "STATE_SNAPSHOT")
		})
		return n
	}
	assert.GreaterOrEqual(t, states(5*time.Second), states(time.Millisecond)+2)
}

// TestATurnThatBeginsAgain: the user ends up with the text that counts, although the protocol can only append.
func TestATurnThatBeginsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.Patience = 0
		engine, source := stage.Engine(config)
		engine.ChunkInterval = time.Millisecond
		var broken atomic.Bool
		reply, hits := source.Reply, stage.Said("Ben", 2)
		source.Reply = func(req *provider.Request) scripted.Reply {
			if hits(req) && !broken.Swap(true) {
				return scripted.Reply{
					Text: "These words do not count.", Chunks: 5, Interval: time.Second, AfterChunks: 3,
					Err: &provider.Error{Kind: provider.KindNetwork, Message: "cut"},
				}
			}
			return reply(req)
		}
		u := offering(t, engine, config, web.Options{})
		u.says("Is chess a sport?")
		all := u.run()
		assert.Equal(t, "success", all[len(all)-1].Outcome.Type)
		assert.Equal(t, 1, count(all, "MESSAGES_SNAPSHOT"))
		u.assertSaid(engine)
	})
}

// TestToolsThatAreUsed: each use is a tool call with its result, whose messages a later run has too.
func TestToolsThatAreUsed(t *testing.T) {
	config := stage.TwoDebaters()
	config.Rounds, config.Tools = 1, []string{"add"}
	engine, source := stage.Engine(config)
	engine.Tools = map[string]debate.Tool{"add": new(stage.Tally).MustTool()}
	reply := source.Reply
	source.Reply = func(req *provider.Request) scripted.Reply {
		used := false
		for _, m := range req.Messages {
			used = used || len(m.ToolCalls) > 0
		}
		if req.Schema == nil && !used {
			return scripted.Reply{Calls: []provider.ToolCall{stage.ToolCall("1", "add", `{"a":1,"b":2}`)}}
		}
		return reply(req)
	}
	u := offering(t, engine, config, web.Options{})
	u.says("Is chess a sport?")
	var started, ended []string
	for _, e := range u.run() {
		switch e.Type {
		case "TOOL_CALL_START":
			assert.Equal(t, "add", e.ToolCallName)
			started = append(started, e.ToolCallID)
		case "TOOL_CALL_RESULT":
			assert.NotEmpty(t, e.Content)
			ended = append(ended, e.ToolCallID)
		}
	}
	assert.Len(t, started, 2)
	assert.ElementsMatch(t, started, ended)
	u.assertSaid(engine)
	u.run()
	u.assertSaid(engine)
	results := 0
	for _, m := range u.messages {
		if m.Role == "tool" {
			results++
		}
	}
	assert.Equal(t, 2, results)
}

// TestAPauseIsAnInterrupt: the next run resumes, and what the user has written meanwhile is said in between, once. What was written before
// the topic stays, and is not said.
func TestAPauseIsAnInterrupt(t *testing.T) {
	config := stage.TwoDebaters()
	engine, _ := stage.Engine(config)
	u := offering(t, engine, config, web.Options{})
	config.ID = "chess"
	_, err := engine.Submit(t.Context(), config)
	require.NoError(t, err)
	require.NoError(t, engine.Control(t.Context(), "chess", flow.Pause{}))
	u.says("A topic that was refused.")
	u.says(config.Topic)
	all := u.run()
	require.Len(t, u.messages, 2)
	assert.Equal(t, config.Topic, u.messages[1].Content)
	outcome := all[len(all)-1].Outcome
	require.Len(t, outcome.Interrupts, 1)
	assert.Equal(t, "paused", outcome.Interrupts[0].Reason)
	note := config.Topic + " And the old town?"
	u.says(note)
	u.run()
	assert.Equal(t, note, u.messages[len(u.messages)-1].Content)
	all = u.run(map[string]any{"interruptId": "paused", "status": "resolved"})
	assert.Equal(t, "success", all[len(all)-1].Outcome.Type)
	record := stage.StoredRecord(t, engine, "chess")
	require.Len(t, record.Notes, 1)
	assert.Equal(t, note, record.Notes[0].Text)
	u.assertSaid(engine)
}

// TestInputsThatAreRefused: by a problem document, before a run begins.
func TestInputsThatAreRefused(t *testing.T) {
	engine, _ := stage.Engine(stage.TwoDebaters())
	u := offering(t, engine, stage.TwoDebaters(), web.Options{
		Bodies: 1000,
		Authorize: func(r *http.Request, a web.Access) (string, error) {
			if a.Action == web.Start && r.Header.Get("Who") == "" {
				return "", errors.New("no")
			}
			return "somebody", nil
		},
	})
	const topic = `"messages":[{"id":"m","role":"user","content":"Is chess a sport?"}]`
	assert.Equal(t, http.StatusForbidden, u.ask(`{"threadId":"chess","runId":"r",`+topic+`}`).Code)
	u.header = http.Header{"Who": {"ann"}}
	for body, field := range map[string]string{
		`{"threadId":1}`:                     "",
		`{"runId":"r",` + topic + `}`:        "threadId",
		`{"threadId":"chess",` + topic + `}`: "runId",
		`{"threadId":"chess","runId":"r"}`:   "topic",
		`{"threadId":"chess","runId":"r","messages":[{"role":"user","content":7}]}`:                  "messages",
		`{"threadId":"chess","runId":"r","messages":[{"role":"user","content":[{"type":"image"}]}]}`: "topic",
		`{"threadId":"chess","runId":"r","state":{"preset":"three"},` + topic + `}`:                  "preset",
		`{"threadId":"a/b","runId":"r",` + topic + `}`:                                               "id",
	} {
		answer := u.ask(body)
		assert.Equal(t, http.StatusUnprocessableEntity, answer.Code, body)
		var problem struct{ Field string }
		require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &problem))
		assert.Equal(t, field, problem.Field, body)
	}
	assert.Equal(t, http.StatusBadRequest, u.ask(`{`).Code)
	assert.Equal(t, http.StatusRequestEntityTooLarge, u.ask(`{"threadId":"`+strings.Repeat("x", 1000)+`"}`).Code)
	answer := httptest.NewRecorder()
	u.handler.ServeHTTP(answer, u.request(http.MethodGet, ""))
	assert.Equal(t, http.StatusMethodNotAllowed, answer.Code)
	assert.Equal(t, http.MethodPost, answer.Header().Get("Allow"))
	u.header["Content-Type"] = []string{"text/plain"}
	assert.Equal(t, http.StatusUnsupportedMediaType, u.ask(`{"threadId":"chess","runId":"r",`+topic+`}`).Code)
	assertNone(t, engine)
}
