package sql_test

import (
	"context"
	stdsql "database/sql"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/bus"
	"github.com/agonist-dev/debate/bus/bustest"
	"github.com/agonist-dev/debate/internal/postgres"
	"github.com/agonist-dev/debate/store/sql"
)

// newDatabase returns the URL of an empty database on the shared server.
func newDatabase(t testing.TB) string {
	t.Helper()
	newSchema(t) // starts the server
	url, err := shared.server.Database(context.WithoutCancel(t.Context()))
	require.NoError(t, err)
	return url
}

// openBus opens a bus for as long as the test runs.
func openBus(t testing.TB, url string) *sql.Bus {
	t.Helper()
	b, err := sql.OpenBus(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, b.Close()) })
	return b
}

func TestTheBusConforms(t *testing.T) {
	t.Parallel()
	url := newDatabase(t) // nothing of what is published stays in it
	bustest.Run(t, func(testing.TB) bustest.Server {
		return bustest.Server{
			Open: func(t testing.TB) bus.Bus { return openBus(t, url) },
			Cut: func(t testing.TB) {
				execute(t, "pgx", url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
					WHERE datname = current_database() AND pid <> pg_backend_pid()`)
			},
		}
	})
}

// heardWithin publishes until a subscriber hears it.
func heardWithin(t *testing.T, b bus.Bus, in <-chan []byte) {
	t.Helper()
	for {
		_ = b.Publish(t.Context(), []bus.Message{{Topic: "a", Data: []byte("again")}}) // the server may be starting
		select {
		case data := <-in:
			if data != nil {
				return
			}
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Those who listen and those who publish come back after the server was killed.
func killBesideABus(t *testing.T, server *postgres.Server) {
	t.Helper()
	url, err := server.Database(t.Context())
	require.NoError(t, err)
	one, other := openBus(t, url), openBus(t, url)
	in := other.Subscribe(t.Context(), "a")
	heardWithin(t, one, in)
	require.NoError(t, server.Kill())
	for len(in) > 0 {
		<-in
	}
	require.Error(t, one.Publish(t.Context(), []bus.Message{{Topic: "a", Data: []byte("lost")}}))
	require.NoError(t, server.Restart(t.Context()))
	for data := range in { // the first new word is that messages may be missing
		if data == nil {
			break
		}
		require.Equal(t, "again", string(data))
	}
	heardWithin(t, one, in)
}

func TestMessagesOutsideTheLimitsAreRefused(t *testing.T) {
	t.Parallel()
	b := openBus(t, newDatabase(t))
	for _, m := range []bus.Message{
		{Topic: "a"}, {Topic: "", Data: []byte("x")}, {Topic: "a", Data: make([]byte, b.Limits().Size+1)},
	} {
		require.ErrorContains(t, b.Publish(t.Context(), []bus.Message{m}), "outside the limits")
	}
	require.NoError(t, b.Publish(t.Context(), nil))
}

// A stranger may notify anything.
func TestStrangePayloadsAreIgnored(t *testing.T) {
	t.Parallel()
	url := newDatabase(t)
	b := openBus(t, url)
	in := b.Subscribe(t.Context(), "a")
	heardWithin(t, b, in)
	for _, payload := range []string{"", "a", "a ", "a !!!", "\n\n\n", " YQ==", "a YQ==YQ==", "a YQ= =\na", "é ÿ"} {
		db, err := stdsql.Open("pgx", url)
		require.NoError(t, err)
		_, err = db.ExecContext(t.Context(), `SELECT pg_notify('debate_chunks', $1)`, payload)
		require.NoError(t, err)
		require.NoError(t, db.Close())
	}
	require.NoError(t, b.Publish(t.Context(), []bus.Message{{Topic: "a", Data: []byte("end")}}))
	for data := range in {
		if string(data) == "end" {
			break
		}
		assert.Equal(t, "again", string(data))
	}
}

func TestAClosedBusRefuses(t *testing.T) {
	t.Parallel()
	url := newDatabase(t)
	b, err := sql.OpenBus(t.Context(), url)
	require.NoError(t, err)
	in := b.Subscribe(t.Context(), "a")
	heardWithin(t, b, in)
	var closing sync.WaitGroup
	for range 3 {
		closing.Go(func() { assert.NoError(t, b.Close()) })
	}
	closing.Wait()
	require.ErrorIs(t, b.Publish(t.Context(), []bus.Message{{Topic: "a", Data: []byte("late")}}), sql.ErrClosed)
	b.Subscribe(t.Context(), "b") // nothing comes, and nothing runs
}

func TestABusNeedsADatabase(t *testing.T) {
	_, err := sql.OpenBus(t.Context(), "postgres://u:hunter2%zz@h/db")
	require.ErrorContains(t, err, "the URL cannot be read")
	assert.NotContains(t, err.Error(), "hunter2")
	_, err = sql.OpenBus(t.Context(), "host=/nowhere user=u")
	require.Error(t, err)
}
