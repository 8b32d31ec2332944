package file_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/file"
)

// The environment of a child process.
const (
	childDoes = "FILE_TEST_CHILD"
	childDir  = "FILE_TEST_DIR"
)

// TestChild is what another process does. It does nothing in the tests' own.
func TestChild(t *testing.T) {
	does := os.Getenv(childDoes)
	if does == "" {
		return
	}
	s, err := file.Open(os.Getenv(childDir))
	require.NoError(t, err)
	switch does {
	case "lease":
		require.NoError(t, s.Lease(t.Context(), "a", "child", time.Hour))
		require.NoError(t, s.Append(t.Context(), "a", 0, "child", facts(0, 1)))
	case "append":
		require.NoError(t, climb(t.Context(), s, fmt.Sprint("child ", os.Getpid()), 100))
		require.NoError(t, s.Close())
		return
	}
	fmt.Println("ready")
	_, _ = os.Stdin.Read(make([]byte, 1)) // until the parent has had enough
}

// child starts another process.
func child(t *testing.T, does, dir string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestChild$")
	c.Env = append(os.Environ(), childDoes+"="+does, childDir+"="+dir, "GOCOVERDIR="+t.TempDir())
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	_, err = c.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	t.Cleanup(func() { _ = c.Process.Kill() })
	return c, bufio.NewReader(out)
}

// climb appends events one by one, each wherever the log ends.
func climb(ctx context.Context, s store.Store, writer string, n int) error {
	for after := int64(0); n > 0; {
		err := s.Append(ctx, "a", after, writer, facts(after, 1))
		if err == nil {
			n, after = n-1, after+1
			continue
		}
		if !errors.Is(err, flow.ErrConflict) {
			return err
		}
		for event, err := range s.Read(ctx, "a", after) {
			if err != nil {
				return err
			}
			after = event.Seq
		}
	}
	return nil
}

// Processes that append to one debate lose nothing of each other's.
func TestProcesses(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	first, out := child(t, "append", dir)
	second, out2 := child(t, "append", dir)
	require.NoError(t, climb(t.Context(), s, "parent", 100))
	for _, o := range []*bufio.Reader{out, out2} {
		_, err := o.WriteTo(&strings.Builder{})
		require.NoError(t, err)
	}
	require.NoError(t, first.Wait())
	require.NoError(t, second.Wait())
	events, err := collect(s, "a")
	require.NoError(t, err)
	require.Len(t, events, 300)
	assert.Equal(t, facts(0, 300), events)
}

// A process that is killed leaves its debates to others at once.
func TestLeaseOfAKilledProcess(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	c, out := child(t, "lease", dir)
	line, err := out.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", line)
	owner := func() string {
		for info, err := range s.List(t.Context(), store.Filter{}) {
			require.NoError(t, err)
			return info.Owner
		}
		return "no conversation"
	}
	require.ErrorIs(t, s.Lease(t.Context(), "a", "me", time.Hour), flow.ErrLeased)
	require.Equal(t, "child", owner())
	require.NoError(t, c.Process.Kill())
	require.Error(t, c.Wait())
	assert.Empty(t, owner())
	require.NoError(t, s.Lease(t.Context(), "a", "me", time.Hour))
	assert.Equal(t, "me", owner())
	require.NoError(t, s.Append(t.Context(), "a", 1, "me", facts(1, 1)))
	live, err := filepath.Glob(filepath.Join(dir, "*.live"))
	require.NoError(t, err)
	assert.Len(t, live, 1, "the file of the killed one is removed")
}

// Files of handles that died long ago go away with the first lease of another.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	for i := range 10 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("dead%d.live", i)), nil, 0o600))
	}
	alive, s := open(t, dir), open(t, dir)
	require.NoError(t, alive.Lease(t.Context(), "a", "you", time.Hour))
	require.NoError(t, s.Lease(t.Context(), "b", "me", time.Hour))
	live, err := filepath.Glob(filepath.Join(dir, "*.live"))
	require.NoError(t, err)
	assert.Len(t, live, 2)
	assert.ErrorIs(t, s.Lease(t.Context(), "a", "me", time.Hour), flow.ErrLeased)
}

// Many who begin at once do not sweep each other away.
func TestSweepOfTheYoung(t *testing.T) {
	dir := t.TempDir()
	stores := make([]*file.Store, 30)
	var group sync.WaitGroup
	for i := range stores {
		stores[i] = open(t, dir)
		group.Go(func() {
			assert.NoError(t, stores[i].Lease(t.Context(), fmt.Sprint("d", i), fmt.Sprint("owner ", i), time.Hour))
		})
	}
	group.Wait()
	for i := range stores {
		assert.ErrorIs(t, stores[(i+1)%len(stores)].Lease(t.Context(), fmt.Sprint("d", i), "me", time.Hour), flow.ErrLeased)
	}
}

// Two who ask at once whether a handle lives do not take each other for it.
func TestTwoAsk(t *testing.T) {
	dir := t.TempDir()
	text := line("", `{"owner":"you","until":"2999-01-01T00:00:00Z","handle":"dead"}`)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.lease"), []byte(text), 0o600))
	other := flock.New(filepath.Join(dir, "dead.live"))
	ok, err := other.TryRLock() // as the store does
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, open(t, dir).Lease(t.Context(), "a", "me", time.Hour))
	require.NoError(t, other.Unlock())
}

// Whoever unlocks may remove the file. Then a lock that somebody else gets on what was of that name is none.
func TestLockIdentity(t *testing.T) {
	disk := file.Folder(t.TempDir())
	var holders, locks atomic.Int64
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			for range longform.Or(3000, 600) {
				l, ok, err := disk.Lock("x.lock")
				if !assert.NoError(t, err) || !ok {
					continue
				}
				locks.Add(1)
				assert.Equal(t, int64(1), holders.Add(1), "two hold the lock")
				runtime.Gosched()
				holders.Add(-1)
				assert.NoError(t, l.Unlock(true))
			}
		})
	}
	group.Wait()
	assert.Greater(t, locks.Load(), int64(20))
}

// A process that hangs keeps its leases until their time is over.
func TestLeaseLapses(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	hanging, s := &file.Store{Dir: dir, Now: clock}, &file.Store{Dir: dir, Now: clock}
	t.Cleanup(func() { require.NoError(t, errors.Join(hanging.Close(), s.Close())) })
	require.NoError(t, hanging.Lease(t.Context(), "a", "you", time.Minute))
	now = now.Add(time.Minute - time.Nanosecond)
	require.ErrorIs(t, s.Lease(t.Context(), "a", "me", time.Minute), flow.ErrLeased)
	now = now.Add(time.Nanosecond)
	require.NoError(t, s.Lease(t.Context(), "a", "me", time.Minute))
}

// Somebody tidies the folder up while a store has it open. Then its leases can be taken; those that nobody
// has taken, and all from then on, count again with its next lease.
func TestLeaseWithoutItsLiveFile(t *testing.T) {
	dir := t.TempDir()
	mine, yours := open(t, dir), open(t, dir)
	tidy := func() {
		live, err := filepath.Glob(filepath.Join(dir, "*.live"))
		require.NoError(t, err)
		require.NotEmpty(t, live)
		for _, name := range live {
			require.NoError(t, os.Remove(name))
		}
	}
	lease := func(s *file.Store, id, owner string) error { return s.Lease(t.Context(), id, owner, time.Hour) }
	require.NoError(t, lease(mine, "a", "me"))
	require.NoError(t, lease(mine, "b", "me"))
	tidy()
	require.NoError(t, lease(yours, "a", "you"))
	require.ErrorIs(t, lease(mine, "a", "me"), flow.ErrLeased)
	require.ErrorIs(t, lease(yours, "b", "you"), flow.ErrLeased, "it counts again")
	require.NoError(t, yours.Release(t.Context(), "a", "you"))
	require.NoError(t, lease(mine, "a", "me"))
	require.ErrorIs(t, lease(yours, "a", "you"), flow.ErrLeased)
	tidy()
	require.ErrorIs(t, lease(mine, "a", "another of mine"), flow.ErrLeased)
	require.ErrorIs(t, lease(yours, "a", "you"), flow.ErrLeased)
	require.NoError(t, mine.Close())
	require.NoError(t, lease(yours, "a", "you"))
}

// What stands in a lease's file may be anything.
func TestLeaseFiles(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(t.TempDir(), "victim.live")
	require.NoError(t, os.WriteFile(victim, nil, 0o600))
	there, err := filepath.Rel(dir, strings.TrimSuffix(victim, ".live"))
	require.NoError(t, err)
	s := open(t, dir)
	for _, text := range []string{
		"", "\n", "x", "00000000 {}\n", line("", "{}"), line("", "[]"), strings.Repeat("x", 1<<20),
		line("", `{"owner":"%zz","until":"2999-01-01T00:00:00Z","handle":"x"}`),
		line("", `{"owner":"you","until":"2999-01-01T00:00:00Z","handle":"`+filepath.ToSlash(there)+`"}`),
		line("", `{"owner":"you","until":"2999-01-01T00:00:00Z","handle":""}`),
		line("", `{"owner":"you","until":"2999-01-01T00:00:00Z","handle":"long0gone"}`),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a.lease"), []byte(text), 0o600))
		require.NoError(t, s.Lease(t.Context(), "a", "me", time.Hour), "over %.100q", text)
		other := open(t, dir)
		require.ErrorIs(t, other.Lease(t.Context(), "a", "you", time.Hour), flow.ErrLeased, "after %.100q", text)
		require.NoError(t, s.Release(t.Context(), "a", "me"))
	}
	assert.FileExists(t, victim)
}
