//go:build unix

package file_test

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store/file"
)

// TestStoppingChild is what another process does, which stops itself within an append. It does nothing in the tests' own.
func TestStoppingChild(t *testing.T) {
	if os.Getenv(childDoes) != "stop" {
		return
	}
	dir := os.Getenv(childDir)
	s, syncs := &file.Store{Dir: dir}, 0
	s.SetDisk(watched{file.Folder(dir), func(op string) {
		if op != "sync" {
			return
		}
		if syncs++; syncs == 2 { // first comes the commit before, which another process has written
			continued := make(chan os.Signal, 1)
			signal.Notify(continued, syscall.SIGCONT)
			require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGSTOP))
			<-continued // another thread may have taken the signal: this one goes on until it is stopped too
		}
	}})
	require.NoError(t, s.Append(t.Context(), "a", 1, "child", facts(1, 1)))
}

// A process is stopped by a signal while it appends. Others list and read all conversations meanwhile, and change all
// but that one. When the process continues, its commit is there; when it is killed, the commit is whole and is kept.
func TestAProcessIsStopped(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]syscall.Signal{"and continues": syscall.SIGCONT, "and is killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // both wait for a lease that is not to be had
			stopAndThen(t, then)
		})
	}
}

func stopAndThen(t *testing.T, then syscall.Signal) {
	t.Helper()
	dir := t.TempDir()
	s := open(t, dir)
	for _, id := range []string{"a", "b"} {
		require.NoError(t, s.Append(t.Context(), id, 0, "w", facts(0, 1)))
	}
	c := exec.Command(os.Args[0], "-test.run=^TestStoppingChild$")
	c.Env = append(os.Environ(), childDoes+"=stop", childDir+"="+dir, "GOCOVERDIR="+t.TempDir())
	require.NoError(t, c.Start())
	t.Cleanup(func() { _ = c.Process.Kill() })
	var status syscall.WaitStatus
	_, err := syscall.Wait4(c.Process.Pid, &status, syscall.WUNTRACED, nil)
	require.NoError(t, err)
	require.True(t, status.Stopped())

	read, listed, err := last(t.Context(), open(t, dir))
	require.NoError(t, err)
	assert.Equal(t, []int64{1, 1}, []int64{read, listed})
	require.NoError(t, s.Append(t.Context(), "b", 1, "w", facts(1, 1)))
	require.ErrorIs(t, s.Lease(t.Context(), "a", "me", time.Hour), flow.ErrLeased)

	require.NoError(t, c.Process.Signal(then))
	err = c.Wait()
	if then == syscall.SIGCONT {
		require.NoError(t, err)
	}
	require.NoError(t, s.Lease(t.Context(), "a", "me", time.Hour))
	require.NoError(t, s.Append(t.Context(), "a", 2, "w", facts(2, 1)))
	events, err := collect(open(t, dir), "a")
	require.NoError(t, err)
	assert.Equal(t, facts(0, 3), events)
}
