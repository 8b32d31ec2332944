package session_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// An amendment that sets nothing is a mistake of the host program, and no fact. What the engine itself adds counts for nothing.
func TestAnAmendmentThatSetsNothingIsRefused(t *testing.T) {
	stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		s, other := join().Begun(), join()
		stage.Pass(500 * time.Millisecond)
		before := c.Log(s.ID())
		for _, empty := range []flow.Amendment{
			{},
			{Models: map[string]flow.ModelChoice{}, Timeouts: map[flow.CallKind]flow.Duration{}},
			{Rows: map[string]flow.Model{"test/debater": {}}},
		} {
			for _, err := range []error{s.Control(t.Context(), empty), other.Control(t.Context(), s.ID(), empty)} {
				stage.RequireKind(t, err, provider.KindValidation)
				require.ErrorContains(t, err, "debate: validation: amend: is empty")
			}
		}
		assert.Equal(t, before, c.Log(s.ID()))
		require.NoError(t, s.Control(t.Context(), flow.Amendment{Budget: &debate.Budget{}}), "a budget without limits removes them")
		require.NoError(t, s.Control(t.Context(), flow.Amendment{Unattended: new(bool)}), "false is a value too")
		stage.Ended(t, s)
	})
}
