package sql_test

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/postgres"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/sql"
)

// lines keeps the lines of a logger.
type lines struct{ texts }

func (l *lines) Write(line []byte) (int, error) {
	l.add(string(line))
	return len(line), nil
}

// A store recognises a pooler, whether that refuses settings or swallows them. It then changes no session, which may be another client's
// next, and cancels no statement.
func TestAPooler(t *testing.T) {
	t.Parallel()
	for _, settings := range []string{"refuse", "swallow"} {
		t.Run(settings, func(t *testing.T) {
			t.Parallel()
			s := newPostgres(t)
			w := newWire(t, s.url, settings)
			w.deaf.Store(true)
			log := &lines{}
			kept, err := sql.Options{Logger: slog.New(slog.NewTextHandler(log, nil))}.OpenPostgres(t.Context(), w.url)
			require.NoError(t, err)
			defer func() { assert.NoError(t, kept.Close()) }()
			require.Len(t, log.list(), 1)
			assert.Contains(t, log.list()[0], "the URL goes to a pooler")

			watch, announced := kept.Watch(t.Context(), "other"), kept.Announce(t.Context())
			require.NoError(t, usable(t, kept))
			<-announced // what it appends itself it announces
			other := s.store(t)
			require.NoError(t, other.Append(t.Context(), "other", 0, "w", begun("speaking")))
			<-watch
			var appending sync.WaitGroup
			for i := range 40 {
				appending.Go(func() {
					id := fmt.Sprint("d", i)
					assert.NoError(t, kept.Append(t.Context(), id, 0, "w", begun("speaking")))
					assert.NoError(t, kept.Append(t.Context(), id, 2, "w", facts(2, 1)))
					assert.Equal(t, 3, length(t, kept, id))
				})
			}
			appending.Wait()
			require.ErrorIs(t, kept.Append(t.Context(), "d1", 2, "other", facts(2, 1)), flow.ErrConflict)

			release := s.block(t)
			impatient, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			for _, err := range kept.Read(impatient, "d1", 0) {
				require.ErrorIs(t, err, context.DeadlineExceeded)
			}
			release()
			assert.Equal(t, 3, length(t, kept, "d1"))
			assert.Zero(t, w.cancels.Load())
			assert.Empty(t, w.lasting.list())

			_, err = sql.OpenBus(t.Context(), w.url)
			assert.ErrorContains(t, err, "this URL goes to a pooler, which passes no notifications on: use the server's own")
		})
	}
}

// A server's own URL is taken as it is: statements are prepared, notifications are heard, and one that is waited for no longer is canceled.
func TestNoPooler(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	w := newWire(t, s.url, "")
	log := &lines{}
	kept, err := sql.Options{Logger: slog.New(slog.NewTextHandler(log, nil))}.OpenPostgres(t.Context(), w.url)
	require.NoError(t, err)
	defer func() { assert.NoError(t, kept.Close()) }()
	require.NoError(t, usable(t, kept))
	require.NoError(t, kept.Append(t.Context(), "a", 0, "w", facts(0, 1)))
	assert.Empty(t, log.list())
	for _, lasts := range w.lasting.list() {
		assert.NotContains(t, lasts, "SET ", "settings are what a connection begins with")
	}
	assert.NotEmpty(t, w.lasting.list())
	release := s.block(t)
	impatient, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for _, err := range kept.Read(impatient, "a", 0) {
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
	release()
	eventually(t, func() bool { return w.cancels.Load() > 0 })
}

// A server that accepts no changes is refused.
func TestAServerThatIsReadOnly(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	_, err := sql.OpenPostgres(t.Context(), s.url+"&default_transaction_read_only=on")
	require.ErrorIs(t, err, sql.ErrReadOnly)
	assert.ErrorContains(t, err, "target_session_attrs=read-write")
}

// newPooler starts PgBouncer before the shared server, for as long as the test runs.
func newPooler(t *testing.T) *postgres.Pooler {
	t.Helper()
	newSchema(t) // starts the server
	pooler, err := shared.server.Pooler(t.Context())
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, pooler.Stop()) })
	return pooler
}

// Fifteen other programs have their sessions by the same pooler. A store changes none of the server's settings for them, and leaves nothing
// that listens.
func TestNeighboursBehindAPooler(t *testing.T) {
	longform.Only(t, "that a store changes no session behind a pooler, by TestAPooler")
	u, err := newPooler(t).URL(newDatabase(t))
	require.NoError(t, err)
	kept, err := sql.OpenPostgres(t.Context(), u)
	require.NoError(t, err)
	defer func() { assert.NoError(t, kept.Close()) }()
	kept.Watch(t.Context(), "d1")
	working, stop := context.WithCancel(t.Context())
	defer stop()
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			id := fmt.Sprint("d", i)
			for after := int64(0); working.Err() == nil; after++ {
				assert.NoError(t, kept.Append(t.Context(), id, after, "w", facts(after, 1)))
				assert.NoError(t, kept.Lease(t.Context(), id, "me", time.Minute))
				reading, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				for _, err := range kept.List(reading, store.Filter{Text: "x"}) {
					_ = err // its time may be over
					break
				}
				cancel()
			}
		})
	}
	db, err := stdsql.Open("pgx", u+"&default_query_exec_mode=exec")
	require.NoError(t, err)
	defer func() { assert.NoError(t, db.Close()) }()
	db.SetMaxOpenConns(15)
	var seen texts
	var neighbours sync.WaitGroup
	for range 15 {
		neighbours.Go(func() {
			for range 100 {
				var setting string
				err := db.QueryRowContext(t.Context(), `SELECT concat_ws(' ', current_setting('lock_timeout'),
					current_setting('idle_in_transaction_session_timeout'), current_setting('enable_seqscan'), current_setting('plan_cache_mode'),
					current_setting('default_transaction_isolation'), current_setting('synchronous_commit'),
					(SELECT count(*) FROM pg_listening_channels()))`).Scan(&setting)
				if assert.NoError(t, err) {
					seen.add(setting)
				}
			}
		})
	}
	neighbours.Wait()
	stop()
	group.Wait()
	all := seen.list()
	require.Len(t, all, 1500)
	for _, setting := range all {
		require.Equal(t, "0 0 on auto read committed on 0", setting)
	}
}

// After a failover, the store drops its connections to what has become a standby, and finds the primary.
func TestFailover(t *testing.T) {
	longform.Only(t, "that a server which is read-only is refused, by TestAServerThatIsReadOnly")
	primary, err := postgres.Start(t.Context())
	started(t, primary, err)
	t.Cleanup(func() { assert.NoError(t, primary.Stop()) })
	database, err := primary.Database(t.Context())
	require.NoError(t, err)
	standby, err := primary.Standby(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, standby.Stop()) })
	there, err := standby.URL(database)
	require.NoError(t, err)

	_, err = sql.OpenPostgres(t.Context(), there)
	require.ErrorIs(t, err, sql.ErrReadOnly)

	u := mustParse(t, database)
	query := u.Query()
	query.Set("host", query.Get("host")+","+mustParse(t, there).Query().Get("host"))
	query.Set("port", query.Get("port")+","+query.Get("port"))
	query.Set("target_session_attrs", "read-write")
	u.RawQuery = query.Encode()
	kept, err := sql.OpenPostgres(t.Context(), u.String())
	require.NoError(t, err)
	defer func() { assert.NoError(t, kept.Close()) }()
	require.NoError(t, kept.Append(t.Context(), "a", 0, "w", facts(0, 1)))

	eventually(t, func() bool { // the standby has it
		db, err := stdsql.Open("pgx", there)
		require.NoError(t, err)
		defer func() { assert.NoError(t, db.Close()) }()
		n := 0
		return db.QueryRowContext(t.Context(), `SELECT count(*) FROM debate`).Scan(&n) == nil && n == 1
	})
	require.NoError(t, primary.Kill())
	execute(t, "pgx", there, `SELECT pg_promote()`)
	eventually(t, func() bool { return kept.Append(t.Context(), "a", 1, "w", facts(1, 1)) == nil })
	assert.Equal(t, 2, length(t, kept, "a"))

	// The new primary accepts no changes for a while, but its connections stay: the first one tells so, and none is used again.
	lease := func() error { return kept.Lease(t.Context(), "a", "me", time.Minute) }
	connected := func() (last string) {
		db, err := stdsql.Open("pgx", there)
		require.NoError(t, err)
		defer func() { assert.NoError(t, db.Close()) }()
		require.NoError(t, db.QueryRowContext(t.Context(), `SELECT coalesce(string_agg(pid::text, ' ' ORDER BY pid), '') FROM pg_stat_activity
			WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`).Scan(&last))
		return last
	}
	require.NoError(t, lease())
	before := connected()
	require.NotEmpty(t, before)
	mayChange := there + "&default_transaction_read_only=off"
	execute(t, "pgx", mayChange, `ALTER SYSTEM SET default_transaction_read_only = on`)
	execute(t, "pgx", mayChange, `SELECT pg_reload_conf()`)
	eventually(t, func() bool { return errors.Is(lease(), sql.ErrReadOnly) })
	execute(t, "pgx", mayChange, `ALTER SYSTEM RESET default_transaction_read_only`)
	execute(t, "pgx", mayChange, `SELECT pg_reload_conf()`)
	eventually(t, func() bool { return lease() == nil })
	require.NoError(t, kept.Append(t.Context(), "a", 2, "w", facts(2, 1)))
	after := " " + connected() + " "
	for pid := range strings.FieldsSeq(before) {
		assert.NotContains(t, after, " "+pid+" ")
	}
}
