package scripted_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

func cosine(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestEmbed(t *testing.T) {
	p := &scripted.Provider{}
	got, err := p.Embed(t.Context(), "m", []string{"Cars kill cities.", "cities: CARS kill", "Trees grow slowly", "", "…"})
	require.NoError(t, err)
	require.Len(t, got.Vectors, 5)
	assert.InDelta(t, 1, cosine(got.Vectors[0], got.Vectors[1]), 1e-6, "the same words")
	assert.Less(t, cosine(got.Vectors[0], got.Vectors[2]), 0.5, "other words")
	assert.InDelta(t, 1, cosine(got.Vectors[3], got.Vectors[4]), 1e-6, "none")
	assert.Equal(t, "m", got.Model)
	assert.Positive(t, got.Usage.Input)

	p.OnEmbed = func(_ context.Context, model, text string) ([]float32, error) {
		if text == "bad" {
			return nil, errors.New("no vector")
		}
		return []float32{float32(len(model)), float32(len(text))}, nil
	}
	got, err = p.Embed(t.Context(), "m", []string{"abc"})
	require.NoError(t, err)
	assert.Equal(t, [][]float32{{1, 3}}, got.Vectors)
	_, err = p.Embed(t.Context(), "m", []string{"abc", "bad"})
	require.EqualError(t, err, "no vector")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = p.Embed(ctx, "m", []string{"abc"})
	var e *provider.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, provider.KindCanceled, e.Kind)
	assert.True(t, e.NotSent)
}

func TestCountTokens(t *testing.T) {
	p := &scripted.Provider{}
	n, err := p.CountTokens(t.Context(), &provider.Request{System: "12345678"})
	require.NoError(t, err)
	assert.Equal(t, 2, n)
	p.OnCount = func(context.Context, *provider.Request) (int, error) { return 99, nil }
	n, err = p.CountTokens(t.Context(), &provider.Request{})
	require.NoError(t, err)
	assert.Equal(t, 99, n)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = p.CountTokens(ctx, &provider.Request{})
	require.Error(t, err)
}

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
