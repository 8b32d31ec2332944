package anthropic_test

import (
	"context"
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

func ExampleNew() {
	p := anthropic.New("sk-ant-…")
	p.LongCache = true // turns are more than five minutes apart
	fmt.Println(p, p.Vendor(), p.BaseURL)
	// Output: anthropic anthropic https://api.anthropic.com
}
