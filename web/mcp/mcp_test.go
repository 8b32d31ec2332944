package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/web"
	"github.com/agonist-dev/debate/web/mcp"
)

// offering is a handler that offers a debate as the preset "two".
func offering(t *testing.T, config debate.Config, o web.Options, befalls ...provider.Kind) (*web.Handler, *debate.Engine) {
	t.Helper()
	engine, source := stage.Engine(config)
	engine.Store = &store.Memory{}
	for _, kind := range befalls {
		stage.Befall(source, kind, stage.Said("Ben", 2))
	}
	data, err := flow.EncodeConfig(config)
	require.NoError(t, err)
	o.Presets = []web.Preset{{Name: "two", About: "Two debate.", Config: data}}
	h, err := web.New(engine, o)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		assert.NoError(t, engine.Shutdown(ctx))
	})
	return h, engine
}

// as sends requests as somebody.
type as string

func (a as) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Who", string(a))
	r.Header.Set("Debate-Request", "forged")
	return http.DefaultTransport.RoundTrip(r)
}

// client is an agent over HTTP that speaks a version of the protocol; "": the newest.
func client(t *testing.T, h *web.Handler, who, version string, o *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	server := httptest.NewServer(mcp.New(h))
	t.Cleanup(server.Close)
	return clientOf(t, server.URL, who, version, o)
}

// clientOf is an agent of a server.
func clientOf(t *testing.T, url, who, version string, o *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	transport := &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: as(who)}}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: "1"}, o).
		Connect(t.Context(), transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	if version != "" {
		require.Equal(t, version, session.InitializeResult().ProtocolVersion)
	}
	return session
}

// result is what the tools return.
type result struct {
	ID    string
	State flow.State
	After int64
	Over  bool
	Said  []struct {
		Seq            int64
		Kind, By, Text string
		Round          int
	}
	Questions []struct{ ID, To string }
	Record    struct {
		State   flow.State
		Verdict struct{ Summary string }
	}
}

// use calls a tool that does its work.
func use(t *testing.T, session *sdk.ClientSession, tool string, arguments map[string]any) (out result) {
	t.Helper()
	params := &sdk.CallToolParams{Name: tool, Arguments: arguments}
	params.SetProgressToken(tool)
	answer, err := session.CallTool(t.Context(), params)
	require.NoError(t, err)
	require.Len(t, answer.Content, 1)
	text, ok := answer.Content[0].(*sdk.TextContent)
	require.True(t, ok)
	require.False(t, answer.IsError, text.Text)
	require.NoError(t, json.Unmarshal([]byte(text.Text), &out))
	return out
}

// refused calls a tool that refuses, and returns why.
func refused(t *testing.T, session *sdk.ClientSession, tool string, arguments map[string]any) string {
	t.Helper()
	answer, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	require.NoError(t, err)
	require.Len(t, answer.Content, 1)
	text, ok := answer.Content[0].(*sdk.TextContent)
	require.True(t, ok)
	require.True(t, answer.IsError, text.Text)
	return text.Text
}

// named lets everybody do everything under their name, in a scope of their own.
func named() web.Options {
	return web.Options{
		Authorize: func(r *http.Request, _ web.Access) (string, error) {
			if r.Header.Get("Who") == "" || r.RemoteAddr == "" {
				return "", errors.New("who are you?")
			}
			return r.Header.Get("Who"), nil
		},
		Scope: func(_ *http.Request, who string) map[string]string { return map[string]string{"tenant": who} },
	}
}

// TestAnAgentHoldsADebate: it is told of each turn once, and reads the verdict.
func TestAnAgentHoldsADebate(t *testing.T) {
	h, engine := offering(t, stage.TwoDebaters(), named())
	told := make(chan struct{}, 1000)
	ann := client(t, h, "ann", "", &sdk.ClientOptions{
		ProgressNotificationHandler: func(context.Context, *sdk.ProgressNotificationClientRequest) { told <- struct{}{} },
	})
	tools, err := ann.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, tools.Tools, 5)
	schemas := make(map[string]string)
	for _, tool := range tools.Tools {
		assert.NotEmpty(t, tool.Title)
		data, err := json.Marshal(tool.InputSchema)
		require.NoError(t, err)
		schemas[tool.Name] = string(data)
		if tool.Name == "debate_start" {
			assert.Contains(t, tool.Description, "\n- two: Two debate.")
		}
	}
	assert.Contains(t, schemas["debate_control"], `"enum":["pause","resume","stop","cancel","retry"]`)
	assert.Contains(t, schemas["debate_wait"], `"maximum":50`)
	id := use(t, ann, "debate_start", map[string]any{"topic": "Is chess a sport?", "id": "chess"}).ID
	require.Equal(t, "chess", id)
	var turns, verdicts int
	var out result
	for seen := int64(0); !out.Over; seen = out.After {
		out = use(t, ann, "debate_wait", map[string]any{"id": id, "after": seen})
		for _, one := range out.Said {
			assert.Greater(t, one.Seq, seen)
			switch one.Kind {
			case "turn":
				turns++
				assert.Equal(t, strings.TrimSpace(stage.Speech(one.By, one.Round)), strings.TrimSpace(one.Text))
			case "verdict":
				verdicts++
			}
		}
	}
	assert.Equal(t, 6, turns)
	assert.Equal(t, 1, verdicts)
	assert.Equal(t, flow.StateCompleted, out.State)
	for range turns + verdicts { // it follows its own way
		<-told
	}
	read := use(t, ann, "debate_read", map[string]any{"id": id, "fields": []string{"verdict"}})
	assert.Equal(t, "A close debate.", read.Record.Verdict.Summary)
	record := stage.StoredRecord(t, engine, id)
	assert.Equal(t, "Is chess a sport?", record.Settings().Topic)
	assert.Equal(t, "ann", record.Settings().Labels["tenant"])

	ben := client(t, h, "ben", "", nil)
	for _, tool := range []string{"debate_read", "debate_wait"} {
		assert.Equal(t, refused(t, ben, tool, map[string]any{"id": "unknown"}), refused(t, ben, tool, map[string]any{"id": id}))
	}
	assert.Contains(t, refused(t, ben, "debate_start", map[string]any{"topic": "x", "id": id}), "the id is taken")
	assert.Contains(t, refused(t, ann, "debate_start", map[string]any{"topic": " "}), "is blank")
	assert.Contains(t, refused(t, ann, "debate_start", map[string]any{"preset": "three", "topic": "x"}), "three")
	assert.Contains(t, refused(t, ann, "debate_start", map[string]any{"topic": "x", "config": map[string]any{}}), "leave them out")
	assert.Contains(t, refused(t, ann, "debate_control", map[string]any{"id": id, "action": "delete"}), "action")
	refused(t, ann, "debate_control", map[string]any{"id": id, "action": "pause"})
	refused(t, ann, "debate_wait", map[string]any{"id": id, "seconds": 51})
	refused(t, ann, "debate_wait", map[string]any{"id": id, "seconds": -1})
}

// Messages of a client that speaks an older version.
const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{` +
		`"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"agent","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	ping        = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
)

// message is a request as a client that speaks an older version sends it.
func message(ctx context.Context, method, url, who, session, body string) *http.Request {
	r := httptest.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	r.RequestURI = "" // it may be sent
	r.Header = http.Header{
		"Who": {who}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Session-Id": {session},
	}
	if session == "" {
		r.Header.Del("Mcp-Session-Id")
	}
	return r
}

// TestBodiesAreReadByTheHandler: they have its bounds, and so its room.
func TestBodiesAreReadByTheHandler(t *testing.T) {
	o := named()
	o.Bodies = 1000
	h, _ := offering(t, stage.TwoDebaters(), o)
	served := mcp.New(h)
	for body, status := range map[string]int{
		initialize: http.StatusOK, initialize + strings.Repeat(" ", 1000): http.StatusRequestEntityTooLarge, `{`: http.StatusBadRequest,
	} {
		answer := httptest.NewRecorder()
		served.ServeHTTP(answer, message(t.Context(), http.MethodPost, "/", "ann", "", body))
		assert.Equal(t, status, answer.Code)
		assert.Equal(t, status != http.StatusOK, answer.Header().Get("Content-Type") == "application/problem+json")
	}
}

// TestASessionIsOfWhoHasBegunIt: others can neither use nor end it, nobody has one without a right, and nobody too many.
func TestASessionIsOfWhoHasBegunIt(t *testing.T) {
	h, _ := offering(t, stage.TwoDebaters(), named())
	served := mcp.New(h)
	send := func(method, who, session, body string, header ...string) *httptest.ResponseRecorder {
		r, answer := message(t.Context(), method, "/", who, session, body), httptest.NewRecorder()
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		served.ServeHTTP(answer, r)
		return answer
	}
	answer := send(http.MethodPost, "", "", initialize)
	assert.Equal(t, http.StatusForbidden, answer.Code)
	assert.Equal(t, "application/problem+json", answer.Header().Get("Content-Type"))

	session := send(http.MethodPost, "ann", "", initialize).Header().Get("Mcp-Session-Id")
	require.NotEmpty(t, session)
	assert.Equal(t, http.StatusForbidden, send(http.MethodPost, "ben", session, ping).Code)
	assert.Equal(t, http.StatusForbidden, send(http.MethodDelete, "ben", session, "").Code)
	answer = send(http.MethodPost, "ann", session, ping)
	require.Equal(t, http.StatusOK, answer.Code)
	assert.Contains(t, answer.Body.String(), `"id":2,"result"`)

	answer = send(http.MethodGet, "ann", session, "")
	assert.Equal(t, http.StatusMethodNotAllowed, answer.Code)
	assert.Equal(t, "POST, DELETE", answer.Header().Get("Allow"))
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		assert.Equal(t, http.StatusForbidden, send(method, "ann", session, ping, "Origin", "http://elsewhere.example").Code, method)
	}
	assert.Equal(t, http.StatusNoContent, send(http.MethodDelete, "ann", session, "").Code)
	assert.Equal(t, http.StatusNotFound, send(http.MethodPost, "ann", session, ping).Code)

	for range 256 {
		require.NotContains(t, send(http.MethodPost, "ann", "", initialize).Body.String(), "too many")
	}
	assert.Contains(t, send(http.MethodPost, "ann", "", initialize).Body.String(), "too many sessions")
	assert.NotContains(t, send(http.MethodPost, "ben", "", initialize).Body.String(), "too many")
}

// TestALostConnectionCancelsNothing: of a client that speaks a version in which it says what it cancels.
func TestALostConnectionCancelsNothing(t *testing.T) {
	began, goOn, lost, started := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan error, 1)
	o := named()
	o.Start = func(ctx context.Context, _ flow.Config) (string, error) {
		close(began)
		<-goOn
		started <- ctx.Err()
		return "", errors.New("nobody starts it")
	}
	h, _ := offering(t, stage.TwoDebaters(), o)
	handler := mcp.New(h)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Lost") != "" {
			context.AfterFunc(r.Context(), func() { close(lost) })
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	send := func(r *http.Request) (string, error) {
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return "", err
		}
		defer func() { _ = answer.Body.Close() }()
		_, err = io.Copy(io.Discard, answer.Body)
		return answer.Header.Get("Mcp-Session-Id"), err
	}
	session, err := send(message(ctx, http.MethodPost, server.URL, "ann", "", initialize))
	require.NoError(t, err)
	_, err = send(message(ctx, http.MethodPost, server.URL, "ann", session, initialized))
	require.NoError(t, err)
	called := make(chan error, 1)
	go func() {
		r := message(ctx, http.MethodPost, server.URL, "ann", session,
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"debate_start","arguments":{"topic":"Is chess a sport?"}}}`)
		r.Header.Set("Lost", "true")
		_, err := send(r)
		called <- err
	}()
	<-began
	leave()
	require.ErrorIs(t, <-called, context.Canceled)
	<-lost
	close(goOn)
	assert.NoError(t, <-started)
}

// asking is a preset in which Ben refuses to speak from round 2 on, and a person is asked each time.
func asking(t *testing.T) (*web.Handler, *debate.Engine) {
	t.Helper()
	config := stage.TwoDebaters()
	config.Unattended = false
	return offering(t, config, web.Options{}, provider.KindRefusal)
}

// TestAQuestionIsAnElicitation: the person at the client answers, whichever version of the protocol the client speaks.
func TestAQuestionIsAnElicitation(t *testing.T) {
	overHTTP := func(t *testing.T, h *web.Handler, version string, o *sdk.ClientOptions) *sdk.ClientSession {
		t.Helper()
		return client(t, h, "", version, o)
	}
	for name, c := range map[string]struct {
		version string
		connect func(*testing.T, *web.Handler, string, *sdk.ClientOptions) *sdk.ClientSession
	}{
		"a pipe, older": {"2025-11-25", local},
		"a pipe, newer": {"2026-07-28", local},
		"HTTP, older":   {"2025-11-25", overHTTP},
		"HTTP, newer":   {"2026-07-28", overHTTP},
	} {
		t.Run(name, func(t *testing.T) {
			h, engine := asking(t)
			asked := 0
			told := make(chan float64, 1000)
			session := c.connect(t, h, c.version, &sdk.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { told <- r.Params.Progress },
				ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
					asked++
					assert.Contains(t, r.Params.Message, "skip: "+flow.OptionSkip.Meaning())
					return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"option": "skip"}}, nil
				},
			})
			id := use(t, session, "debate_start", map[string]any{"topic": "Is chess a sport?"}).ID
			var out result
			for calls := 0; !out.Over && calls < 10; calls++ {
				out = use(t, session, "debate_wait", map[string]any{"id": id, "after": out.After})
			}
			require.True(t, out.Over)
			assert.Positive(t, asked)
			for last := 0.0; len(told) > 0; {
				next := <-told
				require.Greater(t, next, last, "it goes backwards")
				last = next
			}
			assert.Len(t, stage.StoredRecord(t, engine, id).SkippedCalls, asked)
		})
	}
}

// TestAQuestionIsClosedMeanwhile: what the person at the client answers is void then, and the agent learns what has come of it.
func TestAQuestionIsClosedMeanwhile(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		h, engine := asking(t)
		session := local(t, h, version, &sdk.ClientOptions{
			ElicitationHandler: func(ctx context.Context, _ *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
				return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"option": "skip"}}, engine.Control(ctx, "chess", flow.Cancel{})
			},
		})
		use(t, session, "debate_start", map[string]any{"topic": "Is chess a sport?", "id": "chess"})
		out := use(t, session, "debate_wait", map[string]any{"id": "chess"})
		assert.Equal(t, flow.StateCanceled, out.State, version)
		assert.True(t, out.Over, version)
	}
}

// TestAQuestionEndsWithTheServer: it does not wait for a person who thinks.
func TestAQuestionEndsWithTheServer(t *testing.T) {
	h, _ := asking(t)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	served, asked, over := make(chan error, 1), make(chan struct{}), make(chan struct{})
	go func() { served <- web.Serve(ctx, listener, mcp.New(h), time.Minute) }()
	session := clientOf(t, "http://"+listener.Addr().String(), "", "2025-11-25", &sdk.ClientOptions{
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			close(asked)
			<-over
			return &sdk.ElicitResult{Action: "cancel"}, nil
		},
	})
	id := use(t, session, "debate_start", map[string]any{"topic": "Is chess a sport?"}).ID
	called := make(chan struct{})
	go func() {
		defer close(called)
		_, _ = session.CallTool(t.Context(), &sdk.CallToolParams{Name: "debate_wait", Arguments: map[string]any{"id": id}}) // it is broken off
	}()
	<-asked
	stop()
	require.NoError(t, <-served)
	close(over)
	<-called
}

// local is a client over a pipe.
func local(t *testing.T, h *web.Handler, version string, o *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	here, there := sdk.NewInMemoryTransports()
	ended := make(chan error, 1)
	ctx, stop := context.WithCancel(t.Context())
	go func() { ended <- mcp.Run(ctx, h, there, nil) }()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: "1"}, o).
		Connect(t.Context(), here, &sdk.ClientSessionOptions{ProtocolVersion: version})
	require.NoError(t, err)
	t.Cleanup(func() {
		stop()
		assert.NoError(t, <-ended)
		_ = session.Close()
	})
	return session
}

// TestAQuestionThatIsDeclined: stays open, and can be answered by its id; so can every question, where the client asks nobody.
func TestAQuestionThatIsDeclined(t *testing.T) {
	for name, o := range map[string]*sdk.ClientOptions{
		"declined": {ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "decline"}, nil
		}},
		"not asked": nil,
	} {
		t.Run(name, func(t *testing.T) {
			h, engine := asking(t)
			session := local(t, h, "", o)
			id := use(t, session, "debate_start", map[string]any{"topic": "Is chess a sport?"}).ID
			out := use(t, session, "debate_wait", map[string]any{"id": id})
			require.Len(t, out.Questions, 1)
			assert.Equal(t, flow.StateAwaitingInput, out.State)
			assert.Equal(t, "Ben", out.Questions[0].To)
			assert.False(t, out.Over)
			answer := map[string]any{"id": id, "question": out.Questions[0].ID, "option": "end"}
			use(t, session, "debate_answer", answer)
			refused(t, session, "debate_answer", answer)
			for calls := 0; !out.Over && calls < 10; calls++ {
				out = use(t, session, "debate_wait", map[string]any{"id": id, "after": out.After})
			}
			assert.True(t, out.Over)
			require.Len(t, stage.StoredRecord(t, engine, id).Answers, 1)
		})
	}
}

// TestAConfigOfTheAgentsOwn: it can be paused and canceled, and a wait does not outlast its time.
func TestAConfigOfTheAgentsOwn(t *testing.T) {
	config := stage.TwoDebaters()
	config.ID = "own"
	h, engine := offering(t, config, web.Options{Start: func(context.Context, flow.Config) (string, error) {
		return "", errors.New("nobody starts it")
	}})
	data, err := flow.EncodeConfig(config)
	require.NoError(t, err)
	var fields map[string]any
	require.NoError(t, json.Unmarshal(data, &fields))
	session := local(t, h, "", nil)
	refused(t, session, "debate_start", map[string]any{"config": fields})
	_, err = engine.Submit(t.Context(), config)
	require.NoError(t, err)
	assert.Equal(t, "own", use(t, session, "debate_start", map[string]any{"config": fields}).ID, "it is there")
	out := use(t, session, "debate_wait", map[string]any{"id": "own", "seconds": 1})
	assert.False(t, out.Over)
	assert.Empty(t, out.Said)
	assert.Equal(t, flow.StatePaused, use(t, session, "debate_control", map[string]any{"id": "own", "action": "pause"}).State)
	assert.Equal(t, flow.StatePaused, use(t, session, "debate_wait", map[string]any{"id": "own"}).State)
	use(t, session, "debate_control", map[string]any{"id": "own", "action": "cancel", "reason": "late"})
	out = use(t, session, "debate_wait", map[string]any{"id": "own"})
	assert.True(t, out.Over)
	assert.Equal(t, flow.StateCanceled, out.State)
}
