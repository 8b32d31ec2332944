package sql_test

import (
	stdsql "database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/sql"
)

// fresh returns an empty database of the same kind.
func (s *storage) fresh(t testing.TB) *storage {
	t.Helper()
	if s.driver == "pgx" {
		return newPostgres(t)
	}
	return newSQLite(t)
}

// tables makes the tables of a version, which may be one that this release does not know, and that a release must know to use them.
func (s *storage) tables(t testing.TB, version, oldest int) {
	t.Helper()
	scripts := sql.Scripts(map[string]string{"pgx": "postgres", "sqlite": "sqlite"}[s.driver])
	db, err := stdsql.Open(s.driver, s.url)
	require.NoError(t, err)
	defer func() { assert.NoError(t, db.Close()) }()
	for n := 1; n <= version; n++ {
		script := newer
		if n <= len(scripts) {
			script = scripts[n-1]
		}
		_, err := db.ExecContext(t.Context(), script)
		require.NoError(t, err)
		record := fmt.Sprintf(`INSERT INTO debate_version (version) VALUES (%d)`, n)
		if n >= len(scripts) {
			record = fmt.Sprintf(`INSERT INTO debate_version (version, oldest) VALUES (%d, %d)`, n, oldest)
		}
		_, err = db.ExecContext(t.Context(), record)
		require.NoError(t, err)
	}
}

// newer is what a later release may do to the tables: it adds to them.
const newer = `
	ALTER TABLE debate ADD COLUMN later bigint NOT NULL DEFAULT 0;
	ALTER TABLE debate_lease ADD COLUMN later text;
	CREATE TABLE debate_later (x bigint)`

// usable reports whether a store can do what a conversation needs.
func usable(t testing.TB, kept *sql.Store) error {
	t.Helper()
	append1 := kept.Append(t.Context(), "a", 0, "w", begun("speaking"))
	lease := kept.Lease(t.Context(), "a", "me", time.Hour)
	append2 := kept.Append(t.Context(), "a", 2, "me", facts(2, 1))
	alarm := kept.SetAlarm(t.Context(), "a", 3, time.Hour)
	release := kept.Release(t.Context(), "a", "me")
	_, read := read(t, kept, "a")
	err := errors.Join(append1, lease, append2, alarm, release, read)
	for info, listed := range kept.List(t.Context(), store.Filter{Labels: map[string]string{"tenant": "blue"}}) {
		err = errors.Join(err, listed)
		if listed == nil {
			assert.Equal(t, int64(3), info.Seq)
		}
	}
	return errors.Join(err, kept.Delete(t.Context(), "a"))
}

// What opening does about the tables that it finds.
func TestMigrateOptions(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		now := s.version()
		older := fmt.Sprintf("the database has version %d, and this release needs %d: run debate migrate --store URL", now-1, now)
		const missing = "tables are missing or older: run debate migrate --store URL, or open the database with MigrateAuto"
		for name, c := range map[string]struct {
			version, oldest int
			how             sql.Migration
			fails           string // "": it can be used
			after           int    // the version
		}{
			"no tables":                   {0, 0, "", "", now},
			"no tables, check":            {0, 0, sql.MigrateCheck, fmt.Sprintf("the database has version 0, and this release needs %d", now), 0},
			"no tables, never":            {0, 0, sql.MigrateNever, missing, 0},
			"older tables":                {now - 1, 1, sql.MigrateAuto, "", now},
			"older tables, check":         {now - 1, 1, sql.MigrateCheck, older, now - 1},
			"older tables, never":         {now - 1, 1, sql.MigrateNever, missing, now - 1},
			"present tables":              {now, 8, sql.MigrateAuto, "", now},
			"present tables, check":       {now, 8, sql.MigrateCheck, "", now},
			"present tables, never":       {now, 8, sql.MigrateNever, "", now},
			"newer tables":                {now + 1, 8, sql.MigrateAuto, "", now + 1},
			"newer tables, check":         {now + 1, 8, sql.MigrateCheck, "", now + 1},
			"newer tables, never":         {now + 1, 8, sql.MigrateNever, "", now + 1},
			"newer broken tables":         {now + 1, now + 1, sql.MigrateAuto, "use a newer release", now + 1},
			"newer broken tables, check":  {now + 1, now + 1, sql.MigrateCheck, "use a newer release", now + 1},
			"a migration that is unknown": {now, 8, "maybe", "maybe", now},
		} {
			t.Run(name, func(t *testing.T) {
				s := s.fresh(t)
				if s.driver == "sqlite" && c.version == 0 {
					s.execute(t, `CREATE TABLE one (x); DROP TABLE one`) // else there is no file
				}
				s.tables(t, c.version, c.oldest)
				kept, err := s.open(t.Context(), sql.Options{Migrate: c.how})
				if err == nil {
					err = usable(t, kept)
					have, know, failed := kept.Version(t.Context())
					require.NoError(t, failed)
					assert.Equal(t, [2]int{c.after, now}, [2]int{have, know})
					require.NoError(t, kept.Close())
				}
				if c.fails == "" {
					require.NoError(t, err)
				} else {
					require.ErrorContains(t, err, c.fails)
				}
				if c.after > 0 {
					assert.Equal(t, c.after, s.count(t, "debate_version"))
				}
			})
		}
	})
}

// A database of a release that this one cannot follow is left alone, and the error has both versions.
func TestADatabaseOfANewerReleaseIsLeftAlone(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		kept := s.store(t)
		s.execute(t, `INSERT INTO debate_version (version, oldest) VALUES (41, 41)`)
		_, err := s.open(t.Context(), sql.Options{})
		var newer *sql.VersionError
		require.ErrorAs(t, err, &newer)
		assert.Equal(t, sql.VersionError{Have: 41, Know: s.version()}, *newer)
		_, _, err = kept.Version(t.Context())
		require.ErrorAs(t, err, &newer)
	})
}

// Only MigrateAuto makes a file.
func TestNoFileIsMadeUnasked(t *testing.T) {
	t.Parallel()
	s := newSQLite(t)
	for _, how := range []sql.Migration{sql.MigrateCheck, sql.MigrateNever} {
		_, err := s.open(t.Context(), sql.Options{Migrate: how})
		require.ErrorIs(t, err, fs.ErrNotExist)
		assert.NoFileExists(t, s.path)
	}
}

// The tables of a release are used by the one before as they are.
func TestTablesOfANewerReleaseConform(t *testing.T) {
	longform.Only(t, "that such tables can be used, by TestMigrateOptions")
	for name, fresh := range map[string]func(testing.TB) *storage{"SQLite": newSQLite, "PostgreSQL": newPostgres} {
		t.Run(name, func(t *testing.T) {
			conforms(t, func(t testing.TB) *storage {
				s := fresh(t)
				s.tables(t, s.version()+1, 8)
				return s
			}, nil)
		})
	}
}

// as returns the URL of the same tables for another role, which may read and write rows and nothing else.
func (s *storage) as(t testing.TB, role, options string) string {
	t.Helper()
	u := mustParse(t, s.url)
	schema := u.Query().Get("search_path")
	role += "_" + schema
	s.execute(t, fmt.Sprintf(`CREATE ROLE %[1]s LOGIN %[3]s; GRANT USAGE ON SCHEMA %[2]s TO %[1]s;
		GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %[2]s TO %[1]s`, role, schema, options))
	u.User = url.User(role)
	return u.String()
}

// A role that may not change tables works on those that another role has made, whatever opening does about them.
func TestARoleThatMayNotChangeTables(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	s.store(t)
	clerk := s.as(t, "clerk", "")
	for _, how := range []sql.Migration{sql.MigrateAuto, sql.MigrateCheck, sql.MigrateNever} {
		kept, err := sql.Options{Migrate: how}.OpenPostgres(t.Context(), clerk)
		require.NoError(t, err, how)
		require.NoError(t, usable(t, kept), how)
		require.NoError(t, kept.Close())
	}
	s.execute(t, "REVOKE SELECT ON debate_version FROM "+mustParse(t, clerk).User.Username())
	_, err := sql.OpenPostgres(t.Context(), clerk)
	require.ErrorContains(t, err, "sql: open: let the owner of the tables grant this role the rights that docs/guides/machines.md lists: ")

	older := newPostgres(t)
	older.tables(t, older.version()-1, 1)
	_, err = sql.OpenPostgres(t.Context(), older.as(t, "clerk", ""))
	require.ErrorContains(t, err, "this role may not change the tables: let their owner run debate migrate --store URL")
	assert.NotContains(t, err.Error(), "grant", "no right to rows is missing")
	assert.Equal(t, older.version()-1, older.count(t, "debate_version"))
}

// A store takes as many connections as it says, and says what is wrong where there are fewer.
func TestConnections(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	s.store(t)
	kept, err := sql.OpenPostgres(t.Context(), s.as(t, "dozen", "CONNECTION LIMIT 12"))
	require.NoError(t, err)
	defer func() { assert.NoError(t, kept.Close()) }()
	<-kept.Announce(t.Context()) // one more connection listens
	var working sync.WaitGroup
	for i := range 60 {
		working.Go(func() {
			id := fmt.Sprint("d", i)
			assert.NoError(t, kept.Append(t.Context(), id, 0, "w", begun("speaking")))
			assert.NoError(t, kept.Lease(t.Context(), id, "me", time.Hour))
			assert.Equal(t, 2, length(t, kept, id))
		})
	}
	working.Wait()

	_, err = sql.OpenPostgres(t.Context(), s.as(t, "single", "CONNECTION LIMIT 1"))
	require.ErrorContains(t, err, "no connection is left: a store takes up to Options.Connections + 4 (12 by default)")
}

// A migration waits while somebody's long transaction has a table. Meanwhile nobody waits for the migration.
func TestAMigrationThatWaits(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	kept := s.store(t)
	require.NoError(t, kept.Append(t.Context(), "a", 0, "w", facts(0, 1)))
	db, err := stdsql.Open("pgx", s.url)
	require.NoError(t, err)
	defer func() { assert.NoError(t, db.Close()) }()
	long, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = long.ExecContext(t.Context(), `LOCK TABLE debate IN ACCESS SHARE MODE`)
	require.NoError(t, err)
	migrated := make(chan error, 1)
	go func() { migrated <- kept.Migrate(t.Context(), `ALTER TABLE debate ADD COLUMN later bigint`) }()
	for range 5 {
		eventually(t, func() bool {
			var waits bool
			assert.NoError(t, db.QueryRowContext(t.Context(), `
				SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND relation = 'debate'::regclass AND mode = 'AccessExclusiveLock'`).Scan(&waits))
			return waits
		})
		assert.Equal(t, 1, length(t, kept, "a"))
	}
	require.NoError(t, long.Rollback())
	require.NoError(t, <-migrated)
}

// What a later release does to a database of this one: each script runs once, together with the number
// of its version, or not at all.
func TestMigration(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		kept := s.store(t)
		require.NoError(t, kept.Append(t.Context(), "a", 0, "w", facts(0, 1)))
		err := kept.Migrate(t.Context(), `CREATE TABLE debate_next (x bigint)`, `CREATE TABLE debate_after (x bigint); nonsense`)
		require.ErrorContains(t, err, fmt.Sprint("migration to version ", s.version()+2))
		assert.Equal(t, s.version(), s.count(t, "debate_version"), "all of it or nothing")

		scripts := []string{`CREATE TABLE debate_next (x bigint); INSERT INTO debate_next VALUES (1)`, `INSERT INTO debate_next VALUES (2)`}
		require.NoError(t, kept.Migrate(t.Context(), scripts[0]))
		var migrating sync.WaitGroup
		for range 4 {
			migrating.Go(func() { assert.NoError(t, kept.Migrate(t.Context(), scripts...)) })
		}
		migrating.Wait()
		assert.Equal(t, s.version()+2, s.count(t, "debate_version"))
		assert.Equal(t, 2, s.count(t, "debate_next"))
		assert.Equal(t, 1, length(t, kept, "a"))
		assert.Equal(t, 1, length(t, s.store(t), "a"), "this release can use the tables of that one")
	})
}
