package sql_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/postgres"
	"github.com/agonist-dev/debate/store/sql"
)

// A server is killed and started again beside whatever uses it.
func TestTheServerIsKilled(t *testing.T) { // they kill the same server
	t.Parallel()
	server, err := postgres.Start(context.WithoutCancel(t.Context()))
	server = started(t, server, err)
	t.Cleanup(func() { assert.NoError(t, server.Stop()) })
	for name, kill := range map[string]func(*testing.T, *postgres.Server){
		"appends": killBesideAppends, "watchers": killBesideWatchers, "a bus": killBesideABus, "limits": killBesideLimits,
	} {
		t.Run(name, func(t *testing.T) { kill(t, server) })
	}
}

// The server is killed in the middle of appends, several times. What was acknowledged is there, an append
// whose outcome was not known is recognised by its writer, and the store needs nobody to recover.
func killBesideAppends(t *testing.T, server *postgres.Server) {
	t.Helper()
	url, err := server.Database(t.Context())
	require.NoError(t, err)
	store, err := sql.OpenPostgres(t.Context(), url)
	require.NoError(t, err)
	defer func() { assert.NoError(t, store.Close()) }()

	const writers = 6
	kills := longform.Or(4, 2)
	stop := make(chan struct{})
	var progress [writers]int64 // acknowledged events
	var mu sync.Mutex
	var writing sync.WaitGroup
	failures := 0
	for w := range writers {
		writing.Go(func() {
			id := fmt.Sprint("d", w)
			for after := int64(0); ; {
				select {
				case <-stop:
					return
				default:
				}
				err := store.Append(t.Context(), id, after, "w", facts(after, 2))
				mu.Lock()
				if err == nil {
					after += 2
					progress[w] = after
				} else {
					failures++
					assert.NotErrorIs(t, err, flow.ErrConflict, "an own append is recognised")
				}
				mu.Unlock()
			}
		})
	}
	advance := func() {
		t.Helper()
		mu.Lock()
		before := progress
		mu.Unlock()
		eventually(t, func() bool {
			mu.Lock()
			defer mu.Unlock()
			for w := range progress {
				if progress[w] < before[w]+4 {
					return false
				}
			}
			return true
		})
	}
	for range kills {
		advance()
		require.NoError(t, server.Kill())
		mu.Lock()
		failures = 0
		mu.Unlock()
		eventually(t, func() bool { // without a server nothing is acknowledged
			mu.Lock()
			defer mu.Unlock()
			return failures > writers
		})
		require.NoError(t, server.Restart(t.Context()))
	}
	advance()
	close(stop)
	writing.Wait()
	total := 0
	for w := range writers {
		id := fmt.Sprint("d", w)
		events, err := read(t, store, id)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, int64(len(events)), progress[w])
		assert.LessOrEqual(t, int64(len(events)), progress[w]+2, "at most the append whose outcome nobody knew")
		total += len(events)
	}
	t.Logf("%d kills, %d events acknowledged and kept", kills, total)
}

// A process that is killed in the middle of appends leaves whole commits, all that were acknowledged among
// them, and a file that the next one opens without further ado. Two processes write beside each other.
func TestAProcessIsKilled(t *testing.T) {
	if path := os.Getenv("SQL_TEST_CHILD"); path != "" {
		child(t, path)
		return
	}
	t.Parallel()
	path := filepath.Join(t.TempDir(), "debates.db")
	const lives = 4
	acknowledged := map[string]int64{}
	for life := range lives {
		var children [2]*exec.Cmd
		var lines [2]*bufio.Scanner
		for i := range children {
			c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAProcessIsKilled$")
			c.Env = append(os.Environ(), "SQL_TEST_CHILD="+path, fmt.Sprint("SQL_TEST_NAME=child", i))
			out, err := c.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, c.Start())
			children[i], lines[i] = c, bufio.NewScanner(out)
		}
		var reading sync.WaitGroup
		var mu sync.Mutex
		for i := range children {
			reading.Go(func() {
				for n := 0; lines[i].Scan(); n++ {
					var id string
					var seq int64
					if _, err := fmt.Sscanf(lines[i].Text(), "kept %s %d", &id, &seq); err != nil {
						t.Error(lines[i].Text())
						continue
					}
					mu.Lock()
					acknowledged[id] = max(acknowledged[id], seq)
					mu.Unlock()
					if n == 40+10*life {
						assert.NoError(t, children[i].Process.Kill()) // the lines behind are still read
					}
				}
			})
		}
		reading.Wait()
		for _, c := range children {
			_ = c.Wait()
		}
		store, err := sql.OpenSQLite(t.Context(), path)
		require.NoError(t, err)
		for id, seq := range acknowledged {
			n := int64(length(t, store, id))
			assert.GreaterOrEqual(t, n, seq, id)
			assert.Zero(t, n%3, "whole commits")
		}
		require.NoError(t, store.Close())
	}
	assert.Len(t, acknowledged, 2*3+1)
}

// child appends to its own debates and to one that all share, and tells what is kept, until it is killed.
func child(t *testing.T, path string) {
	t.Helper()
	store, err := sql.OpenSQLite(t.Context(), path)
	require.NoError(t, err)
	name := os.Getenv("SQL_TEST_NAME")
	var mu sync.Mutex
	for i := range 4 {
		id := fmt.Sprint(name, "-", i)
		if i == 3 {
			id = "shared"
		}
		go func() {
			for after := int64(0); ; {
				err := store.Append(t.Context(), id, after, name, facts(after, 3))
				switch {
				case err == nil:
					after += 3
					mu.Lock()
					fmt.Printf("kept %s %d\n", id, after)
					mu.Unlock()
				case errors.Is(err, flow.ErrConflict):
					for event, err := range store.Read(t.Context(), id, after) {
						if err == nil {
							after = event.Seq // the other process was faster, or a former life
						}
					}
				default:
					fmt.Println(strings.ReplaceAll(err.Error(), "\n", " "))
				}
			}
		}()
	}
	select {}
}
