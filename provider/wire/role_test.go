package wire_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// converse makes a request as an adapter does. Its body says how the conversation was written.
func (s *picky) converse(t *testing.T, refusals *wire.Refusals, req *provider.Request) (*provider.Response, error) {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	e := &wire.Endpoint{BaseURL: server.URL}
	options := []wire.Option{{Name: "temperature"}, wire.RolesOption("messages"), wire.SystemOption("messages")}
	return refusals.Ask(req, options, func(terms *wire.Terms) (*provider.Response, error) {
		x, err := e.Open(context.WithoutCancel(t.Context()), "")
		if err != nil {
			return nil, err
		}
		defer x.Close()
		x.Keep(terms)
		body := fmt.Sprintf(`{"messages":[],"joined":%t,"inWords":%t}`, terms.Leaves(wire.OptionRoles), terms.Leaves(wire.OptionSystem))
		if err := x.Send(http.MethodPost, "chat", []byte(body)); err != nil {
			return nil, err
		}
		return &provider.Response{Text: "Yes.", Stop: provider.StopEnd}, nil
	})
}

const (
	asItIs = `{"messages":[],"joined":false,"inWords":false}`
	joined = `{"messages":[],"joined":true,"inWords":false}`
	prompt = `{"messages":[],"joined":false,"inWords":true}`
	both   = `{"messages":[],"joined":true,"inWords":true}`
)

// TestRefusedRoles has the answers with which servers refuse roles. The words are as public threads quote them; where a thread quotes only
// words, the shape is the server's usual one.
func TestRefusedRoles(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		answer string
		want   []string // what is sent after the first request
	}{
		// autogen#1037 (2023-12-21); a template without a system role says the same
		"vLLM, roles": {400, `{"object":"error","message":"Conversation roles must alternate user/assistant/user/assistant/...","type":"invalid_request_error","param":null,"code":null}`, []string{joined, both}},
		// chat-ui#1386 (2024-08-05), litellm#4377
		"vLLM, Gemma": {400, `{"object":"error","message":"System role not supported","type":"BadRequestError","param":null,"code":400}`, []string{prompt}},
		// mistral-vibe#1006 (2026-08-16): the template's exception has status 500
		"llama.cpp": {500, `{"error":{"code":500,"message":"Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/...","type":"server_error"}}`, []string{joined, both}},
		"Ollama":    {500, `{"error":"{\"error\":{\"code\":500,\"message\":\"Jinja Exception: System role not supported\",\"type\":\"server_error\"}}"}`, []string{prompt}},
		// forgecode#1177 (2025-07-22), cherry-studio#4973 (2025-04-17)
		"o1-mini": {400, `{"error":{"message":"Unsupported value: 'messages[0].role' does not support 'system' with this model.","type":"invalid_request_error","param":"messages[0].role","code":"unsupported_value"}}`, []string{prompt}},
		// rig#788 (2025-09-08), vscode#258088 (2025-07-27)
		"Gemini API": {400, `{"error":{"code":400,"message":"Developer instruction is not enabled for models/gemma-3-27b-it","status":"INVALID_ARGUMENT"}}`, []string{prompt}},
		// llm-graph-builder#555 (2024-07-16)
		"Gemini API, earlier": {400, `{"error":{"code":400,"message":"The input system_instruction is not supported.","status":"INVALID_ARGUMENT"}}`, []string{prompt}},
		// Titan: anything-llm#2486 (2024-10-16), LibreChat#6456 (2025-03-21)
		"Bedrock": {400, `{"message":"This model doesn't support system messages. Try again without a system message or use a model that supports system messages."}`, []string{prompt}},
		// LM Studio with mistral-7b-instruct-v0.2: anything-llm#2837 (2024-12-15)
		"LM Studio": {400, `{"error":"Only user and assistant roles are supported!"}`, []string{prompt}},
		// Nothing of this is about roles.
		"names":       {400, `{"error":{"message":"'messages[3].tool_calls[0].function.name': the name has characters that are not allowed","param":"messages[3].tool_calls[0].function.name","code":"invalid_value"}}`, nil},
		"an outage":   {500, `{"error":{"message":"The model is not available."}}`, nil},
		"temperature": {400, `{"error":{"message":"system error: temperature 9 is out of range","param":"temperature"}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := &picky{refuse: func(n int, _ string) (int, string) {
				if n > len(c.want) {
					return 200, "{}"
				}
				return c.status, c.answer
			}}
			if c.want == nil {
				s.refuse = func(int, string) (int, string) { return c.status, c.answer }
			}
			var refusals wire.Refusals
			r, err := s.converse(t, &refusals, &provider.Request{Model: "m"})
			require.Equal(t, append([]string{asItIs}, c.want...), s.bodies)
			if c.want == nil {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			assert.Empty(t, r.Left, "nothing is left out")
			for _, req := range []*provider.Request{{Model: "m"}, {Model: "m", Schema: &provider.Schema{}}, {Model: "m", Tools: []provider.Tool{{}}}} {
				_, err = s.converse(t, &refusals, req)
				require.NoError(t, err)
			}
			last := c.want[len(c.want)-1]
			assert.Equal(t, []string{last, last, last}, s.bodies[len(c.want)+1:], "it is remembered, whatever else a request asks")
			_, err = s.converse(t, &refusals, &provider.Request{Model: "another"})
			require.NoError(t, err)
			assert.JSONEq(t, asItIs, s.bodies[len(s.bodies)-1])
		})
	}
}
