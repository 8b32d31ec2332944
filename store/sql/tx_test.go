package sql_test

import (
	"context"
	stdsql "database/sql"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/sql"
)

// host is a host program on the same database, which may look for its tables elsewhere.
type host struct {
	*storage

	native bool // it uses pgx, and not package database/sql
}

// eachHost runs a test with each kind of host.
func eachHost(t *testing.T, test func(t *testing.T, h *host)) {
	t.Helper()
	t.Parallel()
	for name, c := range map[string]struct {
		fresh  func(t testing.TB) *storage
		native bool
	}{
		"SQLite": {newSQLite, false}, "PostgreSQL": {newPostgres, false}, "PostgreSQL, by pgx": {newPostgres, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, &host{c.fresh(t), c.native})
		})
	}
}

// begin begins a transaction.
func (h *host) begin(t *testing.T) (tx sql.Tx, commit, rollback func() error) {
	t.Helper()
	if h.native {
		conn, err := pgx.Connect(t.Context(), shared.url)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, conn.Close(context.WithoutCancel(t.Context()))) })
		tx, err := conn.Begin(t.Context())
		require.NoError(t, err)
		return sql.Tx{Pgx: tx}, func() error { return tx.Commit(t.Context()) }, func() error { return tx.Rollback(t.Context()) }
	}
	name := h.url + "?_pragma=busy_timeout(10000)&_txlock=immediate"
	if h.driver == "pgx" {
		name = shared.url
	}
	db, err := stdsql.Open(h.driver, name)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	own, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	return sql.Tx{SQL: own}, own.Commit, own.Rollback
}

// answer runs a query of one text in a transaction of either kind.
func answer(t *testing.T, tx sql.Tx, query string) (got string) {
	t.Helper()
	if tx.Pgx != nil {
		require.NoError(t, tx.Pgx.QueryRow(t.Context(), query).Scan(&got))
	} else {
		require.NoError(t, tx.SQL.QueryRowContext(t.Context(), query).Scan(&got))
	}
	return got
}

// settled returns what may not change in a host's transaction.
func (h *host) settled(t *testing.T, tx sql.Tx) string {
	t.Helper()
	if h.driver == "pgx" {
		return answer(t, tx, `SELECT current_setting('search_path')`)
	}
	return answer(t, tx, `SELECT 'none'`)
}

// submitter returns an engine, with a store whose jobs go into a table.
func (h *host) submitter(t *testing.T, woken func(tx sql.Tx) error) (*debate.Engine, *sql.Store) {
	t.Helper()
	engine, _ := stage.Engine(stage.Illustrated())
	kept, err := h.open(t.Context(), sql.Options{OnWake: func(ctx context.Context, tx sql.Tx, info store.Info) error {
		const insert = `INSERT INTO job (id) VALUES ($1)`
		var err error
		if tx.Pgx != nil {
			_, err = tx.Pgx.Exec(ctx, insert, info.ID)
		} else {
			_, err = tx.SQL.ExecContext(ctx, insert, info.ID)
		}
		return errors.Join(err, woken(tx))
	}})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, kept.Close()) })
	h.execute(t, `CREATE TABLE job (id text NOT NULL)`)
	engine.Store = kept
	return engine, kept
}

// A conversation that is submitted in a transaction exists with its files and its job if and only if that is committed.
func TestSubmitTx(t *testing.T) {
	eachHost(t, func(t *testing.T, h *host) {
		var woken []sql.Tx
		engine, kept := h.submitter(t, func(tx sql.Tx) error {
			woken = append(woken, tx)
			return nil
		})
		config := stage.Illustrated()
		for _, commits := range []bool{false, true} {
			tx, commit, rollback := h.begin(t)
			path := h.settled(t, tx)
			id, err := sql.SubmitTx(t.Context(), tx, engine, config)
			require.NoError(t, err)
			assert.Equal(t, "illustrated", id)
			require.NotEmpty(t, woken)
			assert.Equal(t, tx, woken[len(woken)-1])
			assert.Equal(t, path, h.settled(t, tx))
			_, err = kept.Describe(t.Context(), id)
			require.ErrorIs(t, err, flow.ErrNotFound, "it is not committed")
			if !commits {
				require.NoError(t, rollback())
				_, err = kept.Describe(t.Context(), id)
				require.ErrorIs(t, err, flow.ErrNotFound)
				_, err = kept.Blob(t.Context(), id, flow.HashOf(stage.PNG))
				require.ErrorIs(t, err, flow.ErrNoFile)
				assert.Zero(t, h.count(t, "job"))
				assert.Zero(t, h.count(t, "debate_lease"))
				continue
			}
			require.NoError(t, commit())
		}
		data, err := kept.Blob(t.Context(), "illustrated", flow.HashOf(stage.PNG))
		require.NoError(t, err)
		assert.Equal(t, stage.PNG, data)
		assert.Equal(t, 1, h.count(t, "job"))
		assert.Zero(t, h.count(t, "debate_lease"))

		// Whoever does not know whether that has succeeded does it again. Nothing happens twice.
		tx, commit, _ := h.begin(t)
		id, err := sql.SubmitTx(t.Context(), tx, engine, config)
		require.NoError(t, err)
		assert.Equal(t, "illustrated", id)
		other := config
		other.Topic = "Something else"
		_, err = sql.SubmitTx(t.Context(), tx, engine, other)
		var conflict *flow.Error
		require.ErrorAs(t, err, &conflict)
		assert.Equal(t, provider.KindConflict, conflict.Kind)
		other.ID = "another"
		_, err = sql.SubmitTx(t.Context(), tx, engine, other)
		require.NoError(t, err, "the transaction goes on")
		require.NoError(t, commit())
		assert.Equal(t, []string{"another", "illustrated"}, names(list(t, kept, store.Filter{Due: true})))
		assert.Equal(t, 2, h.count(t, "job"))

		session, err := engine.Open(t.Context(), "illustrated")
		require.NoError(t, err)
		_, err = session.Wait(t.Context())
		require.NoError(t, err)
		require.NoError(t, engine.Shutdown(t.Context()))
	})
}

// What fails leaves nothing in the transaction, which goes on, and is not tried again.
func TestASubmitTxThatFails(t *testing.T) {
	eachHost(t, func(t *testing.T, h *host) {
		called := 0
		engine, kept := h.submitter(t, func(sql.Tx) error {
			called++
			return errNoRoom
		})
		tx, commit, _ := h.begin(t)
		path := h.settled(t, tx)
		_, err := sql.SubmitTx(t.Context(), tx, engine, stage.Illustrated())
		require.ErrorIs(t, err, errNoRoom)
		assert.Equal(t, 1, called)
		assert.Equal(t, path, h.settled(t, tx))
		wrong := stage.Illustrated()
		wrong.Participants = nil
		_, err = sql.SubmitTx(t.Context(), tx, engine, wrong)
		require.Error(t, err)
		assert.Equal(t, path, h.settled(t, tx))
		require.NoError(t, commit())
		assert.Empty(t, list(t, kept, store.Filter{}))
		assert.Zero(t, h.count(t, "job"))
		assert.Zero(t, h.count(t, "debate_blob"))
	})
}

// forestalled is a store in which somebody else begins the conversation right before this engine does.
type forestalled struct {
	*sql.Store

	before func()
}

func (f *forestalled) Append(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
	f.before()
	return f.Store.Append(ctx, id, after, writer, events)
}

// A conversation that somebody else begins meanwhile is a conflict. It takes nothing from the transaction. SQLite has one writer: there
// nobody else can.
func TestSomebodyElseSubmits(t *testing.T) {
	t.Parallel()
	for _, native := range []bool{false, true} {
		h := &host{newPostgres(t), native}
		engine, kept := h.submitter(t, func(sql.Tx) error { return nil })
		engine.Store = &forestalled{kept, func() {
			assert.NoError(t, kept.Append(t.Context(), "illustrated", 0, "other", begun("speaking")))
		}}
		tx, commit, _ := h.begin(t)
		_, err := sql.SubmitTx(t.Context(), tx, engine, stage.Illustrated())
		var conflict *flow.Error
		require.ErrorAs(t, err, &conflict)
		assert.Equal(t, provider.KindConflict, conflict.Kind)
		assert.Equal(t, "1", answer(t, tx, `SELECT '1'`))
		require.NoError(t, commit())
		assert.Equal(t, 2, length(t, kept, "illustrated"))
		assert.Zero(t, h.count(t, "debate_blob"))
		assert.Equal(t, 1, h.count(t, "job"), "that of the other")
	}
}

// A transaction suits the store, or is refused.
func TestTransactionsThatDoNotSuit(t *testing.T) {
	t.Parallel()
	s := newSQLite(t)
	engine, _ := stage.Engine(stage.TwoDebaters())
	engine.Store = s.store(t)
	refused := func(tx sql.Tx, why string) {
		t.Helper()
		_, err := sql.SubmitTx(t.Context(), tx, engine, stage.TwoDebaters())
		require.ErrorContains(t, err, why)
		var wrong *flow.Error
		require.ErrorAs(t, err, &wrong)
		assert.Equal(t, provider.KindValidation, wrong.Kind)
	}
	own, _, rollback := (&host{s, false}).begin(t)
	refused(sql.Tx{}, "needs exactly one field")
	other := &host{newPostgres(t), true}
	foreign, _, _ := other.begin(t)
	refused(sql.Tx{SQL: own.SQL, Pgx: foreign.Pgx}, "needs exactly one field")
	refused(foreign, "is of PostgreSQL, and the engine's store is in SQLite")

	engine, _ = stage.Engine(stage.TwoDebaters())
	engine.Store = &store.Memory{}
	refused(own, "the engine's store is not of package store/sql")
	require.NoError(t, rollback())
}
