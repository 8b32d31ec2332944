package sql_test

import (
	"context"
	stdsql "database/sql"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/sql"
	"github.com/agonist-dev/debate/store/storetest"
)

func TestSQLiteConforms(t *testing.T) { conforms(t, newSQLite, nil) }

// All checks have the tables of one schema, one after the other, and in the short form handles that are closed are opened again as they
// are: to make tables and connections takes longer than most checks.
func TestPostgresConforms(t *testing.T) {
	s := newPostgres(t)
	s.store(t) // makes the tables
	db, err := stdsql.Open(s.driver, s.url)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	var lent func(t testing.TB) store.Store
	var closed []*sql.Store
	if all := t; !longform.Asked() {
		lent = func(t testing.TB) store.Store {
			if len(closed) == 0 {
				closed = append(closed, s.store(all))
			}
			last := len(closed) - 1
			one := closed[last]
			closed = closed[:last]
			t.Cleanup(func() {
				if _, err := one.Time(context.Background()); !errors.Is(err, sql.ErrClosed) { // else a check has closed it itself
					closed = append(closed, one)
				}
			})
			return one
		}
	}
	conforms(t, func(t testing.TB) *storage {
		_, err := db.ExecContext(t.Context(), emptied)
		require.NoError(t, err)
		return s
	}, lent)
}

// Behind PgBouncer, each transaction may have another connection of the server, and nobody hears of what was announced.
func TestPostgresBehindAPoolerConforms(t *testing.T) {
	longform.Only(t, "the same suite without a pooler, by TestPostgresConforms")
	pooler := newPooler(t)
	var s *storage // of the check that runs
	conforms(t, func(t testing.TB) *storage {
		database, err := shared.server.Database(t.Context())
		require.NoError(t, err)
		u, err := pooler.URL(database)
		require.NoError(t, err)
		open := func(ctx context.Context, options sql.Options) (*sql.Store, error) {
			return options.OpenPostgres(ctx, u)
		}
		s = &storage{name: "PgBouncer", driver: "pgx", url: u, open: open}
		return s
	}, func(t testing.TB) store.Store { return deaf{s.store(t), nil} })
}

// deaf is a store that announces nothing: it has Announce twice, and so not at all.
type deaf struct {
	*sql.Store
	store.Announcer
}

// emptied empties all tables of conversations. To truncate one, which makes new files, takes longer than to delete a few rows.
const emptied = `DO $$ DECLARE one regclass; BEGIN
	FOR one IN SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname <> 'debate_version' LOOP
		IF pg_table_size(one) > 1000000 THEN
			EXECUTE 'TRUNCATE ' || one;
		ELSE
			EXECUTE 'DELETE FROM ' || one;
		END IF;
	END LOOP;
END $$`

// conforms runs the suite. lent opens handles; nil: they are opened as ever.
func conforms(t *testing.T, fresh func(t testing.TB) *storage, lent func(t testing.TB) store.Store) {
	t.Helper()
	t.Parallel()
	storetest.Run(t, func(t testing.TB) storetest.Storage {
		s := fresh(t)
		storage := storetest.Storage{
			Open: func(t testing.TB) store.Store {
				if lent != nil {
					return lent(t)
				}
				return s.store(t)
			},
			Damage: func(t testing.TB, id string) { s.execute(t, "UPDATE debate SET about = '{' WHERE id = '"+id+"'") },
		}
		if s.path != "" {
			storage.Holds = s.holds
		}
		return storage
	})
}
