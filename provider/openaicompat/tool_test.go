package openaicompat_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCallsWithoutAnIndex: calls stay apart, and pieces of one stay together, whatever a server leaves out. Gemini's
// endpoint gives no index, and an empty id (vercel/ai#6663).
func TestCallsWithoutAnIndex(t *testing.T) {
	const first, second = `{"id":"","function":{"name":"lookup","arguments":"{\"a\":1}"}}`, `{"id":"","function":{"name":"lookup","arguments":"{\"b\":2}"}}`
	pieces := func(lists ...string) string {
		var b strings.Builder
		for _, list := range lists {
			b.WriteString(`data: {"choices":[{"index":0,"delta":{"tool_calls":[` + list + "]}}]}\n\n")
		}
		return streamed + b.String() + finish("tool_calls") + finished
	}
	for name, answer := range map[string]string{
		"whole": "HTTP/1.1 200 OK\nContent-Type: application/json\nConnection: close\n\n" +
			`{"choices":[{"finish_reason":"tool_calls","index":0,"message":{"role":"assistant","tool_calls":[` + first + "," + second + `]}}]}`,
		"one event":  pieces(first + "," + second),
		"two events": pieces(first, second),
		"in pieces": pieces(`{"function":{"name":"lookup","arguments":"{\"a\""}}`, `{"function":{"arguments":":1}"}}`,
			`{"function":{"name":"lookup","arguments":""}},{"function":{"arguments":"{\"b\":2"}}`, `{"function":{"name":"","arguments":"}"}}`),
		"ids before names": pieces(`{"id":"x"}`, `{"function":{"name":"lookup","arguments":"{\"a\":1}"}}`,
			`{"id":"y"}`, `{"function":{"name":"lookup","arguments":"{\"b\":2}"}}`),
		"ids": pieces(`{"id":"x","function":{"name":"lookup","arguments":"{\"a\":"}}`, `{"function":{"arguments":"1}"}}`,
			`{"id":"y","function":{"name":"lookup","arguments":"{\"b\":2}"}}`),
		"one index": pieces(`{"index":0,"function":{"name":"lookup","arguments":"{\"a\":"}},{"function":{"arguments":"1}"}}`,
			`{"function":{"name":"lookup","arguments":"{\"b\":2}"}}`),
		"repeated names": pieces(`{"index":0,"function":{"name":"lookup","arguments":"{\"a\":"}},{"index":1,"function":{"name":"lookup","arguments":"{\"b\":"}}`,
			`{"index":0,"function":{"name":"lookup","arguments":"1}"}},{"index":1,"function":{"name":"lookup","arguments":"2}"}}`),
	} {
		r, _, err := ask(t, played([]byte(answer)), request())
		require.NoError(t, err, name)
		require.Len(t, r.Calls, 2, name)
		assert.JSONEq(t, `{"a":1}`, string(r.Calls[0].Arguments), name)
		assert.JSONEq(t, `{"b":2}`, string(r.Calls[1].Arguments), name)
		assert.Equal(t, "lookup", r.Calls[1].Name, name)
		assert.NotEqual(t, r.Calls[0].ID, r.Calls[1].ID, name)
		assert.NotEmpty(t, r.Calls[0].ID, name)
	}
}
