package sql_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/sql"
)

// liveFile returns the path of the file of an owner.
func liveFile(path, owner string) string {
	sum := sha256.Sum256([]byte(owner))
	return path + "-live-" + hex.EncodeToString(sum[:8])
}

// live returns the files of owners beside a database.
func live(t *testing.T, path string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	var files []string
	for _, entry := range entries {
		if file := filepath.Join(filepath.Dir(path), entry.Name()); len(file) > len(path) && file[:len(path)] == path {
			if file != path+"-wal" && file != path+"-shm" {
				files = append(files, file)
			}
		}
	}
	return files
}

// A process that is killed leaves its conversations to others at once, and a living one keeps them.
func TestLeaseOfAKilledProcess(t *testing.T) {
	if path := os.Getenv("SQL_TEST_OWNER"); path != "" {
		kept, err := sql.OpenSQLite(t.Context(), path)
		require.NoError(t, err)
		for _, id := range []string{"a", "b"} {
			require.NoError(t, kept.Append(t.Context(), id, 0, "child", facts(0, 1)))
			require.NoError(t, kept.Lease(t.Context(), id, "child", time.Hour))
		}
		fmt.Println("leased")
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	t.Parallel()
	s := newSQLite(t)
	kept := s.store(t)
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLeaseOfAKilledProcess$")
	child.Env = append(os.Environ(), "SQL_TEST_OWNER="+s.path)
	child.Stderr = os.Stderr
	_, err := child.StdinPipe() // the child lives as long as it is open
	require.NoError(t, err)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	defer func() { _ = child.Process.Kill() }() // it may have ended
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	require.Equal(t, "leased", lines.Text())

	require.ErrorIs(t, kept.Lease(t.Context(), "a", "me", time.Hour), flow.ErrLeased)
	assert.Equal(t, "child", list(t, kept, store.Filter{})[0].Owner)
	assert.Empty(t, list(t, kept, store.Filter{Idle: true}))
	require.NoError(t, child.Process.Kill())
	require.Error(t, child.Wait())

	for _, filter := range []store.Filter{{}, {Idle: true}} {
		infos := list(t, kept, filter)
		assert.Equal(t, []string{"a", "b"}, names(infos))
		for _, info := range infos {
			assert.Empty(t, info.Owner)
		}
	}
	info, err := kept.Describe(t.Context(), "a")
	require.NoError(t, err)
	assert.Empty(t, info.Owner)
	began := time.Now()
	require.NoError(t, kept.Lease(t.Context(), "a", "me", time.Hour))
	assert.Less(t, time.Since(began), time.Second)
	assert.Equal(t, "me", list(t, kept, store.Filter{})[0].Owner)
	require.NoError(t, kept.Lease(t.Context(), "b", "you", time.Hour), "all leases of the killed one are over")
	assert.ElementsMatch(t, []string{liveFile(s.path, "me"), liveFile(s.path, "you")}, live(t, s.path))
}

// leftBehind makes a lease whose owner's process is gone.
func leftBehind(t *testing.T, s *storage, id, owner string) {
	t.Helper()
	s.execute(t, "INSERT INTO debate_lease (id, owner, until) VALUES ('"+id+"', '"+owner+"', 9000000000000000)")
	require.NoError(t, os.WriteFile(liveFile(s.path, owner), nil, 0o600))
}

// Of two who take what is left behind, one gets it.
func TestOneTakesTheLease(t *testing.T) {
	t.Parallel()
	s := newSQLite(t)
	takers := []*sql.Store{s.store(t), s.store(t)}
	for i := range longform.Or(200, 40) {
		id := fmt.Sprint("d", i)
		leftBehind(t, s, id, fmt.Sprint("gone ", i))
		var taken atomic.Int64
		var group sync.WaitGroup
		for k, taker := range takers {
			group.Go(func() {
				switch err := taker.Lease(t.Context(), id, fmt.Sprint("taker ", k), time.Hour); {
				case err == nil:
					taken.Add(1)
				case !errors.Is(err, flow.ErrLeased):
					t.Error(err)
				}
			})
		}
		group.Wait()
		require.Equal(t, int64(1), taken.Load(), id)
	}
}

// Where nobody can tell whether an owner lives, its lease ends with its time.
func TestALeaseWithoutALiveFile(t *testing.T) {
	t.Parallel()
	s := newSQLite(t)
	kept := s.store(t)
	leftBehind(t, s, "a", "older")
	require.NoError(t, os.Remove(liveFile(s.path, "older")))
	require.ErrorIs(t, kept.Lease(t.Context(), "a", "me", time.Hour), flow.ErrLeased)
	s.execute(t, "UPDATE debate_lease SET until = 1 WHERE id = 'a'")
	require.NoError(t, kept.Lease(t.Context(), "a", "me", time.Hour))
}

// The file of an owner is there as long as it has leases, in any of the Stores that it uses.
func TestLiveFiles(t *testing.T) {
	t.Parallel()
	s := newSQLite(t)
	other := s.store(t)
	one, err := s.open(t.Context(), sql.Options{})
	require.NoError(t, err)
	file := liveFile(s.path, "me")
	require.NoError(t, one.Lease(t.Context(), "a", "me", time.Hour))
	require.NoError(t, one.Lease(t.Context(), "b", "me", time.Hour))
	require.NoError(t, one.Release(t.Context(), "a", "me"))
	assert.FileExists(t, file)
	require.ErrorIs(t, other.Lease(t.Context(), "b", "you", time.Hour), flow.ErrLeased)
	assert.NoFileExists(t, liveFile(s.path, "you"), "it has nothing")
	require.NoError(t, one.Release(t.Context(), "b", "me"))
	assert.NoFileExists(t, file)

	require.NoError(t, one.Lease(t.Context(), "a", "me", time.Hour))
	require.NoError(t, other.Lease(t.Context(), "a", "me", time.Hour), "an owner may use two Stores")
	require.NoError(t, one.Close())
	require.ErrorIs(t, other.Lease(t.Context(), "a", "you", time.Hour), flow.ErrLeased, "and lives as long as one of them is open")
	assert.FileExists(t, file)
	require.NoError(t, other.Release(t.Context(), "a", "me"))
	assert.Empty(t, live(t, s.path))
	require.Error(t, one.Lease(t.Context(), "a", "me", time.Hour))
	assert.Empty(t, live(t, s.path), "a closed Store leaves nothing behind")
}

// Files of those who are gone for long are removed, and others stay.
func TestOldLiveFilesAreRemoved(t *testing.T) {
	t.Parallel()
	s := newSQLite(t)
	alive := s.store(t)
	require.NoError(t, alive.Lease(t.Context(), "a", "living", time.Hour))
	old := time.Now().Add(-25 * time.Hour)
	for _, owner := range []string{"old", "young"} {
		require.NoError(t, os.WriteFile(liveFile(s.path, owner), nil, 0o600))
	}
	for _, owner := range []string{"old", "living"} {
		require.NoError(t, os.Chtimes(liveFile(s.path, owner), old, old))
	}
	require.NoError(t, s.store(t).Lease(t.Context(), "b", "me", time.Hour))
	assert.ElementsMatch(t, []string{liveFile(s.path, "living"), liveFile(s.path, "young"), liveFile(s.path, "me")}, live(t, s.path))
}

// An owner that begins anew under its name, after its process was killed, has its leases again.
func TestAnOwnerThatBeginsAnew(t *testing.T) {
	t.Parallel()
	s := newSQLite(t)
	kept, other := s.store(t), s.store(t)
	leftBehind(t, s, "a", "me")
	require.NoError(t, kept.Lease(t.Context(), "a", "me", time.Hour))
	require.ErrorIs(t, other.Lease(t.Context(), "a", "you", time.Hour), flow.ErrLeased)
}
