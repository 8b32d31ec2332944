package sql_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/sql"
)

// A process is stopped in the middle of a transaction, in which it has locked a conversation and its lease. Others wait
// for that conversation until the server ends the transaction, and for nothing else: not even where more want to lease it than
// there are connections.
func TestAStoppedTransactionHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	stopped := s.store(t)
	for _, id := range []string{"a", "b"} {
		require.NoError(t, stopped.Append(t.Context(), id, 0, "w", facts(0, 1)))
		require.NoError(t, stopped.Lease(t.Context(), id, "gone", 0))
	}
	tx, err := stopped.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback() }() // the server has ended it
	rest := ""
	require.NoError(t, tx.QueryRowContext(t.Context(), `SHOW idle_in_transaction_session_timeout`).Scan(&rest))
	assert.Equal(t, "5s", rest)
	_, err = tx.ExecContext(t.Context(), `SET LOCAL idle_in_transaction_session_timeout = 0`) // the others are faster on any machine
	require.NoError(t, err)
	_, err = tx.ExecContext(t.Context(), `SELECT 1 FROM debate d JOIN debate_lease l ON l.id = d.id WHERE d.id = 'a' FOR UPDATE`)
	require.NoError(t, err)

	kept, err := s.open(t.Context(), sql.Options{Connections: 2, Timeout: time.Hour})
	require.NoError(t, err)
	defer func() { assert.NoError(t, kept.Close()) }()
	var waiting sync.WaitGroup
	var leased atomic.Int64
	for i := range 4 {
		waiting.Go(func() {
			if err := kept.Lease(t.Context(), "a", fmt.Sprint("worker ", i), time.Hour); err == nil {
				leased.Add(1)
			} else {
				assert.ErrorIs(t, err, flow.ErrLeased)
			}
		})
	}
	waiting.Go(func() { assert.NoError(t, kept.Append(t.Context(), "a", 1, "w", facts(1, 1))) })
	for after := range int64(2) {
		assert.Equal(t, int(after)+1, length(t, kept, "b"))
		assert.Len(t, list(t, kept, store.Filter{}), 2)
		require.NoError(t, kept.Lease(t.Context(), "b", "me", time.Hour))
		require.NoError(t, kept.Append(t.Context(), "b", after+1, "w", facts(after+1, 1)))
	}
	assert.Zero(t, leased.Load())
	assert.Equal(t, 1, length(t, kept, "a"))
	_, err = tx.ExecContext(t.Context(), `SET LOCAL idle_in_transaction_session_timeout = 1`)
	require.NoError(t, err)
	waiting.Wait()
	assert.EqualValues(t, 1, leased.Load())
	assert.Equal(t, 2, length(t, kept, "a"))
}

// A conversation whose part of the database is damaged fails alone, not with all that are written beside it.
func TestADamagedPartOfADatabaseStopsNoOther(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	kept := s.store(t)
	s.execute(t, `CREATE FUNCTION damaged() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF new.writer = 'bad' THEN RAISE EXCEPTION 'invalid page' USING ERRCODE = 'data_corrupted'; END IF; RETURN new;
	END $$`)
	s.execute(t, `CREATE TRIGGER damaged BEFORE INSERT ON debate_commit FOR EACH ROW EXECUTE FUNCTION damaged()`)
	release := s.block(t)
	var writing sync.WaitGroup
	for i := range 20 {
		writer := "good"
		if i == 7 {
			writer = "bad"
		}
		writing.Go(func() {
			err := kept.Append(t.Context(), fmt.Sprint("d", i), 0, writer, facts(0, 1))
			if writer == "bad" {
				assert.ErrorContains(t, err, "invalid page")
			} else {
				assert.NoError(t, err)
			}
		})
	}
	eventually(t, func() bool { return kept.Waiting() == 20 })
	release()
	writing.Wait()
}
