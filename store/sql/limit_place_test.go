package sql_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/limit"
	"github.com/agonist-dev/debate/store/sql"
)

// patient answers when it may.
type patient struct{ begun, end chan struct{} }

func (p *patient) Generate(ctx context.Context, _ *provider.Request, _ func(provider.Chunk)) (*provider.Response, error) {
	p.begun <- struct{}{}
	select {
	case <-p.end:
	case <-ctx.Done():
	}
	return &provider.Response{Text: "Yes."}, nil
}

// later is a ledger whose clock is ahead.
type later struct {
	limit.Ledger
	ahead time.Duration
}

func (l later) UpdateLimit(ctx context.Context, name string, change func([]byte, time.Time) []byte) error {
	return l.Ledger.UpdateLimit(ctx, name, func(value []byte, now time.Time) []byte { return change(value, now.Add(l.ahead)) })
}

// A process that holds all places is killed. They are free when its lease ends, and not before.
func TestPlacesOfAKilledProcess(t *testing.T) {
	if path := os.Getenv("SQL_TEST_PLACES"); path != "" {
		holdPlaces(t, path)
		return
	}
	each(t, func(t *testing.T, s *storage) {
		url := s.url
		if s.path != "" {
			url = s.path
		}
		caller := &patient{begun: make(chan struct{}, 1), end: make(chan struct{})}
		close(caller.end)
		ask := func(ctx context.Context, ahead time.Duration) error {
			places := &limit.Concurrency{Calls: 2, Ledger: later{s.store(t), ahead}, Name: "v", Lease: placeLease}
			defer places.Close()
			_, err := places.Wrap(caller).Generate(ctx, &provider.Request{}, func(provider.Chunk) {})
			return err
		}
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPlacesOfAKilledProcess$")
		child.Env = append(os.Environ(), "SQL_TEST_PLACES="+url)
		out, err := child.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, child.Start())
		lines := bufio.NewScanner(out)
		for range 2 {
			require.True(t, lines.Scan())
			require.Equal(t, "holds", lines.Text())
		}
		refused := func() {
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			require.Error(t, ask(ctx, 0))
			assert.Empty(t, caller.begun)
		}
		refused()
		require.NoError(t, child.Process.Kill())
		_ = child.Wait()
		refused()
		require.NoError(t, ask(t.Context(), placeLease))
		assert.Len(t, caller.begun, 1)
	})
}

// placeLease is longer than any machine stands still.
const placeLease = time.Hour

// holdPlaces takes all places until the process is killed.
func holdPlaces(t *testing.T, url string) {
	t.Helper()
	var kept *sql.Store
	var err error
	if url[0] == '/' {
		kept, err = sql.OpenSQLite(t.Context(), url)
	} else {
		kept, err = sql.OpenPostgres(t.Context(), url)
	}
	require.NoError(t, err)
	places := &limit.Concurrency{Calls: 2, Ledger: kept, Name: "v", Lease: placeLease}
	caller := &patient{begun: make(chan struct{}), end: make(chan struct{})}
	for range 2 {
		go func() {
			_, err := places.Wrap(caller).Generate(context.Background(), &provider.Request{}, func(provider.Chunk) {})
			fmt.Println("ended", err)
		}()
		<-caller.begun
		fmt.Println("holds")
	}
	<-caller.end
	syscall.Exit(0)
}
