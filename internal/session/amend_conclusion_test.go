package session_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// Once the verdict is being made, no rule leads back to the rounds: their number is fixed.
func TestRoundsAreFixedOnceTheConclusionHasBegun(t *testing.T) {
	config := stage.TwoDebaters()
	config.Format = ""
	engine, p := stage.Engine(config)
	engine.Store = &store.Memory{}
	gone := stage.Befall(p, provider.KindQuota, stage.Requested("judge", "verdict"))
	session := stage.Started(t, engine, config)
	_, err := session.Wait(t.Context())
	stage.RequireKind(t, err, provider.KindQuota)
	err = session.Control(t.Context(), flow.Amendment{Rounds: new(5)})
	stage.RequireKind(t, err, provider.KindValidation)
	assert.ErrorContains(t, err, "the conclusion has begun")
	gone.Over.Store(true)
	require.NoError(t, session.Retry(t.Context()))
	record := resumed(t, engine, session)
	assert.Equal(t, flow.StateCompleted, record.State)
	assert.NotNil(t, stage.View(record).Verdict)
}
