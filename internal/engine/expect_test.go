package engine_test

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/store"
)

// What is meant for a debate that was deleted is not done with the one that has its id now: nothing of that is read, and nothing changes.
func TestTheIDOfADeletedDebate(t *testing.T) {
	config := stage.Illustrated()
	config.ID = "cars"
	engine, _ := stage.Engine(config)
	engine.Store = &store.Memory{}
	begin := func() store.Info {
		_, err := engine.Submit(t.Context(), config)
		require.NoError(t, err)
		require.NoError(t, engine.Control(t.Context(), "cars", flow.Pause{}))
		info, err := store.InfoOf(t.Context(), engine.Store, "cars")
		require.NoError(t, err)
		return info
	}
	former := begin()
	require.NoError(t, engine.Delete(t.Context(), "cars"))
	present := begin()
	require.False(t, present.StartedAt.Equal(former.StartedAt))
	ctx := flow.Expecting(t.Context(), "cars", flow.Expected{StartedAt: former.StartedAt})
	for name, do := range map[string]func() error{
		"control": func() error { return engine.Control(ctx, "cars", flow.Cancel{}) },
		"record":  func() error { _, err := engine.Record(ctx, "cars"); return err },
		"export":  func() error { return engine.Export(ctx, "cars", io.Discard) },
		"file":    func() error { _, err := engine.File(ctx, "cars", flow.HashOf(stage.PNG)); return err },
		"fork":    func() error { _, err := engine.Fork(ctx, "cars", 1, nil); return err },
		"submit":  func() error { _, err := engine.SubmitFork(ctx, "cars", 0, nil); return err },
		"reopen":  func() error { _, err := engine.SubmitReopening(ctx, "cars", flow.Reopening{Rounds: 1}); return err },
		"delete":  func() error { return engine.Delete(ctx, "cars") },
		"events": func() (first error) {
			for _, err := range engine.Events(ctx, "cars", 0) {
				first = err
				break
			}
			return first
		},
	} {
		require.ErrorIs(t, do(), flow.ErrNotFound, name)
	}
	now, err := store.InfoOf(t.Context(), engine.Store, "cars")
	require.NoError(t, err)
	assert.Equal(t, present, now)
	assert.Empty(t, due(t, engine), "nothing was begun")

	ctx = flow.Expecting(t.Context(), "cars", flow.Expected{StartedAt: present.StartedAt})
	require.NoError(t, engine.Control(ctx, "cars", flow.Resume{}))
	require.NoError(t, engine.Delete(ctx, "cars"))
}

// A control is given only if the record on which it acts is as its caller expects, also in a session.
func TestAControlOnACondition(t *testing.T) {
	config := stage.TwoDebaters()
	config.ID = "cars"
	engine, _ := stage.Engine(config)
	engine.Store = &store.Memory{}
	_, err := engine.Submit(t.Context(), config)
	require.NoError(t, err)
	paused := func(r *flow.Record) error {
		if r.State != flow.StatePaused {
			return debate.ErrPaused
		}
		return nil
	}
	ctx := flow.Expecting(t.Context(), "cars", flow.Expected{Holds: paused})
	require.ErrorIs(t, engine.Control(ctx, "cars", flow.Cancel{}), debate.ErrPaused)
	assert.Equal(t, flow.StateInitializing, stage.StoredRecord(t, engine, "cars").State)
	require.NoError(t, engine.Control(t.Context(), "cars", flow.Pause{}))
	session := stage.Reopen(t, engine, "cars")
	defer session.Close()
	other := flow.Expecting(t.Context(), "cars", flow.Expected{StartedAt: time.Unix(1, 0), Holds: paused})
	require.ErrorIs(t, engine.Control(other, "cars", flow.Cancel{}), flow.ErrNotFound)
	require.NoError(t, engine.Control(ctx, "cars", flow.Cancel{}))
	assert.Equal(t, flow.StateCanceled, stage.StoredRecord(t, engine, "cars").State)
}
