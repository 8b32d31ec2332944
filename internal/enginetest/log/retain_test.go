package log_test

import (
	"context"
	"fmt"
	"strconv"
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

var epoch = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// aged stores a conversation that came to a state so many days after the epoch.
func aged(t *testing.T, s store.Store, id string, days int, state flow.State, labels map[string]string) {
	t.Helper()
	at := epoch.AddDate(0, 0, days)
	require.NoError(t, s.Append(t.Context(), id, 0, "w", []flow.Event{
		{Seq: 1, At: epoch, Body: &flow.Start{Version: 1, Settings: flow.Settings{Topic: id, Labels: labels}}},
		{Seq: 2, At: at, Body: &flow.Transition{To: state}},
	}))
}

// pruned deletes, and returns what it yields: with a question mark what is not deleted.
func pruned(t *testing.T, s store.Store, r store.Retention) (out []string) {
	t.Helper()
	for gone, err := range store.Prune(t.Context(), s, r) {
		require.NoError(t, err)
		if gone.Err != nil {
			gone.ID += "?"
		}
		out = append(out, gone.ID)
	}
	return out
}

func idsIn(t *testing.T, s store.Store) (ids []string) {
	t.Helper()
	for info, err := range s.List(t.Context(), store.Filter{}) {
		require.NoError(t, err)
		ids = append(ids, info.ID)
	}
	return ids
}

func TestPruneDeletesWhatIsOldAndOver(t *testing.T) {
	acme := map[string]string{"tenant": "acme"}
	fill := func(t *testing.T) store.Store {
		t.Helper()
		s := &store.Memory{}
		aged(t, s, "canceled", 1, flow.StateCanceled, nil)
		aged(t, s, "completed", 1, flow.StateCompleted, acme)
		aged(t, s, "error", 1, flow.StateError, acme)
		aged(t, s, "held", 1, flow.StateCompleted, acme)
		aged(t, s, "late", 5, flow.StateCompleted, acme)
		aged(t, s, "paused", 1, flow.StatePaused, acme)
		require.NoError(t, s.Lease(t.Context(), "held", "a worker", time.Hour))
		return s
	}
	before := epoch.AddDate(0, 0, 3)
	for name, test := range map[string]struct {
		of           store.Retention
		yields, left []string
	}{
		"over": {
			store.Retention{Before: before},
			[]string{"canceled", "completed", "held?"},
			[]string{"error", "held", "late", "paused"},
		},
		"labels": {
			store.Retention{Before: before, Labels: acme},
			[]string{"completed", "held?"},
			[]string{"canceled", "error", "held", "late", "paused"},
		},
		"unfinished": {
			store.Retention{Before: before, Labels: acme, Unfinished: true, Batch: 1},
			[]string{"completed", "error", "held?", "paused"},
			[]string{"canceled", "held", "late"},
		},
		"dry run": {
			store.Retention{Before: before, DryRun: true},
			[]string{"canceled", "completed", "held?"},
			[]string{"canceled", "completed", "error", "held", "late", "paused"},
		},
		"limit": {
			store.Retention{Before: before, Limit: 1},
			[]string{"canceled"},
			[]string{"completed", "error", "held", "late", "paused"},
		},
		"open": {
			store.Retention{Before: before, Open: func(id string) bool { return id == "completed" }},
			[]string{"canceled", "completed?", "held?"},
			[]string{"completed", "error", "held", "late", "paused"},
		},
		"the boundary": {store.Retention{Before: epoch.AddDate(0, 0, 1)}, nil, []string{"canceled", "completed", "error", "held", "late", "paused"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := fill(t)
			assert.Equal(t, test.yields, pruned(t, s, test.of))
			assert.Equal(t, test.left, idsIn(t, s))
			for _, id := range test.left {
				if id != "held" {
					require.NoError(t, s.Lease(t.Context(), id, "another", time.Second), "the lease of %s is released", id)
				}
			}
		})
	}
	for _, err := range store.Prune(t.Context(), fill(t), store.Retention{}) {
		require.ErrorContains(t, err, "before")
	}
}

// growing is a store in which a conversation grows once it is listed.
type growing struct{ *store.Memory }

func (g growing) Lease(ctx context.Context, id, owner string, d time.Duration) error {
	if err := g.Memory.Lease(ctx, id, owner, d); err != nil || id != "b" {
		return err
	}
	return g.Append(ctx, id, 2, "v", []flow.Event{{Seq: 3, At: epoch, Body: &flow.Transition{To: flow.StatePaused}}})
}

func TestPruneKeepsWhatIsContinuedMeanwhile(t *testing.T) {
	s := growing{&store.Memory{}}
	for _, id := range []string{"a", "b", "c"} {
		aged(t, s, id, 1, flow.StateError, nil)
	}
	old := store.Retention{Before: epoch.AddDate(0, 0, 3), Unfinished: true}
	assert.Equal(t, []string{"a", "b?", "c"}, pruned(t, s, old))
	assert.Equal(t, []string{"b"}, idsIn(t, s))
}

// TestPruneRestsBetweenBatches leaves loops early, and lets the context end: what is left is deleted by the next.
func TestPruneRestsBetweenBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store.Memory{}
		for i := range 25 {
			aged(t, s, fmt.Sprintf("d%02d", i), 1, flow.StateCompleted, map[string]string{"n": strconv.Itoa(i % 2)})
		}
		old := store.Retention{Before: epoch.AddDate(0, 0, 3), Batch: 10, Pause: time.Second}
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		var last error
		n := 0
		for gone, err := range store.Prune(ctx, s, old) {
			if last = err; err == nil {
				require.NoError(t, gone.Err)
				n++
			}
		}
		require.ErrorIs(t, last, context.DeadlineExceeded)
		assert.Equal(t, 10, n, "one batch")
		for _, err := range store.Prune(t.Context(), s, old) {
			require.NoError(t, err)
			break
		}
		assert.Len(t, idsIn(t, s), 14)
		began := time.Now()
		assert.Len(t, pruned(t, s, old), 14)
		assert.Equal(t, time.Second, time.Since(began))
		assert.Empty(t, idsIn(t, s))
	})
}

func TestAnEngineKeepsWhatItHasOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		engine, p := stage.Engine(config)
		stage.Slowly(p)
		engine.Store = &store.Memory{}
		session := stage.Started(t, engine, config)
		stage.Pass(1500 * time.Millisecond)
		require.NoError(t, session.Pause(t.Context()))
		synctest.Wait()
		old := store.Retention{Before: time.Now().Add(time.Hour), Unfinished: true}
		for gone, err := range engine.Prune(t.Context(), old) {
			require.NoError(t, err)
			require.ErrorIs(t, gone.Err, store.ErrOpen)
		}
		require.NoError(t, session.Resume(t.Context()))
		stage.Ended(t, session)
		n := 0
		for gone, err := range engine.Prune(t.Context(), old) {
			require.NoError(t, err)
			require.NoError(t, gone.Err)
			n++
		}
		assert.Equal(t, 1, n)
		_, err := engine.Record(t.Context(), session.ID())
		require.ErrorIs(t, err, debate.ErrNotFound)
	})
}

func TestDeleteKeepsWhatSomebodyWorksOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		engine, p := stage.Engine(config)
		stage.Slowly(p)
		engine.Store = &store.Memory{}
		session := stage.Started(t, engine, config)
		id := session.ID()
		require.ErrorIs(t, engine.Delete(t.Context(), id), store.ErrOpen)
		stage.Ended(t, session)
		require.NoError(t, engine.Store.Lease(t.Context(), id, "a worker", time.Hour))
		require.ErrorIs(t, engine.Delete(t.Context(), id), flow.ErrLeased)
		require.NoError(t, engine.Store.Release(t.Context(), id, "a worker"))
		require.NoError(t, engine.Delete(t.Context(), id))
		_, err := engine.Record(t.Context(), id)
		require.ErrorIs(t, err, debate.ErrNotFound)
		require.NoError(t, engine.Delete(t.Context(), id), "twice is once")
		assert.Empty(t, idsIn(t, engine.Store))
		require.NoError(t, engine.Store.Lease(t.Context(), id, "a worker", time.Hour), "no lease is left")
	})
}
