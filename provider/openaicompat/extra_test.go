package openaicompat_test

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openaicompat"
)

// TestFieldsOfAConfig: the request comes before the config's fields, which come before the provider's. Only the provider's
// give way in silence.
func TestFieldsOfAConfig(t *testing.T) {
	p := openaicompat.OpenRouter("k")
	p.Extra = map[string]any{"model": "mine", "top_p": 0.1, "route": "<host>", "transforms": []string{"a"}, "seed": 4, "stream": false}
	req := request()
	req.Options = &provider.Options{
		TopP: new(0.9), Effort: provider.EffortLow,
		Extra: members(t, `{"transforms":[],"provider":{"order":["x"]},"reasoning":{"exclude":true}}`),
	}
	got := members(t, asked(t, p, req))
	for name, want := range map[string]string{
		"model": `"model-1"`, "top_p": "0.9", "route": `"<host>"`, "transforms": "[]", "provider": `{"order":["x"]}`, "seed": "4", "stream": "true",
		"reasoning": `{"effort":"low","exclude":true}`,
	} {
		assert.JSONEq(t, want, string(got[name]), name)
	}
	assert.Len(t, p.Extra, 6, "the host program's map stays as it is")

	for _, fields := range []string{
		`{"model":"x"}`, `{"messages":[]}`, `{"stream":false}`, `{"stream_options":{"include_usage":false}}`, `{"n":2}`, `{"temperature":1}`,
		`{"max_tokens":1}`, `{"max_completion_tokens":1}`, `{"response_format":{}}`, `{"tools":[]}`, `{"top_p":1}`,
		`{"reasoning":{"effort":"high"}}`, `{"reasoning":1}`,
	} {
		req.Options.Extra = members(t, fields)
		e := unsent(t, p, req)
		for name := range req.Options.Extra {
			assert.Contains(t, e.Message, name)
		}
	}
	req.Options.Extra = map[string]json.RawMessage{"x": json.RawMessage("{")}
	unsent(t, p, req)
	p.Extra = map[string]any{"x": func() {}}
	req.Options = nil
	unsent(t, p, req)
}

// TestHeadersOfAConfig: they are sent, but never credentials, nor in the place of the adapter's or the host program's.
func TestHeadersOfAConfig(t *testing.T) {
	var got http.Header
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		_, _ = io.WriteString(w, wholeReply)
	})
	p.Header = http.Header{"X-Title": {"Debates"}}
	req := request()
	req.Options = &provider.Options{Header: map[string]string{"http-referer": "https://example.com"}}
	_, _, err := ask(t, p, req)
	require.NoError(t, err)
	assert.Equal(t, "https://example.com", got.Get("Http-Referer"))
	assert.Equal(t, "Debates", got.Get("X-Title"))
	for _, name := range []string{"X-Title", "X-Client-Request-Id"} {
		req.Options.Header = map[string]string{name: "x"}
		unsent(t, p, req)
	}
}
