package openai_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openai"
)

func TestCountTokens(t *testing.T) {
	tests := map[string]struct {
		status int
		body   string
		want   int
		kind   provider.Kind
		code   string
	}{
		"counted":         {200, `{"object":"response.input_tokens","input_tokens":123}`, 123, "", ""},
		"none":            {200, `{"object":"response.input_tokens","input_tokens":0}`, 0, "", ""},
		"no number":       {200, `{"object":"response.input_tokens"}`, 0, provider.KindInvalidResponse, "no_count"},
		"null":            {200, `{"input_tokens":null}`, 0, provider.KindInvalidResponse, "no_count"},
		"less than none":  {200, `{"input_tokens":-1}`, 0, provider.KindInvalidResponse, "no_count"},
		"absurd":          {200, `{"input_tokens":1e30}`, 0, provider.KindInvalidResponse, "no_count"},
		"a page":          {200, `<html></html>`, 0, provider.KindInvalidResponse, "endpoint"},
		"a failure":       {200, `{"error":{"code":"server_error","message":"no"}}`, 0, provider.KindAPI, "server_error"},
		"no endpoint":     {404, `{"detail":"Not Found"}`, 0, provider.KindValidation, "unsupported"},
		"another's":       {405, ``, 0, provider.KindValidation, "unsupported"},
		"unknown model":   {404, `{"error":{"code":"model_not_found","message":"The model gpt-5 does not exist"}}`, 0, provider.KindValidation, "model_not_found"},
		"a wrong key":     {401, ``, 0, provider.KindAuthentication, ""},
		"a policy":        {400, `{"error":{"code":"invalid_prompt","message":"flagged"}}`, 0, provider.KindContentFilter, "invalid_prompt"},
		"a full window":   {400, `{"error":{"code":"context_length_exceeded","message":"too long"}}`, 0, provider.KindContextOverflow, "context_length_exceeded"},
		"too many a time": {429, ``, 0, provider.KindRateLimit, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := serve(t, func(w http.ResponseWriter, r *http.Request) {
				assert.Equal(t, "POST /v1/responses/input_tokens", r.Method+" "+r.URL.Path)
				answerJSON(w, tt.status, tt.body)
			})
			n, err := p.CountTokens(t.Context(), request())
			assert.Equal(t, tt.want, n)
			if tt.kind == "" {
				require.NoError(t, err)
				return
			}
			assert.Equal(t, tt.code, failure(t, err, tt.kind).Code)
		})
	}
}

func TestChatCompletionsAreNotCounted(t *testing.T) {
	p := openai.New(canary)
	p.API = openai.ChatCompletions
	_, err := p.CountTokens(t.Context(), request())
	e := failure(t, err, provider.KindValidation)
	assert.True(t, e.NotSent)
	assert.Equal(t, "unsupported", e.Code)
}
