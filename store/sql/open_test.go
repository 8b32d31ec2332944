package sql_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/sql"
)

// A log holds a debate's secret seed, and whatever was said.
func TestTheFileIsForItsOwnerAlone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("files have no such modes here")
	}
	dir := t.TempDir()
	s, err := sql.OpenSQLite(t.Context(), filepath.Join(dir, "debates.db"))
	require.NoError(t, err)
	require.NoError(t, s.Append(t.Context(), "a", 0, "w", facts(0, 1)))
	for _, file := range []string{"debates.db", "debates.db-wal", "debates.db-shm"} {
		info, err := os.Stat(filepath.Join(dir, file))
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode(), file)
	}
	require.NoError(t, s.Close())
	assert.NoFileExists(t, filepath.Join(dir, "debates.db-wal"), "a closed database is one file")
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := sql.OpenSQLite(t.Context(), filepath.Join(dir, "none", "debates.db"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = sql.OpenSQLite(t.Context(), dir)
	require.Error(t, err)

	other := filepath.Join(dir, "other")
	require.NoError(t, os.WriteFile(other, []byte("This is a text about cars, and it is long enough to be mistaken for nothing else."), 0o600))
	_, err = sql.OpenSQLite(t.Context(), other)
	require.ErrorContains(t, err, "not a database")

	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = sql.OpenSQLite(canceled, filepath.Join(dir, "debates.db"))
	require.ErrorIs(t, err, context.Canceled)
	_, err = sql.OpenPostgres(canceled, "postgres://127.0.0.1:1/debates")
	require.Error(t, err)
}

func TestNoErrorShowsThePassword(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"postgres://user:canary@127.0.0.1:1/debates?connect_timeout=2",
		"postgres://user:canary@127.0.0.1:port/debates",
		"postgres://user:canary@127.0.0.1:1/debates?sslmode=x&connect_timeout=x",
		"host=127.0.0.1 port=1 password=canary user=user",
		"host=127.0.0.1 port=none password=canary",
	} {
		_, err := sql.OpenPostgres(t.Context(), url)
		require.Error(t, err)
		assert.NotContains(t, err.Error(), "canary")
	}
}

func TestADatabaseMustKeepEveryText(t *testing.T) {
	t.Parallel()
	newPostgres(t)
	execute(t, "pgx", shared.url, `DROP DATABASE IF EXISTS latin`)
	execute(t, "pgx", shared.url, `CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0`)
	config := *mustParse(t, shared.url)
	config.Path = "/latin"
	_, err := sql.OpenPostgres(t.Context(), config.String())
	assert.ErrorContains(t, err, "LATIN1")
}

// Whoever comes first makes the tables, whoever comes later waits.
func TestManyOpenAnEmptyDatabaseAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		var opening sync.WaitGroup
		for i := range 6 {
			opening.Go(func() {
				kept, err := s.open(t.Context(), sql.Options{Connections: 1})
				if !assert.NoError(t, err) {
					return
				}
				assert.NoError(t, kept.Append(t.Context(), fmt.Sprint("d", i), 0, "w", facts(0, 1)))
				assert.NoError(t, kept.Close())
			})
		}
		opening.Wait()
		assert.Len(t, list(t, s.store(t), store.Filter{}), 6)
		assert.Equal(t, s.version(), s.count(t, "debate_version"))
	})
}

// A database that version 1 has written is read and continued.
func TestVersion1(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		script, err := os.ReadFile(map[string]string{
			"SQLite": "testdata/version1.sqlite.sql", "PostgreSQL": "testdata/version1.postgres.sql",
		}[s.name])
		require.NoError(t, err)
		s.execute(t, string(script))
		kept := s.store(t)
		begun := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
		assert.Equal(t, []store.Info{{
			ID: "kept", State: flow.StateInitializing, Topic: "Should cities ban cars from their centres?",
			Labels: map[string]string{"tenant": "blue"}, Round: 1, Seq: 4, StartedAt: begun, LastAt: begun.Add(2 * time.Second),
		}}, list(t, kept, store.Filter{Labels: map[string]string{"tenant": "blue"}, Idle: true, Text: "it's QUIETER"}))
		events, err := read(t, kept, "kept")
		require.NoError(t, err)
		require.Len(t, events, 4)
		assert.Equal(t, "5eed", body.As[flow.Start](events[0]).Seed)
		assert.Equal(t, "Yes: it's quieter.", body.As[flow.Turn](events[3]).Text)
		require.ErrorIs(t, kept.Append(t.Context(), "kept", 2, "other", facts(2, 2)), flow.ErrConflict)
		require.NoError(t, kept.Append(t.Context(), "kept", 4, "w", facts(4, 1)))
		require.NoError(t, kept.Append(t.Context(), "another", 0, "w", facts(0, 1)))
		assert.Equal(t, 5, length(t, kept, "kept"))
		require.NoError(t, kept.Delete(t.Context(), "kept"))
		assert.Equal(t, []string{"another"}, names(list(t, kept, store.Filter{})))
	})
}

// The file of another program gets no tables, no log beside it, and no byte more.
func TestTheFileOfAnotherProgramIsLeftAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		want   sql.ForeignError
	}{
		"table": {`CREATE TABLE albums (name TEXT); CREATE INDEX a ON albums (name)`, sql.ForeignError{Table: "albums"}},
		"id":    {`PRAGMA application_id = 42`, sql.ForeignError{Application: 42}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "other.db")
			execute(t, "sqlite", path, c.script)
			before, err := os.ReadFile(path)
			require.NoError(t, err)
			_, err = sql.OpenSQLite(t.Context(), path)
			var foreign *sql.ForeignError
			require.ErrorAs(t, err, &foreign)
			assert.Equal(t, c.want, *foreign)
			assert.ErrorContains(t, err, "belongs to another program")
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, before, after)
			files, err := os.ReadDir(filepath.Dir(path))
			require.NoError(t, err)
			assert.Len(t, files, 1)
		})
	}
}

func TestADamagedFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "debates.db")
	kept, err := sql.OpenSQLite(t.Context(), path)
	require.NoError(t, err)
	require.NoError(t, kept.Append(t.Context(), "a", 0, "w", facts(0, 1)))
	require.NoError(t, kept.Close())
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	for i := 100; i < 4096; i++ { // the schema
		data[i] ^= 0x5a
	}
	require.NoError(t, os.WriteFile(path, data, 0o600))
	_, err = sql.OpenSQLite(t.Context(), path)
	require.ErrorIs(t, err, sql.ErrDamaged)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, data, after, "what can be recovered of it stays")
}

func TestWhatTheOptionsSay(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		kept, err := s.open(t.Context(), sql.Options{Connections: 1, Timeout: time.Minute, Poll: time.Millisecond})
		require.NoError(t, err)
		defer func() { assert.NoError(t, kept.Close()) }()
		require.NoError(t, kept.Append(t.Context(), "a", 0, "w", facts(0, 3)))
		// A reader who does something else meanwhile holds no connection.
		for _, err := range kept.Read(t.Context(), "a", 0) {
			require.NoError(t, err)
			assert.Empty(t, list(t, kept, store.Filter{Text: "x"}))
			require.NoError(t, kept.Lease(t.Context(), "a", "me", time.Minute))
		}
		for info, err := range kept.List(t.Context(), store.Filter{}) {
			require.NoError(t, err)
			assert.Equal(t, 3, length(t, kept, info.ID))
		}
	})
}

func TestAClosedStore(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		kept := s.store(t)
		require.NoError(t, kept.Append(t.Context(), "a", 0, "w", facts(0, 1)))
		require.NoError(t, kept.Close())
		require.NoError(t, kept.Close())
		require.ErrorIs(t, kept.Append(t.Context(), "a", 1, "w", facts(1, 1)), sql.ErrClosed)
		require.ErrorIs(t, kept.SetAlarm(t.Context(), "a", 1, time.Minute), sql.ErrClosed)
		_, err := kept.CountStates(t.Context(), store.Filter{})
		require.ErrorIs(t, err, sql.ErrClosed)
		_, _, err = kept.Version(t.Context())
		require.ErrorIs(t, err, sql.ErrClosed)
		require.ErrorIs(t, err, fs.ErrClosed, "a worker does not wait for it")
		_, err = read(t, kept, "a")
		require.ErrorIs(t, err, sql.ErrClosed)
		for _, filter := range []store.Filter{{}, {Text: "x"}, {Due: true}} {
			for _, err := range kept.List(t.Context(), filter) {
				require.ErrorIs(t, err, sql.ErrClosed)
			}
		}
		require.ErrorIs(t, kept.Lease(t.Context(), "a", "me", time.Minute), sql.ErrClosed)
		require.ErrorIs(t, kept.Release(t.Context(), "a", "me"), sql.ErrClosed)
		require.ErrorIs(t, kept.Delete(t.Context(), "a"), sql.ErrClosed)
		require.ErrorIs(t, kept.Vacuum(t.Context()), sql.ErrClosed)
		require.ErrorIs(t, kept.UpdateLimit(t.Context(), "a", func(v []byte, _ time.Time) []byte { return v }), sql.ErrClosed)
		require.ErrorIs(t, kept.SetQuarantine(t.Context(), "a", store.Quarantine{Count: 1}), sql.ErrClosed)
		_, err = kept.Quarantine(t.Context(), "a")
		require.ErrorIs(t, err, sql.ErrClosed)
		require.ErrorIs(t, kept.PutBlob(t.Context(), "a", flow.HashOf([]byte("b")), []byte("b")), sql.ErrClosed)
		_, err = kept.Blob(t.Context(), "a", flow.HashOf([]byte("b")))
		require.ErrorIs(t, err, sql.ErrClosed)
		<-kept.Watch(t.Context(), "a") // whoever watches is told to look
		assert.Equal(t, 1, length(t, s.store(t), "a"))
	})
}

// What was asked for before Close is done, by whomever.
func TestCloseWritesWhatWaits(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		for round, appends := range []int{1, 20} {
			kept := s.store(t)
			release := s.block(t)
			var appending sync.WaitGroup
			for i := range appends {
				appending.Go(func() {
					assert.NoError(t, kept.Append(t.Context(), fmt.Sprint("d", round, "-", i), 0, "w", facts(0, 1)))
				})
			}
			eventually(t, func() bool { return kept.Waiting() == appends })
			closed := make(chan error, 1)
			go func() { closed <- kept.Close() }()
			eventually(t, func() bool {
				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				defer cancel()
				return errors.Is(kept.Append(ctx, "late", 0, "w", facts(0, 1)), sql.ErrClosed)
			})
			assert.Empty(t, closed, "it is not closed while something is being written")
			release()
			require.NoError(t, <-closed)
			appending.Wait()
		}
		assert.Len(t, list(t, s.store(t), store.Filter{}), 21)
	})
}
