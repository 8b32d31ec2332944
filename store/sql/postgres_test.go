package sql_test

import (
	stdsql "database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/sql"
)

// A row that somebody keeps locked stops the debate that it belongs to, and none of the others.
func TestALockedDebateStopsNoOther(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	kept := s.store(t)
	const debates = 12
	for i := range debates {
		require.NoError(t, kept.Append(t.Context(), fmt.Sprint("d", i), 0, "w", facts(0, 1)))
	}
	db, err := stdsql.Open(s.driver, s.url)
	require.NoError(t, err)
	defer func() { assert.NoError(t, db.Close()) }()
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(t.Context(), `SELECT 1 FROM debate WHERE id IN ('d3', 'd4', 'd5') FOR UPDATE`)
	require.NoError(t, err)
	var free, locked sync.WaitGroup
	for i := range debates {
		writing := &free
		if i >= 3 && i <= 5 {
			writing = &locked
		}
		writing.Go(func() {
			for after := int64(1); after < 6; after++ {
				assert.NoError(t, kept.Append(t.Context(), fmt.Sprint("d", i), after, "w", facts(after, 1)))
			}
		})
	}
	free.Wait() // while the rows are locked
	assert.Equal(t, 1, length(t, kept, "d3"))
	require.NoError(t, tx.Rollback())
	locked.Wait()
	for i := range debates {
		assert.Equal(t, 6, length(t, kept, fmt.Sprint("d", i)))
	}
}

// Whoever waited for another one's migration sees it, whatever level the host has chosen.
func TestMigrationsAtAnyIsolation(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"repeatable read", "serializable"} {
		for range 3 {
			u := mustParse(t, newSchema(t))
			query := u.Query()
			query.Set("default_transaction_isolation", level)
			u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
			var opening sync.WaitGroup
			for range 6 {
				opening.Go(func() {
					s, err := sql.OpenPostgres(t.Context(), u.String())
					if assert.NoError(t, err, level) {
						assert.NoError(t, s.Close())
					}
				})
			}
			opening.Wait()
		}
	}
}

// A transaction that is broken off because of others is tried again, whatever it does.
func TestLeasesAndDeletionsAreTriedAgain(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	kept := s.store(t)
	require.NoError(t, kept.Append(t.Context(), "a", 0, "w", facts(0, 1)))
	s.execute(t, `CREATE SEQUENCE faults`) // which no rollback sets back
	s.execute(t, `CREATE FUNCTION fault() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF nextval('faults') % 3 <> 0 THEN RAISE EXCEPTION 'somebody was in the way' USING ERRCODE = '40P01'; END IF;
		RETURN coalesce(new, old);
	END $$`)
	s.execute(t, `CREATE TRIGGER fault BEFORE INSERT OR DELETE ON debate_lease FOR EACH ROW EXECUTE FUNCTION fault()`)
	require.NoError(t, kept.Lease(t.Context(), "a", "me", time.Minute))
	require.NoError(t, kept.Release(t.Context(), "a", "me"))
	require.NoError(t, kept.Lease(t.Context(), "a", "me", time.Minute))
	require.NoError(t, kept.Delete(t.Context(), "a"))
	assert.Empty(t, list(t, kept, store.Filter{}))
}

func TestNoErrorShowsAnyPartOfAPassword(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"host=h password = hunter2 port=abc",
		`host=h password='it\'s hunter2' port=abc`,
		"host=h password=it is hunter2 port=abc",
		"host=h sslpassword=hunter2 port=abc",
		"postgres://u:hunter2%zz@h/db",
		"postgres://u:pass/hunter2@h:x/db",
		"postgres://u@h/db?password=hunter2&port=abc",
		" postgres://u:hunter2@h/db",
	} {
		_, err := sql.OpenPostgres(t.Context(), url)
		require.ErrorContains(t, err, "the URL cannot be read: ", url)
		assert.NotContains(t, fmt.Sprintf("%+v", err), "hunter2", url)
	}
	_, err := sql.OpenPostgres(t.Context(), "host=h password=hunter2 port=abc")
	assert.EqualError(t, err, "sql: open: the URL cannot be read: invalid port")
}
