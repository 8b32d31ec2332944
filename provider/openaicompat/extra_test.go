package openaicompat_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

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
