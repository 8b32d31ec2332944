package session_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// Once the verdict is being made, no rule leads back to the rounds: their number is fixed.
func TestRoundsAreFixedOnceTheConclusionHasBegun(t *testing.T) {
	config := stage.TwoDebaters()
	config.Format = ""
	gone := &stage.Outage{}
	engine, session, _ := stage.Stranded(t, config, func(p *scripted.Provider) {
		gone = stage.Befall(p, provider.KindQuota, stage.Requested("judge", "verdict"))
	})
	err := session.Control(t.Context(), flow.Amendment{Rounds: new(5)})
	stage.RequireKind(t, err, provider.KindValidation)
	assert.ErrorContains(t, err, "the conclusion has begun")
	gone.Over.Store(true)
	require.NoError(t, session.Retry(t.Context()))
	assert.NotNil(t, stage.View(resumed(t, engine, session)).Verdict)
}
