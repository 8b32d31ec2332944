package session_test

import (
	"context"
	"io"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/store"
)

// offline is a store that calls before once, before an append, and gives no log while down is set.
type offline struct {
	*store.Memory

	before func()
	down   atomic.Bool
}

func (u *offline) Append(ctx context.Context, id string, after int64, writer string, events []debate.Event) error {
	if before := u.before; before != nil {
		u.before = nil
		before()
	}
	return u.Memory.Append(ctx, id, after, writer, events)
}

func (u *offline) Read(ctx context.Context, id string, after int64) iter.Seq2[debate.Event, error] {
	if u.down.Load() {
		return func(yield func(debate.Event, error) bool) { yield(debate.Event{}, io.ErrUnexpectedEOF) }
	}
	return u.Memory.Read(ctx, id, after)
}

// TestAControlThatIsNotSavedLeavesNothing: a control that met a conflict, after which the log cannot be read, leaves
// no unsaved event in the session. Otherwise the session would continue a debate that the log does not tell of.
func TestAControlThatIsNotSavedLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.ID = "x"
		a, p := stage.Engine(config)
		stage.Slowly(p)
		kept := &store.Memory{}
		a.Store, a.Lease = kept, 2*time.Second
		holder, err := a.Start(t.Context(), config)
		require.NoError(t, err)
		stage.Pass(1500 * time.Millisecond)
		require.NoError(t, holder.Pause(t.Context()))
		stage.Pass(time.Second)
		faulty := &offline{Memory: kept}
		b := stage.Twin(a)
		b.Store, b.Lease = faulty, 2*time.Second
		other := stage.Reopen(t, b, "x")
		require.NoError(t, holder.Resume(t.Context()))
		stage.Pass(500 * time.Millisecond)
		faulty.before = func() {
			assert.NoError(t, holder.Pause(context.Background()))
			faulty.down.Store(true)
		}
		require.Error(t, other.Stop(t.Context()))
		assert.NotEqual(t, flow.StateCompleting, other.State())
		faulty.down.Store(false)
		stage.Pass(time.Minute)
		record := stage.StoredRecord(t, a, "x")
		assert.Equal(t, flow.StatePaused, record.State)
		require.NoError(t, holder.Close())
		require.NoError(t, other.Close())
		again := stage.Reopen(t, a, "x")
		require.NoError(t, again.Resume(t.Context()))
		record = stage.Ended(t, again)
		assert.Equal(t, flow.StateCompleted, record.State)
		require.NoError(t, again.Close())
	})
}
