package google_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
)

func refused(code int, status, message string) string {
	return fmt.Sprintf(`{"error": {"code": %d, "status": %q, "message": %q}}`, code, status, message+" "+canary)
}

func TestCheck(t *testing.T) {
	invalid := `{"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "API key not valid.", "details": [{"reason": "API_KEY_INVALID"}]}}`
	tests := []struct {
		name   string
		status int
		answer string
		want   provider.Kind
		code   string
	}{
		{"known", 200, `{"name": "models/gemini-2.5-flash", "inputTokenLimit": 1048576}`, "", ""},
		{"unknown", 404, refused(404, "NOT_FOUND", "models/x is not found"), provider.KindValidation, "model_not_found"},
		{"wrong key", 400, invalid, provider.KindAuthentication, "INVALID_ARGUMENT"},
		{"no access", 403, refused(403, "PERMISSION_DENIED", "no"), provider.KindAuthentication, "PERMISSION_DENIED"},
		{"down", 503, refused(503, "UNAVAILABLE", "no"), provider.KindAPI, "UNAVAILABLE"},
		{"a page", 200, `<html>`, provider.KindInvalidResponse, "endpoint"},
		{"something else", 200, `{}`, provider.KindInvalidResponse, "malformed"},
		{"an error", 200, refused(429, "RESOURCE_EXHAUSTED", "no"), provider.KindRateLimit, "RESOURCE_EXHAUSTED"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, all := serve(t, tt.status, tt.answer)
			err := p.Check(t.Context(), "gemini-2.5-flash")
			require.Len(t, *all, 1)
			assert.Equal(t, "GET /v1beta/models/gemini-2.5-flash", (*all)[0].method+" "+(*all)[0].url)
			assert.Equal(t, canary, (*all)[0].header.Get("X-Goog-Api-Key"))
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			assert.Equal(t, tt.code, failure(t, err, tt.want).Code)
			assert.NotContains(t, fmt.Sprintf("%v %+v %#v", err, err, err), canary)
		})
	}
}

func TestCountTokens(t *testing.T) {
	p, all := serve(t, 200, `{"totalTokens": 4242, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 4242}]}`)
	req := requests()["schema_and_tools"]
	req.System = "You are Ada."
	n, err := p.CountTokens(t.Context(), req)
	require.NoError(t, err)
	assert.Equal(t, 4242, n)
	assert.Equal(t, "POST /v1beta/models/gemini-3-pro-preview:countTokens", (*all)[0].method+" "+(*all)[0].url)
	golden(t, "request/count.json", pretty(t, (*all)[0].body))

	for name, answer := range map[string]string{"none": `{}`, "negative": `{"totalTokens": -1}`, "text": `{"totalTokens": "7"}`} {
		t.Run(name, func(t *testing.T) {
			p, _ := serve(t, 200, answer)
			_, err := p.CountTokens(t.Context(), request())
			failure(t, err, provider.KindInvalidResponse)
		})
	}
	p, _ = serve(t, 429, refused(429, "RESOURCE_EXHAUSTED", "no"))
	_, err = p.CountTokens(t.Context(), request())
	failure(t, err, provider.KindRateLimit)
}

// vectors answers with a vector of a length for each of n texts.
func vectors(n, length int) string {
	one := `{"values": [` + strings.TrimSuffix(strings.Repeat("0.5,", length), ",") + `]},`
	return `{"embeddings": [` + strings.TrimSuffix(strings.Repeat(one, n), ",") + `], "usageMetadata": {"promptTokenCount": 7}}`
}

func TestEmbed(t *testing.T) {
	p, all := serve(t, 200, vectors(100, 3), vectors(100, 3), vectors(5, 3))
	texts := make([]string, 205)
	for i := range texts {
		texts[i] = fmt.Sprintf("text %d", i)
	}
	e, err := p.Embed(t.Context(), "gemini-embedding-001", texts)
	require.NoError(t, err)
	require.Len(t, e.Vectors, 205)
	assert.Equal(t, []float32{0.5, 0.5, 0.5}, e.Vectors[204])
	assert.Equal(t, provider.Usage{Input: 21}, e.Usage)
	require.Len(t, *all, 3)
	assert.Equal(t, "POST /v1beta/models/gemini-embedding-001:batchEmbedContents", (*all)[0].method+" "+(*all)[0].url)
	golden(t, "request/embed.json", pretty(t, (*all)[2].body))

	p, all = serve(t, 200, `{}`)
	e, err = p.Embed(t.Context(), "gemini-embedding-001", nil)
	require.NoError(t, err)
	assert.Empty(t, e.Vectors)
	assert.Empty(t, *all, "no text, no request")
}

func TestEmbedFails(t *testing.T) {
	tests := map[string]struct {
		status int
		answer string
		want   provider.Kind
	}{
		"too few":   {200, vectors(1, 3), provider.KindInvalidResponse},
		"too many":  {200, vectors(3, 3), provider.KindInvalidResponse},
		"empty":     {200, vectors(2, 0), provider.KindInvalidResponse},
		"uneven":    {200, `{"embeddings": [{"values": [1]}, {"values": [1, 2]}]}`, provider.KindInvalidResponse},
		"no number": {200, `{"embeddings": [{"values": ["NaN"]}, {"values": [1]}]}`, provider.KindInvalidResponse},
		"none":      {200, `{}`, provider.KindInvalidResponse},
		"unknown":   {404, refused(404, "NOT_FOUND", "no"), provider.KindValidation},
		"rate":      {429, refused(429, "RESOURCE_EXHAUSTED", "no"), provider.KindRateLimit},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, all := serve(t, tt.status, tt.answer)
			e, err := p.Embed(t.Context(), "gemini-embedding-001", []string{"a", "b"})
			failure(t, err, tt.want)
			assert.Nil(t, e)
			assert.Len(t, *all, 1, "no retry")
			assert.NotContains(t, err.Error(), canary)
		})
	}
}

func TestAnswersAreBounded(t *testing.T) {
	padding, err := json.Marshal(strings.Repeat("x", 1<<16))
	require.NoError(t, err)
	p, _ := serve(t, http.StatusOK, `{"name": "models/x", "totalTokens": 1, "embeddings": [{"values": [1]}], "padding": `+string(padding)+`}`)
	p.MaxBody = 1 << 12
	failure(t, p.Check(t.Context(), "x"), provider.KindInvalidResponse)
	_, err = p.CountTokens(t.Context(), request())
	failure(t, err, provider.KindInvalidResponse)
	_, err = p.Embed(t.Context(), "x", []string{"a"})
	failure(t, err, provider.KindInvalidResponse)
}
