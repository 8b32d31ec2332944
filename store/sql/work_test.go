package sql_test

import (
	"context"
	stdsql "database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/sql"
)

// The schema has the states in which nothing happens by itself in words. They are those of package flow.
func TestTheStatesOfTheSchema(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		kept := s.store(t)
		announced := s.announcements(t)
		for i, state := range []flow.State{
			"", flow.StateConfiguring, flow.StateValidating, flow.StateReady, flow.StateInitializing, flow.StateRunning, "speaking",
			flow.StatePaused, flow.StateAwaitingInput, flow.StateCompleting, flow.StateCompleted, flow.StateCanceled, flow.StateError,
		} {
			id, works := string(rune('a'+i)), 0
			if !state.Idle() {
				works = 1
			}
			require.NoError(t, kept.Append(t.Context(), id, 0, "w", begun(state)))
			assert.Equal(t, works, announced(), "%q begins", state)
			assert.Len(t, list(t, kept, store.Filter{Working: true, States: []flow.State{state}}), works, "%q", state)
			require.NoError(t, kept.Lease(t.Context(), id, "me", time.Hour))
			require.NoError(t, kept.Lease(t.Context(), id, "me", time.Hour))
			require.NoError(t, kept.Release(t.Context(), id, "you"))
			assert.Zero(t, announced(), "%q", state)
			require.NoError(t, kept.Release(t.Context(), id, "me"))
			assert.Equal(t, works, announced(), "%q is released", state)
			require.NoError(t, kept.Append(t.Context(), id, 2, "w", moved(3, state, flow.StatePaused)))
			assert.Zero(t, announced(), "%q pauses", state)
			require.NoError(t, kept.Append(t.Context(), id, 3, "w", moved(4, flow.StatePaused, state)))
			assert.Equal(t, works, announced(), "%q is woken", state)
			require.NoError(t, kept.Append(t.Context(), id, 4, "w", append(facts(4, 1), moved(6, state, "thinking")...)))
			assert.Equal(t, 1-works, announced(), "%q goes on", state)
			require.NoError(t, kept.Append(t.Context(), id, 6, "w", facts(6, 1)))
			assert.Zero(t, announced())
			require.NoError(t, kept.Delete(t.Context(), id))
			assert.Zero(t, announced(), "%q is deleted", state)
		}
	})
}

// announcements counts those that the database has made since it was last called.
func (s *storage) announcements(t *testing.T) (count func() int) {
	t.Helper()
	if s.name == "SQLite" {
		db, err := stdsql.Open(s.driver, s.url)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, db.Close()) })
		before := 0
		return func() int {
			n := 0
			require.NoError(t, db.QueryRowContext(t.Context(), `SELECT announced FROM debate_work`).Scan(&n))
			n, before = n-before, n
			return n
		}
	}
	conn, err := pgx.Connect(t.Context(), s.url)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, conn.Close(context.WithoutCancel(t.Context()))) })
	_, err = conn.Exec(t.Context(), `LISTEN debate_work`)
	require.NoError(t, err)
	schema := mustParse(t, s.url).Query().Get("search_path")
	return func() (n int) {
		_, err := conn.Exec(t.Context(), `SELECT pg_notify('debate_work', 'the end of `+schema+`')`)
		require.NoError(t, err)
		for {
			heard, err := conn.WaitForNotification(t.Context())
			require.NoError(t, err)
			switch heard.Payload {
			case schema:
				n++
			case "the end of " + schema:
				return n
			}
		}
	}
}

// A store that waits for work asks the server nothing.
func TestAStoreThatWaitsForWorkRests(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	name := "rests_" + mustParse(t, s.url).Query().Get("search_path")
	kept, err := sql.OpenPostgres(t.Context(), s.url+"&application_name="+name)
	require.NoError(t, err)
	defer func() { assert.NoError(t, kept.Close()) }()
	work := kept.Announce(t.Context())
	<-work // it listens
	other := s.store(t)
	require.NoError(t, other.Append(t.Context(), "a", 0, "w", begun("speaking")))
	<-work

	db, err := stdsql.Open(s.driver, s.url)
	require.NoError(t, err)
	defer func() { assert.NoError(t, db.Close()) }()
	last := func() (begun string) { // of the statements on each connection
		require.NoError(t, db.QueryRowContext(t.Context(), `
			SELECT string_agg(pid || ' ' || query_start, ', ' ORDER BY pid) FROM pg_stat_activity WHERE application_name = $1`, name).Scan(&begun))
		return begun
	}
	eventually(t, func() bool {
		before := last()
		<-time.After(time.Second) // five times the interval of a store that looks
		return last() == before
	})
}

// A connection that listens may get lost. What was announced meanwhile is told once there is another.
func TestAListenerConnectsAgain(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	name := "again_" + mustParse(t, s.url).Query().Get("search_path")
	kept, err := sql.OpenPostgres(t.Context(), s.url+"&application_name="+name)
	require.NoError(t, err)
	defer func() { assert.NoError(t, kept.Close()) }()
	work := kept.Announce(t.Context())
	<-work
	for range 2 {
		s.execute(t, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '`+name+`' AND query = 'LISTEN debate_work'`)
		<-work
	}
}

// A look at a file of SQLite that has not changed.
func BenchmarkLook(b *testing.B) {
	s := newSQLite(b)
	kept := s.store(b)
	look, end := kept.Looker()
	defer end()
	look(b.Context())
	for b.Loop() {
		if look(b.Context()) {
			b.Fatal("nothing has changed")
		}
	}
}

// BenchmarkDue lists the conversations that need a process, among many that do not.
func BenchmarkDue(b *testing.B) {
	const paused, held, due = 20_000, 200, 3
	for _, s := range []*storage{newSQLite(b), newPostgres(b)} {
		b.Run(s.name, func(b *testing.B) {
			kept := s.store(b)
			for i := range paused + held + due {
				state := flow.State("speaking")
				if i < paused {
					state = flow.StatePaused
				}
				id := fmt.Sprintf("%08d", i*7919%1_000_003)
				require.NoError(b, kept.Append(b.Context(), id, 0, "w", begun(state)))
				if i >= paused && i < paused+held {
					require.NoError(b, kept.Lease(b.Context(), id, "me", time.Hour))
				}
			}
			if s.name == "PostgreSQL" {
				s.execute(b, `ANALYZE debate; ANALYZE debate_lease`)
			}
			for b.Loop() {
				require.Len(b, list(b, kept, store.Filter{Working: true, Idle: true}), due, s.name)
			}
		})
	}
}
