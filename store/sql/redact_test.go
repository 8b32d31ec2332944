package sql_test

import (
	"bytes"
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/store/sql"
)

// holds returns which of SQLite's files hold a text.
func (s *storage) holds(t testing.TB, text string) (names []string) {
	t.Helper()
	for _, name := range []string{s.path, s.path + "-wal", s.path + "-shm"} {
		data, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		require.NoError(t, err)
		if bytes.Contains(data, []byte(text)) {
			names = append(names, name)
		}
	}
	return names
}

func spoken(seq int64, text string) flow.Event {
	return flow.Event{Seq: seq, At: time.Unix(seq, 0).UTC(), Body: &flow.Turn{Speaker: "Ada", Text: text}}
}

// removes rewrites a log in which each event holds a text.
func removes(t *testing.T, s *sql.Store, id string, end int64) {
	t.Helper()
	var events []flow.Event
	for seq := int64(1); seq <= end; seq++ {
		events = append(events, spoken(seq, "gone"))
	}
	events = append(events, flow.Event{Seq: end + 1, At: time.Unix(end, 0).UTC(), Body: &flow.Redacted{With: "gone"}})
	require.NoError(t, s.Redact(t.Context(), id, end, events, nil))
}

// TestNothingThatWasRemovedIsLeftInSQLite writes logs of all sizes beside each other, so that rows move between pages, and then
// removes all texts of some logs.
func TestNothingThatWasRemovedIsLeftInSQLite(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	database := newSQLite(t)
	s := database.store(t)
	ends, secrets := map[string]int64{}, []string{}
	for range 400 {
		id := fmt.Sprint("d", rng.IntN(8))
		secret := fmt.Sprintf("secret-%s-%d-", id, ends[id])
		secrets = append(secrets, secret)
		text := strings.Repeat(secret, 1+rng.IntN(60)*rng.IntN(10))
		require.NoError(t, s.Append(t.Context(), id, ends[id], "w", []flow.Event{spoken(ends[id]+1, text)}))
		ends[id]++
	}
	require.NoError(t, s.Delete(t.Context(), "d7"))
	delete(ends, "d7")
	later, err := database.open(t.Context(), sql.Options{VacuumLater: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, later.Close()) }()
	for id, end := range ends {
		if id == "d0" {
			continue
		}
		removes(t, later, id, end)
	}
	removes(t, s, "d0", ends["d0"])
	left := 0
	for _, secret := range secrets {
		left += len(database.holds(t, secret))
	}
	assert.Zero(t, left, "of %d texts", len(secrets))
}

// TestAReaderHoldsUpWhatIsRemoved keeps a transaction open that reads: what it may read stays in the write-ahead log.
func TestAReaderHoldsUpWhatIsRemoved(t *testing.T) {
	t.Parallel()
	database := newSQLite(t)
	s := database.store(t)
	require.NoError(t, s.Append(t.Context(), "a", 0, "w", []flow.Event{spoken(1, "the secret")}))

	db, err := stdsql.Open(database.driver, database.url)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	reader, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	var n int
	require.NoError(t, reader.QueryRowContext(t.Context(), "SELECT count(*) FROM debate").Scan(&n))

	eventually(t, func() bool { // before its context ends it must have removed the text, and tried to empty the write-ahead log
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		if length(t, s, "a") == 1 {
			err = s.Redact(ctx, "a", 1, []flow.Event{spoken(1, "gone"), spoken(2, "removed")}, nil)
		} else {
			err = s.Redact(ctx, "a", 2, nil, nil)
		}
		require.Error(t, err)
		return strings.Contains(err.Error(), "still holds what was removed")
	})
	for event, err := range s.Read(t.Context(), "a", 0) {
		require.NoError(t, err)
		assert.NotContains(t, fmt.Sprint(event.Body), "the secret", "it is removed from the log all the same")
	}
	require.NoError(t, reader.Rollback())
	require.NoError(t, s.Redact(t.Context(), "a", 2, nil, nil))
	assert.Empty(t, database.holds(t, "the secret"))
}

// TestVacuumLeavesNothing looks into the files of PostgreSQL's tables, from which nothing is removed that a transaction may still
// see: one of another test, or of the server's own statistics. So it writes the tables anew until no such transaction is left.
func TestVacuumLeavesNothing(t *testing.T) {
	alone(t, func(t *testing.T, database *storage) {
		s := database.store(t)
		for seq := range int64(50) {
			require.NoError(t, s.Append(t.Context(), "a", seq, "w", []flow.Event{spoken(seq+1, "the secret")}))
		}
		removes(t, s, "a", 50)
		if database.path != "" {
			require.NoError(t, s.Vacuum(t.Context()))
			assert.Empty(t, database.holds(t, "the secret"))
			return
		}
		db, err := stdsql.Open(database.driver, database.url)
		require.NoError(t, err)
		defer func() { require.NoError(t, db.Close()) }()
		holds := func(text string) bool {
			var at int
			require.NoError(t, db.QueryRowContext(t.Context(),
				`SELECT position(convert_to($1, 'UTF8') IN pg_read_binary_file(pg_relation_filepath('debate_commit')))`, text).Scan(&at))
			return at > 0
		}
		eventually(t, func() bool {
			require.NoError(t, s.Vacuum(t.Context()))
			return !holds("the secret")
		})
		assert.True(t, holds("gone"))
	})
}
