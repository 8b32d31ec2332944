package anthropic_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
)

// A pause as it was recorded: the reply ends in the middle of a search, and its result begins the next piece.
func TestARecordedPause(t *testing.T) {
	p, bodies := spoken(t, "pause_recorded_1", "pause_recorded_2")
	req := searching()
	req.MaxTokens = 15000
	r, chunks, err := ask(t, p, req)
	require.NoError(t, err)
	assert.Equal(t, r.Text, strings.Join(chunks, ""))
	assert.Equal(t, provider.StopEnd, r.Stop)
	assert.Equal(t, provider.Usage{Input: 404500 + 482529, Output: 943 + 1310, Reasoning: 261}, r.Usage)
	require.Len(t, r.Citations, 1)
	assert.Equal(t, "costless than roads in towns where people ridethem", r.Text[r.Citations[0].Start:r.Citations[0].End])
	require.Len(t, *bodies, 2)
	golden(t, "reply/pause_recorded_2.json", readable(t, []byte((*bodies)[1])))
}
