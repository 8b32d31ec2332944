package sql_test

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/sql"
)

// However long another process has the lock, nobody waits longer than he wants to.
func TestNobodyWaitsForTheLockPastHisContext(t *testing.T) {
	t.Parallel()
	s := newSQLite(t)
	kept, err := s.open(t.Context(), sql.Options{Timeout: time.Hour})
	require.NoError(t, err)
	defer func() { assert.NoError(t, kept.Close()) }()
	require.NoError(t, kept.Append(t.Context(), "a", 0, "w", facts(0, 1)))
	release := s.block(t)
	for name, write := range map[string]func(ctx context.Context) error{
		"append":  func(ctx context.Context) error { return kept.Append(ctx, "a", 1, "w", facts(1, 1)) },
		"begin":   func(ctx context.Context) error { return kept.Append(ctx, "b", 0, "w", facts(0, 1)) },
		"lease":   func(ctx context.Context) error { return kept.Lease(ctx, "a", "me", time.Second) },
		"release": func(ctx context.Context) error { return kept.Release(ctx, "a", "me") },
		"delete":  func(ctx context.Context) error { return kept.Delete(ctx, "c") },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		err := write(ctx)
		cancel()
		require.ErrorIs(t, err, context.DeadlineExceeded, name)
	}
	release()
	require.NoError(t, kept.Append(t.Context(), "a", 1, "w", facts(1, 1)))
	require.NoError(t, kept.Close())
	assert.Equal(t, 2, length(t, s.store(t), "a"))
}

// A store that appends without a pause leaves the others room.
func TestAHotLoopLetsOthersIn(t *testing.T) {
	t.Parallel()
	s := newSQLite(t)
	kept := s.store(t)
	ctx, cancel := context.WithCancel(t.Context())
	var looping sync.WaitGroup
	for i := range 2 { // more than one, so that the lock is never free by chance
		hot := s.store(t)
		looping.Go(func() {
			for after := int64(0); ctx.Err() == nil; after++ {
				assert.NoError(t, hot.Append(t.Context(), fmt.Sprint("hot", i), after, "w", facts(after, 1)))
			}
		})
	}
	eventually(t, func() bool { return len(list(t, kept, store.Filter{})) == 2 })
	for n := range int64(40) {
		require.NoError(t, kept.Lease(t.Context(), "a", "me", time.Hour))
		require.NoError(t, kept.Append(t.Context(), "a", n, "w", facts(n, 1)))
	}
	cancel()
	looping.Wait()
}

// A process that has written for the length of a turn leaves the file to others before it writes again, and one that has paused
// anyway begins a new turn at once.
func TestATurnEndsWithARest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var turn sql.Turn
		// written writes for as long as told, and returns how long it waited before.
		written := func(ctx context.Context, d time.Duration) time.Duration {
			asked := time.Now()
			turn.Begin(ctx)
			waited := time.Since(asked)
			<-time.After(d)
			turn.End()
			return waited
		}
		for range 3 {
			for range 10 {
				assert.Zero(t, written(t.Context(), sql.TurnLength/10), "the turn is not over")
			}
			assert.Equal(t, sql.TurnRest, written(t.Context(), sql.TurnLength/2))
			<-time.After(sql.TurnRest)
			assert.Zero(t, written(t.Context(), sql.TurnLength/2), "nobody had to wait: the pause began a new turn")
			<-time.After(sql.TurnRest)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		assert.Zero(t, written(ctx, sql.TurnLength))
		assert.Zero(t, written(ctx, 0), "whoever has given up does not wait")
	})
}

// What JSON knows no year for is a bound all the same, of what begins at either end of the years as well.
func TestBoundsBeyondTheYears(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		kept, memory := s.store(t), &store.Memory{}
		for _, one := range []store.Store{kept, memory} {
			for id, at := range map[string]time.Time{"a": {}, "b": time.Unix(1, 0), "c": time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)} {
				events := start("t", nil)
				events[0].At = at
				require.NoError(t, one.Append(t.Context(), id, 0, "w", events))
			}
		}
		for _, at := range []time.Time{
			time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
			time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(1<<38, 0), time.Unix(-1<<38, 0),
		} {
			for _, filter := range []store.Filter{{From: at}, {Until: at}} {
				assert.Equal(t, names(list(t, memory, filter)), names(list(t, kept, filter)), "%+v", filter)
			}
		}
	})
}

// TestReadOnly: a file that is only read shows what it holds, refuses a change, and gets no other files beside it.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	s := newSQLite(t)
	written, err := s.open(t.Context(), sql.Options{})
	require.NoError(t, err)
	require.NoError(t, written.Append(t.Context(), "a", 0, "w", facts(0, 1)))
	require.NoError(t, written.Close())
	read, err := sql.Options{ReadOnly: true}.OpenSQLite(t.Context(), s.path)
	require.NoError(t, err)
	n := 0
	for _, err := range read.Read(t.Context(), "a", 0) {
		require.NoError(t, err)
		n++
	}
	assert.Positive(t, n)
	require.ErrorIs(t, read.Append(t.Context(), "b", 0, "w", facts(0, 1)), fs.ErrPermission)
	beside, err := filepath.Glob(s.path + "*")
	require.NoError(t, err)
	assert.Equal(t, []string{s.path}, beside)
	require.NoError(t, read.Close())
}
