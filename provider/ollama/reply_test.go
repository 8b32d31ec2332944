package ollama_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
)

// end is the last line of an answer.
func end(more string) string {
	return `{"model":"model-1","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"` + more + `}`
}

func said(text string) string {
	data, _ := json.Marshal(text)
	return `{"message":{"role":"assistant","content":` + string(data) + `},"done":false}`
}

func TestUsage(t *testing.T) {
	tests := []struct {
		name, counts string
		want         provider.Usage
	}{
		{"both", `,"prompt_eval_count":26,"eval_count":3`, provider.Usage{Input: 26, Output: 3}},
		{"cached", `,"prompt_eval_count":26,"prompt_eval_cached_count":20,"eval_count":3`, provider.Usage{Input: 26, CachedInput: 20, Output: 3}},
		{"none", ``, provider.Usage{}},
		// Half of the usage would be taken for the whole: without any, the engine charges its reservation.
		{"no input", `,"eval_count":3`, provider.Usage{}},
		{"input of 0", `,"prompt_eval_count":0,"eval_count":3`, provider.Usage{}},
		{"no output", `,"prompt_eval_count":26`, provider.Usage{}},
		{"nonsense", `,"prompt_eval_count":"many","eval_count":-3`, provider.Usage{}},
		{"absurd", `,"prompt_eval_count":1e300,"eval_count":3`, provider.Usage{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := adaptertest.Answer(t, played(answer(said("Yes."), end(tt.counts))), request())
			assert.Equal(t, tt.want, r.Usage)
			assert.Equal(t, "model-1", r.Model)
		})
	}
}

// What a server counts in mid-stream is not the price; what the last line counts is, whatever it says else.
func TestUsageOfWhatIsCut(t *testing.T) {
	const counts = `,"prompt_eval_count":26,"eval_count":3`
	half := strings.Replace(said("Half"), `,"done":false`, counts+`,"done":false`, 1)
	r, _, err := ask(t, played(answer(half)), request())
	failure(t, err, provider.KindNetwork)
	assert.Nil(t, r)
	r, _, err = ask(t, played(answer(half, `{"error":"out of memory"}`)), request())
	failure(t, err, provider.KindAPI)
	assert.Nil(t, r)
	r, _, err = ask(t, played(answer(half, strings.Replace(end(counts), `"stop"`, `"exploded"`, 1))), request())
	failure(t, err, provider.KindInvalidResponse)
	require.NotNil(t, r)
	assert.Equal(t, provider.Usage{Input: 26, Output: 3}, r.Usage)
}

// A reply without a done reason has ended: mozilla-ai/any-llm#1378 (2026-09-06).
func TestNoDoneReason(t *testing.T) {
	last := strings.Replace(end(`,"prompt_eval_count":26,"eval_count":3`), `,"done_reason":"stop"`, "", 1)
	for limit, want := range map[int]provider.StopReason{0: provider.StopEnd, 4: provider.StopEnd, 3: provider.StopLength} {
		req := request()
		req.MaxTokens = limit
		r := adaptertest.Answer(t, played(answer(said("Yes."), last)), req)
		assert.Equal(t, want, r.Stop)
	}
	_, _, err := ask(t, played(answer(last)), request())
	assert.Equal(t, "done_reason", failure(t, err, provider.KindInvalidResponse).Code)
}

func TestToolCallsHaveIDsOfTheirOwn(t *testing.T) {
	call := func(id, arguments string) string {
		return `{"message":{"tool_calls":[{"id":"` + id + `","function":{"index":0,"name":"lookup","arguments":` + arguments + `}}]}}`
	}
	lines := []string{call("", `{"w":0}`), call("0", `{"w":1}`), call("0", `{"w":2}`), call("call_4", `{"w":3}`), call("", `{}`), call("", `null`)}
	for range 2 { // the same each time
		r, chunks, err := ask(t, played(answer(append(slices.Clone(lines), end(""))...)), request())
		require.NoError(t, err)
		assert.Empty(t, chunks)
		assert.Equal(t, provider.StopTool, r.Stop)
		var ids, arguments []string
		for _, c := range r.Calls {
			ids, arguments = append(ids, c.ID), append(arguments, string(c.Arguments))
		}
		assert.Equal(t, []string{"call_0", "0", "call_2", "call_4", "call_5", "call_6"}, ids)
		assert.Equal(t, []string{`{"w":0}`, `{"w":1}`, `{"w":2}`, `{"w":3}`, `{}`, `{}`}, arguments)
	}

	number := `{"model":7,"message":{"tool_calls":[{"id":7,"function":{"name":"lookup","arguments":{}}}]}}`
	r, _, err := ask(t, played(answer(number, end(""))), request())
	require.NoError(t, err, "what only names something may be a number: anomalyco/opencode#19947 (2026-03-29)")
	assert.Equal(t, "7", r.Calls[0].ID)

	_, _, err = ask(t, played(answer(append(slices.Repeat(lines[:1], 129), end(""))...)), request())
	failure(t, err, provider.KindInvalidResponse)
}

// A window that nobody told the provider cannot be seen to be full.
func TestFullWindow(t *testing.T) {
	tests := []struct {
		name          string
		window, limit int
		input, output string
		overflow      bool
	}{
		{"window full", 4096, 1000, "3900", "196", true},
		{"one over", 4096, 1000, "3900", "197", true},
		{"limit of output", 4096, 196, "3900", "196", false},
		{"no limit of output", 4096, 0, "3900", "196", true},
		{"window unknown", 0, 1000, "3900", "196", false},
		{"window not full", 8192, 1000, "3900", "196", false}, // the server did not heed NumCtx
		{"usage unknown", 4096, 1000, "0", "196", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			last := strings.Replace(end(`,"prompt_eval_count":`+tt.input+`,"eval_count":`+tt.output), `"stop"`, `"length"`, 1)
			p, req := played(answer(said("As far as it went"), last)), request()
			p.NumCtx, req.MaxTokens = tt.window, tt.limit
			r, _, err := ask(t, p, req)
			if tt.overflow {
				failure(t, err, provider.KindContextOverflow)
				assert.NotZero(t, r.Usage)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, provider.StopLength, r.Stop)
		})
	}
}

// A runner's failure comes as JSON in a string: what shows only once it is unpacked is cut out too.
func TestKeyInAPackedFailure(t *testing.T) {
	packed := `{"error":"{\"error\":{\"code\":503,\"message\":\"not with \\u0073` + canary[1:] + `\",\"type\":\"\\u0073` + canary[1:] + `\"}}"}` + "\n"
	for _, status := range []int{http.StatusOK, http.StatusServiceUnavailable} {
		_, _, err := ask(t, answering(t, status, packed), request())
		e := failure(t, err, provider.KindAPI)
		assert.Equal(t, "not with [redacted]", e.Message)
		assert.Equal(t, status, e.Status)
	}
}

// FuzzAnswer: a reply is only what a done line has ended.
func FuzzAnswer(f *testing.F) {
	adaptertest.Fuzzing{
		Head: "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
		Connect: func(transport http.RoundTripper) provider.Provider {
			p := played("")
			p.NumCtx, p.Client.Transport = 4096, transport
			return p
		},
		Request: request,
		Also: func(t *testing.T, body []byte, r *provider.Response, err error) {
			if e, ok := errors.AsType[*provider.Error](err); ok {
				require.False(t, e.NotSent)
				return
			}
			require.True(t, strings.TrimSpace(r.Text) != "" || len(r.Calls) > 0)
			ids := map[string]bool{}
			for _, c := range r.Calls {
				require.NotEmpty(t, c.Name)
				require.False(t, ids[c.ID], "two calls with the id %q", c.ID)
				ids[c.ID] = true
			}
			require.Contains(t, strings.ToLower(string(body)), "true")
		},
	}.Run(f)
}
