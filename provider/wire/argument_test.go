package wire_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
)

// Arguments come in pieces, and in pieces that are the whole. What is one object comes to one, and nothing is guessed. The
// forms are those that litellm#4537 (2024-07), kimi-cli#1171 (2026-02), vllm-ascend#16001 (2026-09-08) and
// openvinotoolkit/model_server#3838 (2025-12-05) report, and neighbours of them.
func TestArguments(t *testing.T) {
	for _, tt := range []struct {
		pieces []string
		want   string // "": they cannot be used
	}{
		{[]string{`{"a"`, `:1}`}, `{"a":1}`},
		{[]string{}, `{}`},
		{[]string{" "}, `{}`},
		{[]string{`{}`, `{"a"`, `:1}`}, `{"a":1}`},
		{[]string{`{ }`, "\n", `{"a":1}`}, `{"a":1}`},
		{[]string{`{}{"a":1}`}, `{"a":1}`},
		{[]string{`{"a":1}`, `{}`}, `{"a":1}`},
		{[]string{`{"a":1}`, `{"a":1}`}, `{"a":1}`},
		{[]string{`{"a":`, `1}`, `{"a": 1}`}, `{"a": 1}`},
		{[]string{`{"a"`, `{"a":[1,`, `{"a":[1,2]}`}, `{"a":[1,2]}`},
		{[]string{`{"a":"}{"`, `}`}, `{"a":"}{"}`},
		{[]string{`{"a":"\"}`, `"}`}, `{"a":"\"}"}`},
		{[]string{`null`}, `{}`},
		{[]string{`nu`, `ll`}, `{}`},
		{[]string{`"{\"a\":1}"`}, `{"a":1}`},
		{[]string{`"{\"a\"`, `:1}"`}, `{"a":1}`},
		{[]string{`"oak"`}, `"oak"`},
		{[]string{`[1]`}, `[1]`},
		{[]string{`{"similarity": 0.5}}`}, `{"similarity": 0.5}`},
		{[]string{`{"a":`, `1}`, "}\n</tool", `_call>`}, `{"a":1}`},
		{[]string{"{\"a\":1}\n</tool_call>"}, `{"a":1}`},
		{[]string{`{"a":1}<|im_end|>`}, `{"a":1}`},
		{[]string{`{}`, `]`}, `{}`},
		{[]string{`{"a":1}</tool_call>`, `{"a":1}`}, `{"a":1}`},
		{[]string{`{"a":1}</tool_call><tool_call>{"b":2}`}, ""},
		{[]string{`[1]}`}, ""},
		{[]string{`{"a":1`, `</tool_call>`}, ""},
		{[]string{`{"a":1}`, `{"a":2}`}, ""},
		{[]string{`{"a":1}{"b":2}`}, ""},
		{[]string{`{"a":1}`, `{"b"`}, ""},
		{[]string{`{"a":1}`, `x`}, ""},
		{[]string{`{"a":1`}, ""},
		{[]string{strings.Repeat(`{"a":1}{"a":2}`, 20)}, ""},
	} {
		var seen collected
		r := seen.reply(t)
		r.Call(0, "a", "look", "")
		for _, piece := range tt.pieces {
			r.Call(0, "", "", piece)
		}
		r.Stop = provider.StopTool
		got, err := r.Done()
		if tt.want == "" {
			assert.Equal(t, "malformed", failure(t, err, provider.KindInvalidResponse).Code, tt.pieces)
			continue
		}
		require.NoError(t, err, tt.pieces)
		assert.Equal(t, tt.want, string(got.Calls[0].Arguments), tt.pieces)
	}
}

// Two calls of one reply have two ids, whatever the server gave them.
func TestCallsHaveIDsOfTheirOwn(t *testing.T) {
	var seen collected
	r := seen.reply(t)
	r.Call(0, "a", "look", "{}")
	r.Call(1, "a", "look", `{"b":1}`)
	r.Call(2, "", "look", "{}")
	got := end(t, r)
	assert.Equal(t, []string{"a", "call_1", "call_2"}, []string{got.Calls[0].ID, got.Calls[1].ID, got.Calls[2].ID})
}
