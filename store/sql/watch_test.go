package sql_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/agonist-dev/debate/internal/postgres"
	"github.com/agonist-dev/debate/store/sql"
)

func grown(t *testing.T, watch <-chan struct{}) {
	t.Helper()
	<-watch
}

func quiet(t *testing.T, watch <-chan struct{}) {
	t.Helper()
	select {
	case <-watch:
		t.Fatal("nothing has grown")
	default:
	}
}

// What this store appends is told before Append returns, however seldom it looks for the others.
func TestItsOwnAppendsAreToldAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		store, err := s.open(t.Context(), sql.Options{Poll: time.Hour})
		require.NoError(t, err)
		defer func() { assert.NoError(t, store.Close()) }()
		a, b := store.Watch(t.Context(), "a"), store.Watch(t.Context(), "b")
		require.NoError(t, store.Append(t.Context(), "a", 0, "w", facts(0, 1)))
		grown(t, a)
		quiet(t, b)
	})
}

// Nobody looks after logs that nobody watches.
func TestWatchingLeavesNothingBehind(t *testing.T) {
	alone(t, func(t *testing.T, s *storage) {
		store, err := s.open(t.Context(), sql.Options{Poll: time.Millisecond})
		require.NoError(t, err)
		defer func() { assert.NoError(t, store.Close()) }()
		require.NoError(t, store.Append(t.Context(), "a", 0, "w", facts(0, 1)))
		_ = length(t, store, "a") // connections are there
		before := goleak.IgnoreCurrent()
		other := s.store(t)
		for after := range int64(3) {
			ctx, cancel := context.WithCancel(t.Context())
			first, second := store.Watch(ctx, "a"), store.Watch(ctx, "a")
			store.Watch(ctx, "never begun")
			require.NoError(t, other.Append(t.Context(), "a", after+1, "w", facts(after+1, 1)))
			grown(t, first)
			grown(t, second)
			cancel()
		}
		require.NoError(t, other.Close())
		assert.NoError(t, leaked(before, goleak.IgnoreAnyFunction("database/sql.(*DB).connectionOpener")))
	})
}

// A poller that cannot reach the server tries again.
func killBesideWatchers(t *testing.T, server *postgres.Server) {
	t.Helper()
	url, err := server.Database(t.Context())
	require.NoError(t, err)
	store, err := sql.Options{Poll: 5 * time.Millisecond}.OpenPostgres(t.Context(), url)
	require.NoError(t, err)
	defer func() { assert.NoError(t, store.Close()) }()
	watch := store.Watch(t.Context(), "a")
	require.NoError(t, server.Kill())
	blind := store.Watch(t.Context(), "a")
	require.NoError(t, server.Restart(t.Context()))
	other, err := sql.OpenPostgres(t.Context(), url)
	require.NoError(t, err)
	defer func() { assert.NoError(t, other.Close()) }()
	require.NoError(t, other.Append(t.Context(), "a", 0, "w", facts(0, 1)))
	grown(t, watch)
	grown(t, blind)
}
