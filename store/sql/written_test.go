package sql_test

import (
	stdsql "database/sql"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
)

// What a step writes does not grow with the debate: a checkpoint of everything after each step would.
func TestBytesWrittenPerStep(t *testing.T) {
	alone(t, func(t *testing.T, s *storage) {
		store := s.store(t)
		written := s.meter(t)
		const window = 100
		steps := longform.Or(int64(1200), 400)
		random := rand.NewChaCha8([32]byte{}) // PostgreSQL makes long texts shorter where it can
		noise := make([]byte, 1000)
		_, _ = random.Read(noise)
		text := hex.EncodeToString(noise)
		var first, last float64
		require.NoError(t, store.Append(t.Context(), "a", 0, "w", start("t", nil)))
		for step := range steps {
			if step == 0 || step == steps-window {
				written()
			}
			require.NoError(t, store.Append(t.Context(), "a", 1+2*step, "w", append(turn(2+2*step, text), flow.Event{
				Seq: 3 + 2*step, Body: &flow.Round{N: int(step)},
			})))
			switch step {
			case window - 1:
				first = float64(written()) / window
			case steps - 1:
				last = float64(written()) / window
			}
		}
		t.Logf("%.0f bytes per step in the first %d steps, %.0f in the last of %d; a text has %d", first, window, last, steps, len(text))
		// A checkpoint of the server's may fall into one of the windows; growth would be fourfold.
		assert.InEpsilon(t, first, last, 0.6)
		assert.Less(t, last, 10*float64(len(text)))
	})
}

// meter counts the bytes of the write-ahead log since it was last called, up to some megabytes.
func (s *storage) meter(t *testing.T) (written func() int64) {
	t.Helper()
	db, err := stdsql.Open(s.driver, s.url)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	if s.name == "PostgreSQL" {
		position := func() (n int64) {
			require.NoError(t, db.QueryRowContext(t.Context(), `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint`).Scan(&n))
			return n
		}
		var before int64
		return func() int64 {
			n := position() - before
			_, err := db.ExecContext(t.Context(), `CHECKPOINT`) // after which pages are written in full once more
			require.NoError(t, err)
			before = position()
			return n
		}
	}
	return func() int64 {
		info, err := os.Stat(s.path + "-wal")
		require.NoError(t, err)
		var busy, logged, moved int
		require.NoError(t, db.QueryRowContext(t.Context(), `PRAGMA wal_checkpoint(truncate)`).Scan(&busy, &logged, &moved))
		require.Zero(t, busy)
		return info.Size()
	}
}
