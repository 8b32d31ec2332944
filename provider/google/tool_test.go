package google_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
)

// called makes a stream that calls tools with these parts.
func called(parts string) string {
	return `data: {"candidates": [{"content": {"parts": [` + parts + `],"role": "model"},"finishReason": "STOP"}],"responseId": "aB-3"}` + "\n\n"
}

// What the model called comes back to it as it was: the signature on the same part, its own id or none, and
// the results in the order of the calls.
func TestToolRoundTrip(t *testing.T) {
	const first = `{"text": "Let me see."},` +
		`{"functionCall": {"name": "lookup", "args": {"word": "<kerb>"}}, "thoughtSignature": "U2lnbmVk"},` +
		`{"functionCall": {"name": "lookup", "args": {"word": "toll"}}}`
	const second = `{"functionCall": {"id": "own-1", "name": "now"}, "thoughtSignature": "QWdhaW4="}`
	p, all := serve(t, http.StatusOK, called(first), called(second), yes)
	req := request()
	req.Tools = []provider.Tool{{Name: "lookup"}, {Name: "now"}}
	speak := func(r *provider.Response) {
		req.Messages = append(req.Messages, provider.Message{Speaker: "Ada", Text: r.Text, ToolCalls: r.Calls})
		for i := range r.Calls { // the last one answers first
			id := r.Calls[len(r.Calls)-1-i].ID
			req.Messages = append(req.Messages, provider.Message{ToolResult: &provider.ToolResult{ID: id, Text: "for " + id}})
		}
	}

	r := adaptertest.Answer(t, p, req)
	assert.Equal(t, provider.StopTool, r.Stop)
	require.Len(t, r.Calls, 2)
	assert.Equal(t, "call_aB-3_0", r.Calls[0].ID)
	assert.Equal(t, "call_aB-3_1", r.Calls[1].ID)
	assert.Equal(t, `{"word":"<kerb>"}`, string(r.Calls[0].Arguments)) //nolint:testifylint // byte for byte
	speak(r)

	r = adaptertest.Answer(t, p, req)
	require.Len(t, r.Calls, 1)
	assert.Equal(t, "own-1", r.Calls[0].ID)
	assert.Equal(t, "{}", string(r.Calls[0].Arguments))
	// Opaque survives being stored.
	stored, err := json.Marshal(r.Calls[0])
	require.NoError(t, err)
	r.Calls[0] = provider.ToolCall{}
	require.NoError(t, json.Unmarshal(stored, &r.Calls[0]))
	speak(r)

	adaptertest.Answer(t, p, req)
	golden(t, "request/round_trip.json", pretty(t, (*all)[2].body))

	p.BaseURL = "http://another.example.com" // its vendor may be another
	adaptertest.Answer(t, p, req)
	for _, secret := range []string{"U2lnbmVk", "QWdhaW4="} {
		assert.Contains(t, string((*all)[2].body), secret)
		assert.NotContains(t, string((*all)[3].body), secret, "what a model signed goes back to its own server only")
	}
}

func TestBrokenToolCalls(t *testing.T) {
	many := ""
	for range 129 {
		many += `{"functionCall": {"name": "x"}},`
	}
	for name, parts := range map[string]string{
		"no name":  `{"functionCall": {"args": {}}}`,
		"too many": many + `{"text": ""}`,
		"not args": `{"functionCall": {"name": "x", "args": "w"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := serve(t, http.StatusOK, called(parts))
			r, _, err := ask(t, p, request())
			failure(t, err, provider.KindInvalidResponse)
			assert.Nil(t, r, "the vendor has counted nothing")
		})
	}
}
