package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
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
	transport := &sdk.StreamableClientTransport{Endpoint: server.URL, HTTPClient: &http.Client{Transport: as(who)}, DisableStandaloneSSE: true}
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
	for _, tool := range tools.Tools {
		if tool.Name == "debate_start" {
			assert.Contains(t, tool.Description, "\n- two: Two debate.")
		}
	}
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
	assert.Contains(t, refused(t, ann, "debate_control", map[string]any{"id": id, "action": "delete"}), "is none of")
	refused(t, ann, "debate_control", map[string]any{"id": id, "action": "pause"})
	refused(t, ann, "debate_wait", map[string]any{"id": id, "seconds": 51})
}

// TestNobodyHasASessionWithoutARight: not even with that of somebody else.
func TestNobodyHasASessionWithoutARight(t *testing.T) {
	h, _ := offering(t, stage.TwoDebaters(), named())
	answer := httptest.NewRecorder()
	mcp.New(h).ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader("{}")))
	assert.Equal(t, http.StatusForbidden, answer.Code)
	assert.Equal(t, "application/problem+json", answer.Header().Get("Content-Type"))
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
			session := c.connect(t, h, c.version, &sdk.ClientOptions{
				ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
					asked++
					assert.Contains(t, r.Params.Message, "skip: "+flow.OptionSkip.Meaning())
					return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"option": "skip"}}, nil
				},
			})
			id := use(t, session, "debate_start", map[string]any{"topic": "Is chess a sport?"}).ID
			var out result
			for calls := 0; !out.Over && calls < 10; calls++ {
				out = use(t, session, "debate_wait", map[string]any{"id": id})
			}
			require.True(t, out.Over)
			assert.Positive(t, asked)
			assert.Len(t, stage.StoredRecord(t, engine, id).SkippedCalls, asked)
		})
	}
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
