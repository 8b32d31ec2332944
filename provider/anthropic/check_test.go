package anthropic_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/anthropic"
)

func TestCheck(t *testing.T) {
	said := func(kind string) string {
		return `{"type":"error","error":{"type":"` + kind + `","message":"not with ` + canary + `"}}`
	}
	tests := []struct {
		name   string
		model  string
		status int
		body   string
		want   provider.Kind
		code   string
	}{
		{"known", "claude-x", 200, `{"type":"model","id":"claude-x","display_name":"X","created_at":"2026-01-01T00:00:00Z"}`, "", ""},
		{"odd name", "acme/claude x?", 200, `{"id":"acme/claude x?"}`, "", ""},
		{"login page", "claude-x", 200, "<!doctype html><title>Log in</title>", provider.KindInvalidResponse, "endpoint"},
		{"nothing", "claude-x", 200, "", provider.KindInvalidResponse, "malformed"},
		{"something else", "claude-x", 200, `{}`, provider.KindInvalidResponse, "malformed"},
		{"error under 200", "claude-x", 200, said("authentication_error"), provider.KindAuthentication, "authentication_error"},
		{"error of another shape", "claude-x", 200, `{"error":{"type":"overloaded_error","message":"not now"}}`, provider.KindAPI, "overloaded_error"},
		{"unknown", "claude-0", 404, said("not_found_error"), provider.KindValidation, "model_not_found"},
		{"no such path", "claude-x", 404, "<html>", "", ""},
		{"no such method", "claude-x", 405, "", "", ""},
		{"not made", "claude-x", 501, "", "", ""},
		{"refused key", "claude-x", 401, said("authentication_error"), provider.KindAuthentication, "authentication_error"},
		{"down", "claude-x", 529, said("overloaded_error"), provider.KindAPI, "overloaded_error"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := serve(t, func(w http.ResponseWriter, r *http.Request) {
				assert.Equal(t, http.MethodGet, r.Method)
				assert.Equal(t, "/v1/models/"+tt.model, r.URL.Path)
				assert.Equal(t, canary, r.Header.Get("X-Api-Key"))
				assert.NotEmpty(t, r.Header.Get("Anthropic-Version"))
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			})
			err := p.Check(t.Context(), tt.model)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			assert.Equal(t, tt.code, failure(t, err, tt.want).Code)
		})
	}
	p, bodies := recording(t)
	assert.True(t, failure(t, p.Check(t.Context(), ""), provider.KindValidation).NotSent)
	p.Key = func(context.Context) (string, error) { return "", fmt.Errorf("no key today") }
	assert.True(t, failure(t, p.Check(t.Context(), "x"), provider.KindAuthentication).NotSent)
	assert.Empty(t, *bodies)
}

// What is counted is what would be sent, without what concerns the output alone.
func TestCountTokens(t *testing.T) {
	p, bodies := recording(t)
	p.ThinkingBudget = 2000
	for name, req := range map[string]provider.Request{"talk": talk(), "tools": toolTalk()} {
		req.Schema = &provider.Schema{Name: "s", JSON: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)}
		*bodies = nil
		n, err := p.CountTokens(t.Context(), &req)
		require.NoError(t, err)
		assert.Equal(t, 1234, n)
		_, _, err = ask(t, p, &req)
		require.NoError(t, err)

		golden(t, "count/"+name+".json", readable(t, (*bodies)[0]))
		var counted, sent map[string]any
		require.NoError(t, json.Unmarshal((*bodies)[0], &counted))
		require.NoError(t, json.Unmarshal((*bodies)[1], &sent))
		for _, field := range []string{"max_tokens", "stream", "temperature"} {
			delete(sent, field)
		}
		assert.Equal(t, sent, counted)
	}
}

func TestCountTokensFails(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
	tests := []struct {
		name, answer string
		want         provider.Kind
	}{
		{"page", head + "\r\n<html>", provider.KindInvalidResponse},
		{"nothing", head + "\r\n{}", provider.KindInvalidResponse},
		{"null", head + "\r\n" + `{"input_tokens":null}`, provider.KindInvalidResponse},
		{"words", head + "\r\n" + `{"input_tokens":"many"}`, provider.KindInvalidResponse},
		{"negative", head + "\r\n" + `{"input_tokens":-1}`, provider.KindInvalidResponse},
		{"too many", head + "\r\n" + `{"input_tokens":99999999999}`, provider.KindInvalidResponse},
		{"cut", head + "Content-Length: 90\r\n\r\n" + `{"input_tokens":1`, provider.KindNetwork},
		{"rate", "HTTP/1.1 429 X\r\nRetry-After: 3\r\nConnection: close\r\n\r\n", provider.KindRateLimit},
		{"key", "HTTP/1.1 401 X\r\nConnection: close\r\n\r\nnot " + canary, provider.KindAuthentication},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := request()
			_, err := played(tt.answer).CountTokens(t.Context(), req)
			failure(t, err, tt.want)
		})
	}
}

func ExampleNew() {
	p := anthropic.New("sk-ant-…")
	p.LongCache = true // turns are more than five minutes apart
	fmt.Println(p, p.Vendor(), p.BaseURL)
	// Output: anthropic anthropic https://api.anthropic.com
}
