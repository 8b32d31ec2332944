package file_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/file"
)

// watched is a disk that calls step before each of its operations.
type watched struct {
	file.Disk

	step func(op string)
}

func (d watched) Open(name string, mode int) (file.Handle, error) {
	d.step("open")
	f, err := d.Disk.Open(name, mode)
	return watchedFile{f, d}, err
}

func (d watched) Remove(name string) error {
	d.step("remove")
	return d.Disk.Remove(name)
}

func (d watched) Rename(from, to string) error {
	d.step("rename")
	return d.Disk.Rename(from, to)
}

func (d watched) Stat(name string) (file.Stamp, error) {
	d.step("stat")
	return d.Disk.Stat(name)
}

func (d watched) Sync() error {
	d.step("sync the folder")
	return d.Disk.Sync()
}

func (d watched) Lock(name string) (file.Lock, bool, error) {
	d.step("lock")
	l, ok, err := d.Disk.Lock(name)
	if ok {
		l = watchedLock{l, d}
	}
	return l, ok, err
}

func (d watched) Free(name string) (bool, error) {
	d.step("free")
	return d.Disk.Free(name)
}

type watchedFile struct {
	file.Handle

	disk watched
}

func (f watchedFile) ReadAt(p []byte, at int64) (int, error) {
	f.disk.step("read")
	return f.Handle.ReadAt(p, at)
}

func (f watchedFile) WriteAt(p []byte, at int64) (int, error) {
	f.disk.step("write")
	return f.Handle.WriteAt(p, at)
}

func (f watchedFile) Truncate(size int64) error {
	f.disk.step("truncate")
	return f.Handle.Truncate(size)
}

func (f watchedFile) Sync() error {
	f.disk.step("sync")
	return f.Handle.Sync()
}

type watchedLock struct {
	file.Lock

	disk watched
}

func (l watchedLock) Mark(size int64) error {
	l.disk.step("mark")
	return l.Lock.Mark(size)
}

func (l watchedLock) Unlock(drop bool) error {
	l.disk.step("unlock")
	return l.Lock.Unlock(drop)
}

// A process that is stopped before any operation on its files holds up nobody but those who would change the same
// conversation. Lists and readers see that one too, as it was before or as it is afterwards. Who would work on it gets
// flow.ErrLeased soon.
func TestAStoppedProcessHoldsUpNobody(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(ctx context.Context, s *file.Store) error
		seqs []int64 // what others may see of conversation a; 0: nothing
	}{
		"a first append": {func(ctx context.Context, s *file.Store) error { return s.Append(ctx, "new", 0, "w", facts(0, 1)) }, []int64{2}},
		"an append":      {func(ctx context.Context, s *file.Store) error { return s.Append(ctx, "a", 2, "w", facts(2, 1)) }, []int64{2, 3}},
		"a lease":        {func(ctx context.Context, s *file.Store) error { return s.Lease(ctx, "a", "stopped", time.Hour) }, []int64{2}},
		"a delete":       {func(ctx context.Context, s *file.Store) error { return s.Delete(ctx, "a") }, []int64{2, 0}},
		"a list": {func(ctx context.Context, s *file.Store) error {
			return lastError(s.List(ctx, store.Filter{Text: "x"}))
		}, []int64{2}},
		"a read": {func(ctx context.Context, s *file.Store) error { return lastError(s.Read(ctx, "a", 0)) }, []int64{2}},
	} {
		t.Run(name, func(t *testing.T) {
			stops := 0
			for done := false; !done; stops++ {
				synctest.Test(t, func(t *testing.T) { done = stopAt(t, stops+1, c.do, c.seqs) })
			}
			assert.Greater(t, stops, 5)
		})
	}
}

// stopAt stops a process before its n-th operation. It reports whether the process has ended before.
func stopAt(t *testing.T, n int, do func(ctx context.Context, s *file.Store) error, seqs []int64) (ended bool) {
	t.Helper()
	dir := t.TempDir()
	s := open(t, dir)
	require.NoError(t, s.Append(t.Context(), "a", 0, "w", facts(0, 2)))
	require.NoError(t, s.Append(t.Context(), "b", 0, "w", facts(0, 1)))
	for _, id := range []string{"a", "b"} { // long before the time of a bubble
		old := time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)
		require.NoError(t, os.Chtimes(filepath.Join(dir, id+".log"), old, old))
	}
	stopped, goOn := make(chan struct{}), make(chan struct{})
	process := &file.Store{Dir: dir}
	process.SetDisk(watched{file.Folder(dir), func(string) {
		if n--; n == 0 {
			close(stopped)
			<-goOn
		}
	}})
	over := make(chan error, 1)
	go func() { over <- do(context.Background(), process) }()
	select {
	case err := <-over:
		require.NoError(t, err)
		return true
	case <-stopped:
	}

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	other := open(t, dir)
	began := time.Now()
	seen := map[string]int64{}
	for info, err := range other.List(ctx, store.Filter{}) {
		require.NoError(t, err)
		require.NoError(t, info.Err)
		seen[info.ID] = info.Seq
	}
	assert.Contains(t, seqs, seen["a"])
	assert.EqualValues(t, 1, seen["b"])
	events, err := collect(other, "a")
	if len(events) > 0 {
		assert.NoError(t, err)
	} else {
		assert.ErrorIs(t, err, flow.ErrNotFound)
	}
	assert.Contains(t, seqs, int64(len(events)))
	require.NoError(t, other.Append(ctx, "b", 1, "w", facts(1, 1)))
	require.NoError(t, other.Lease(ctx, "b", "me", time.Hour))
	require.NoError(t, other.Append(ctx, "c", 0, "w", facts(0, 1)))
	require.NoError(t, other.Delete(ctx, "b"))
	assert.Zero(t, time.Since(began), "nothing waits")
	if err := other.Lease(ctx, "a", "me", time.Hour); err != nil {
		assert.ErrorIs(t, err, flow.ErrLeased)
		assert.LessOrEqual(t, time.Since(began), 3*time.Second)
	}

	close(goOn)
	if err := <-over; err != nil {
		require.ErrorIs(t, err, flow.ErrLeased, "the other one was faster")
	}
	require.NoError(t, process.Close())
	require.NoError(t, other.Append(ctx, "d", 0, "w", facts(0, 1)))
	return false
}

// Who waits long for a stopped process tries less and less often: many may wait for what it holds.
func TestWaitingIsCheap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, tries := newDrive(), 0
		s := &file.Store{Dir: "x"}
		s.SetDisk(watched{d, func(op string) {
			if op == "lock" {
				tries++
			}
		}})
		held, ok, err := d.Lock("a.lock")
		require.NoError(t, err)
		require.True(t, ok)
		for wait, most := range map[time.Duration]int{20 * time.Millisecond: 20, 10 * time.Second: 250} {
			tries = 0
			ctx, cancel := context.WithTimeout(t.Context(), wait)
			require.ErrorIs(t, s.Append(ctx, "a", 0, "w", facts(0, 1)), context.DeadlineExceeded)
			cancel()
			assert.Less(t, tries, most)
			assert.Greater(t, tries, 5)
		}
		require.NoError(t, held.Unlock(false))
		require.NoError(t, s.Append(t.Context(), "a", 0, "w", facts(0, 1)))
	})
}
