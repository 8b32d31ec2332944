package openaicompat_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
	"github.com/agonist-dev/debate/provider/openaicompat"
	"github.com/agonist-dev/debate/provider/providertest"
)

// Servers of the protocol send the pieces of a reply in many orders: each answer of testdata/order comes to what its server
// meant. What was taken is never taken again, and an answer that is cut between two events is that reply or a failure.
func TestAnyOrder(t *testing.T) {
	req := request()
	for _, name := range []string{"read_leaf", "count_rings"} {
		req.Tools = append(req.Tools, provider.Tool{Name: name, Parameters: json.RawMessage(`{"type":"object"}`)})
	}
	for _, f := range providertest.Faults(t, "testdata/order") {
		t.Run(f.Name, func(t *testing.T) {
			at := func(answer []byte, drip bool) *openaicompat.Provider {
				p := preset(f.Vendor)(canary)
				p.BaseURL = "http://model.test/v1"
				play := &adaptertest.Playback{Answer: string(answer)}
				if drip {
					play.Wrap = iotest.OneByteReader
				}
				p.Client = &http.Client{Transport: play}
				return p
			}
			for _, drip := range []bool{false, true} {
				r, chunks, err := ask(t, at(f.Answer, drip), req)
				if f.Kind != "" {
					e := failure(t, err, f.Kind)
					assert.True(t, f.Code == "" || e.Code == f.Code, e.Code)
					assert.Contains(t, e.Message, f.Message)
					continue
				}
				require.NoError(t, err)
				assert.Equal(t, f.Text, r.Text)
				assert.Equal(t, f.Text, strings.Join(chunks, ""))
				assert.Equal(t, f.Stop, r.Stop)
				if !f.Usage.IsZero() || strings.HasPrefix(f.Name, "usage-") {
					assert.Equal(t, f.Usage, r.Usage)
				}
				require.Len(t, r.Calls, len(f.Calls))
				for i, want := range f.Calls {
					assert.Equal(t, want.Name, r.Calls[i].Name)
					assert.JSONEq(t, string(want.Arguments), string(r.Calls[i].Arguments))
					if want.ID != "" {
						assert.Equal(t, want.ID, r.Calls[i].ID)
					}
				}
			}
			if f.Kind != "" {
				return
			}
			whole := adaptertest.Answer(t, at(f.Answer, false), req)
			for n := len(f.Answer) - 1; n > 0; n = bytes.LastIndex(f.Answer[:n], []byte("\n\n")) + 1 {
				r, _, err := ask(t, at(f.Answer[:n+1], false), req)
				if err != nil {
					continue
				}
				assert.Equal(t, whole.Text, r.Text, "cut at %d", n)
				assert.Equal(t, whole.Calls, r.Calls, "cut at %d", n)
			}
		})
	}
}

// However many pieces a reply has, and whatever stands in them, a piece costs no more than itself.
func TestManyPieces(t *testing.T) {
	longform.Lone(t)
	const size, pieces = 512 << 10, 2000
	long := strings.Repeat("x", size)
	event := func(delta string) string { return `data: {"choices":[{"index":0,"delta":{` + delta + `}}]}` + "\n\n" }
	called := func(arguments string) string {
		return `"tool_calls":[{"index":0,"id":"a","function":{"name":"look","arguments":"` + arguments + `"}}]`
	}
	unnamed := func(arguments string) string {
		return `"tool_calls":[{"index":0,"function":{"arguments":"` + arguments + `"}}]`
	}
	for name, body := range map[string]string{
		"in the middle": event(called(`{\"a\":\"`+long)) + strings.Repeat(event(unnamed("x")), pieces) + event(unnamed(`\"}`)),
		"with a name":   event(called(`{\"a\":\"`+long)) + strings.Repeat(event(called("x")), pieces) + event(called(`\"}`)),
		"blanks behind": event(called(`{\"a\":\"`+long+`\"}`)) + strings.Repeat(event(unnamed(" ")), pieces),
		"{} behind":     event(called(`{\"a\":\"`+long+`\"}`)) + strings.Repeat(event(called("{}")), 4*pieces),
		"messages behind": event(called(`{\"a\":\"`+long+`\"}`)) +
			strings.Repeat(`data: {"choices":[{"index":0,"message":{`+called("{}")+"}}]}\n\n", pieces),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, _, err := ask(t, played([]byte(streamed+body+finish("tool_calls")+finished)), request())
		runtime.ReadMemStats(&after)
		require.NoError(t, err, name)
		require.Len(t, r.Calls, 1, name)
		assert.GreaterOrEqual(t, len(r.Calls[0].Arguments), size, name)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100<<20), name)
	}
}

// Thoughts that a server sends as a message beside their pieces are taken once, too, and go back once.
func TestThoughtsBesideTheirPieces(t *testing.T) {
	p := played([]byte(streamed +
		`data: {"choices":[{"index":0,"delta":{"reasoning_content":"One, "},"message":{"reasoning_content":"One, "}}]}` + "\n\n" +
		`data: {"choices":[{"index":0,"delta":{"reasoning_content":"two."},"message":{"reasoning_content":"One, two."}}]}` + "\n\n" +
		`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}]},"message":{"reasoning_content":"One, two."}}]}` + "\n\n" +
		finish("tool_calls") + finished))
	p.Thoughts = openaicompat.ThoughtsText
	r := adaptertest.Answer(t, p, request())
	assert.Equal(t, "One, two.", r.Reasoning)
	var kept struct {
		Kept struct {
			Text string `json:"reasoning_content"`
		} `json:"kept"`
	}
	require.Len(t, r.Calls, 1)
	require.NoError(t, json.Unmarshal(r.Calls[0].Opaque, &kept))
	assert.Equal(t, "One, two.", kept.Kept.Text)
	assert.Equal(t, provider.StopTool, r.Stop)
}
