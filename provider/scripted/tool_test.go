package scripted_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// TestToolsGoRound: a call, with what its adapter sealed into it, comes back as it was, and is nobody
// else's to change.
func TestToolsGoRound(t *testing.T) {
	call := provider.ToolCall{ID: "a", Name: "lookup", Arguments: json.RawMessage(`{"w":1}`), Opaque: json.RawMessage(`"sealed"`)}
	p := &scripted.Provider{Record: true, Replies: map[string][]scripted.Reply{"Ada": {
		{Calls: []provider.ToolCall{call}}, {Text: "Found."},
	}}}
	req := &provider.Request{Self: "Ada", Tools: []provider.Tool{{Name: "lookup"}}}
	r, err := p.Generate(t.Context(), req, func(provider.Chunk) {})
	require.NoError(t, err)
	require.Equal(t, provider.StopTool, r.Stop)
	require.Equal(t, []provider.ToolCall{call}, r.Calls)
	req.Messages = []provider.Message{
		{Speaker: "Ada", ToolCalls: r.Calls}, {ToolResult: &provider.ToolResult{ID: "a", Text: "a kerb"}},
	}
	r, err = p.Generate(t.Context(), req, func(provider.Chunk) {})
	require.NoError(t, err)
	assert.Equal(t, "Found.", r.Text)

	copy(req.Messages[0].ToolCalls[0].Opaque, `"broken"`)
	seen := p.Requests()[1]
	assert.Equal(t, call, seen.Messages[0].ToolCalls[0])
	assert.Equal(t, "a kerb", seen.Messages[1].ToolResult.Text)
}
