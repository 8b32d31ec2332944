package log_test

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/store"
)

// TestVerify: a log is whole if it reads the same again, and if the flow decides what it has decided.
func TestVerify(t *testing.T) {
	config := stage.TwoDebaters()
	engine, source := stage.Engine(config)
	record := stage.Run(t, engine, config)
	asked := source.Calls()
	found, err := engine.Verify(t.Context(), record.ID)
	require.NoError(t, err)
	assert.Equal(t, record.Seq, found.Record.Seq)
	assert.Equal(t, record.State, found.Record.State)
	assert.Positive(t, found.Decisions)
	assert.Equal(t, asked, source.Calls(), "nobody is asked")

	_, err = engine.Verify(t.Context(), "nothing")
	require.ErrorIs(t, err, debate.ErrNotFound)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = engine.Verify(ctx, record.ID)
	require.ErrorIs(t, err, context.Canceled)
	assert.NotErrorIs(t, err, store.ErrDamaged, "that is no fault of the log")
}

// TestVerifyFindsWhatTheFlowHasNotDecided: a log that can be read is not one that the flow would have written.
func TestVerifyFindsWhatTheFlowHasNotDecided(t *testing.T) {
	config := stage.TwoDebaters()
	l := stage.PlayedLog(t, config)
	at := slices.IndexFunc(l.Events, func(e flow.Event) bool {
		move := body.As[flow.Transition](e)
		return move != nil && move.Reason == flow.EndRounds
	})
	require.Positive(t, at)
	changed := *body.As[flow.Transition](l.Events[at])
	changed.Reason = flow.EndConverged
	l.Events[at].Body = &changed
	engine, _ := stage.Engine(config)
	_, err := engine.Import(t.Context(), bytes.NewReader(stage.Snapshot(t, l.ID, l.Events)))
	require.NoError(t, err)
	_, err = engine.Verify(t.Context(), l.ID)
	require.ErrorIs(t, err, store.ErrDamaged)
	assert.ErrorContains(t, err, "the log is not what the flow decides: event ")
	assert.ErrorContains(t, err, " convergence, and the flow decides to go ")
}

// TestVerifyComparesTheList: what the store lists of a debate is what its log says.
func TestVerifyComparesTheList(t *testing.T) {
	config := stage.TwoDebaters()
	engine, _ := stage.Engine(config)
	kept := &store.Memory{}
	engine.Store = kept
	record := stage.Run(t, engine, config)
	_, err := (&debate.Engine{Store: misled{kept}}).Verify(t.Context(), record.ID)
	require.ErrorIs(t, err, store.ErrDamaged)
	assert.ErrorContains(t, err, "the list is wrong: it has debate, paused in round 3, and the log debate, completed in round 3")
}

// misled is a store that describes each debate as paused.
type misled struct{ *store.Memory }

// Describe implements [store.Describer].
func (m misled) Describe(ctx context.Context, id string) (store.Info, error) {
	info, err := m.Memory.Describe(ctx, id)
	info.State = flow.StatePaused
	return info, err
}
