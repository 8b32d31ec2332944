package sql_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/sql"
)

// SQLite writes leases without waiting for the disk, and all else with.
func TestCommitsWaitForTheDiskAfterALease(t *testing.T) {
	t.Parallel()
	s := newSQLite(t)
	kept := s.store(t)
	full := func() {
		t.Helper()
		level, err := kept.Synchronous(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 2, level)
	}
	full()
	require.NoError(t, kept.Lease(t.Context(), "a", "me", time.Hour))
	full()
	require.ErrorIs(t, kept.Lease(t.Context(), "a", "you", time.Hour), flow.ErrLeased)
	full()
	require.NoError(t, kept.Release(t.Context(), "a", "me"))
	full()
	release := s.block(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.Error(t, kept.Lease(ctx, "a", "me", time.Hour))
	full()
	require.Error(t, kept.Lease(ctx, "a", "me", time.Hour))
	require.Error(t, kept.Release(ctx, "a", "me"))
	full()
	release()
	require.NoError(t, kept.Lease(t.Context(), "a", "me", time.Hour))
	full()
}

// The clock of PostgreSQL's machine decides, whatever that of this one says: a lease is as long as asked
// for by that clock.
func TestALeaseEndsByTheClockOfTheDatabase(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		kept := s.store(t)
		require.NoError(t, kept.Append(t.Context(), "a", 0, "w", facts(0, 1)))
		require.NoError(t, kept.Lease(t.Context(), "a", "me", time.Hour))
		assert.Empty(t, list(t, kept, store.Filter{Idle: true}))
		now := `(SELECT CAST(unixepoch('subsec') * 1000000 AS INTEGER))`
		if s.name == "PostgreSQL" {
			now = `CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)`
		}
		s.execute(t, `UPDATE debate_lease SET until = `+now+` + 60000000 WHERE until > `+now+` + 3590000000`)
		assert.Equal(t, "me", list(t, kept, store.Filter{})[0].Owner)
		s.execute(t, `UPDATE debate_lease SET until = `+now+` WHERE until <= `+now+` + 60000000`)
		assert.Len(t, list(t, kept, store.Filter{Idle: true}), 1)
		require.NoError(t, kept.Lease(t.Context(), "a", "you", time.Hour))
	})
}

// Tokens are the host's: no database takes all of them as they are.
func TestAnyTokenWillDo(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		kept := s.store(t)
		tokens := []string{"\x00", "\xff", "\ufffd", `"`, `"\x00"`, `"\xff"`, "'; --", "", "%"}
		for i, token := range tokens {
			other := tokens[(i+1)%len(tokens)]
			require.NoError(t, kept.Append(t.Context(), "a", int64(i), token, facts(int64(i), 1)))
			assert.ErrorIs(t, kept.Append(t.Context(), "a", int64(i), other, facts(int64(i), 1)), flow.ErrConflict)
			again := kept.Append(t.Context(), "a", int64(i), token, facts(int64(i), 1))
			if token == "" {
				assert.ErrorIs(t, again, flow.ErrConflict)
			} else {
				assert.NoError(t, again)
			}
			require.NoError(t, kept.Lease(t.Context(), "a", token, time.Hour))
			assert.ErrorIs(t, kept.Lease(t.Context(), "a", other, time.Hour), flow.ErrLeased)
			assert.Equal(t, token, list(t, kept, store.Filter{})[0].Owner)
			require.NoError(t, kept.Release(t.Context(), "a", token))
		}
	})
}

// Events have the time of PostgreSQL's machine, whatever that of this one says.
func TestEventsHaveTheTimeOfTheDatabase(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	const behind = time.Hour
	s.execute(t, `CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
		AS $$ SELECT pg_catalog.clock_timestamp() - interval '1 hour' $$`)
	u := mustParse(t, s.url)
	query := u.Query()
	query.Set("search_path", query.Get("search_path")+",pg_catalog") // else the server's own function comes first
	u.RawQuery = query.Encode()
	kept, err := sql.OpenPostgres(t.Context(), u.String())
	require.NoError(t, err)
	defer func() { assert.NoError(t, kept.Close()) }()
	const most = 10 * time.Minute // that the test takes
	is := func(at time.Time) {
		t.Helper()
		assert.WithinDuration(t, time.Now().Add(-behind), at, most)
	}
	at, err := kept.Time(t.Context())
	require.NoError(t, err)
	is(at)
	voice := &speaker{pace: time.Millisecond, spoken: map[string]time.Time{}}
	engine := &debate.Engine{Store: kept, Providers: map[string]debate.Provider{"test": voice}, SkipModelCheck: true}
	config := watchedDebate()
	config.ID = "timed"
	for event, err := range engine.Run(t.Context(), config) {
		require.NoError(t, err)
		is(event.At)
	}
	for event, err := range kept.Read(t.Context(), "timed", 0) {
		require.NoError(t, err)
		is(event.At)
	}
}
