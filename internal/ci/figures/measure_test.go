package main_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/bench"
	figures "github.com/agonist-dev/debate/internal/ci/figures"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
)

// spender allocates once more for each call.
type spender struct {
	*bench.Script

	kept *[64]byte
}

func (s *spender) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	s.kept = new([64]byte)
	return s.Script.Generate(ctx, req, emit)
}

// One allocation more for each call is seen in every figure, whose objects are the same each time within 0.05 %.
func TestAnAllocationMoreIsSeen(t *testing.T) {
	longform.Lone(t) // the race detector allocates too, and lets pools lose what they hold
	before, err := figures.Costs(t.Context(), bench.NewScript())
	require.NoError(t, err)
	after, err := figures.Costs(t.Context(), &spender{Script: bench.NewScript()})
	require.NoError(t, err)
	for name, calls := range map[string]float64{
		"R=1": 5, "R=10": 41, "R=100": 401, "round": 4, "call": 1, "judgement": 1, "start": 1,
	} {
		assert.InDelta(t, calls, after["allocs W1/"+name]-before["allocs W1/"+name], max(0.3, 0.0005*before["allocs W1/"+name]), name)
		assert.InDelta(t, 64*calls, after["bytes W1/"+name]-before["bytes W1/"+name], 0.002*before["bytes W1/"+name], name)
	}
}
