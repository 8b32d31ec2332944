package file_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/file"
)

// write puts pieces, and holes between them, behind each other.
func write(t *testing.T, path string, pieces ...any) {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	at := int64(0)
	for _, piece := range pieces {
		switch p := piece.(type) {
		case []byte:
			n, err := f.WriteAt(p, at)
			require.NoError(t, err)
			at += int64(n)
		case int64:
			at += p
			require.NoError(t, f.Truncate(at))
		}
	}
}

// No line, however long, takes more memory than a line may.
func TestLongLines(t *testing.T) {
	longform.Lone(t)
	text, ends := journal(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "a.log")
	s := open(t, dir)
	const hole = int64(file.MaxLine) + 1
	read := func(want int) (err error) {
		t.Helper()
		var events []flow.Event
		memory := stage.Allocated(func() { events, err = collect(s, "a") })
		assert.Len(t, events, want)
		assert.Less(t, memory, uint64(1)<<20)
		return err
	}

	write(t, path, text, hole)
	require.NoError(t, read(5), "what is behind the last commit is a tear")
	write(t, path, text[:ends[2]], hole+511-(hole+int64(ends[2])-1)%512, []byte("\n"))
	require.NoError(t, read(3))
	write(t, path, text[:ends[2]], hole, []byte("\n"), text[ends[2]:])
	corrupt, ok := errors.AsType[*file.CorruptError](read(3))
	require.True(t, ok)
	assert.ErrorContains(t, corrupt, fmt.Sprintf("more than %d bytes", file.MaxLine))
	assert.Equal(t, int64(ends[2]), corrupt.Offset)

	write(t, path, text, hole)
	require.NoError(t, s.Append(t.Context(), "a", 5, "w", facts(5, 1)))
	require.NoError(t, read(6))
	info, err := os.Stat(filepath.Join(dir, "a.torn"))
	require.NoError(t, err)
	assert.Greater(t, info.Size(), int64(file.MaxLine))

	long := facts(6, 1)
	body.As[flow.Answer](long[0]).Text = strings.Repeat("x", file.MaxLine)
	assert.ErrorContains(t, s.Append(t.Context(), "a", 6, "w", long), fmt.Sprintf("at most %d are stored", file.MaxLine))
	require.NoError(t, read(6))
}

// A long log is read, and followed, a piece at a time.
func TestMemoryOfReading(t *testing.T) {
	longform.Lone(t)
	d := newDrive()
	s := stored(d)
	for n := range int64(300) {
		require.NoError(t, s.Append(t.Context(), "a", 10*n, "w", facts(10*n, 10)))
	}
	size := uint64(len(d.get("a.log")))
	require.Greater(t, size, uint64(300_000))
	follow := stage.Allocated(func() {
		for n := range int64(10) {
			for _, err := range s.Read(t.Context(), "a", 2990+n) {
				require.NoError(t, err)
			}
		}
	})
	assert.Less(t, follow, size/2, "who follows a log does not read it from the top each time")
}

// No journal makes reading slow: commits that claim each other's lines are not looked at again and again.
func TestHostileCommits(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	head := line("", `{"journal":1,"id":"a"}`)
	ack := line("", `{"seq":1,"at":"2026-01-01T00:00:00Z","kind":"ack","body":{}}`)
	text := head + closed(head, ack, 1, 1) + strings.Repeat(ack, 2000)
	begin := len(text)
	for n := range 2000 {
		claim := len(text) - begin/2 + 10*n
		text += line("", fmt.Sprintf(`{"commit":{"first":2,"last":2,"bytes":%d,"prev":"00000000","at":"2026-01-01T00:00:00Z"}}`, claim))
	}
	d := newDrive()
	d.put("a.log", []byte(text))
	s := stored(d)
	events, err := collect(s, "a")
	refused := func(err error) {
		t.Helper()
		_, ok := errors.AsType[*file.CorruptError](err)
		assert.True(t, ok, "%v", err)
	}
	refused(err)
	assert.Len(t, events, 1)
	assert.Less(t, d.bytesRead, 10*int64(len(text)))
	d.bytesRead = 0
	for info, err := range s.List(t.Context(), store.Filter{}) {
		require.NoError(t, err)
		refused(info.Err)
	}
	refused(s.Append(t.Context(), "a", 1, "w", facts(1, 1)))
	assert.Less(t, d.bytesRead, 20*int64(len(text)))
}

// However many debates are written to at once, few files are open.
func TestOpenFiles(t *testing.T) {
	debates := longform.Or(2000, 600)
	dir := t.TempDir()
	s := &file.Store{Dir: dir, Sync: file.SyncNever}
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	most := 0
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			if files, err := os.ReadDir("/proc/self/fd"); err == nil {
				most = max(most, len(files))
			}
			select {
			case <-stop:
				return
			default:
				runtime.Gosched()
			}
		}
	}()
	var group sync.WaitGroup
	for i := range debates {
		group.Go(func() {
			id := fmt.Sprint("d", i)
			assert.NoError(t, s.Lease(t.Context(), id, "me", time.Hour))
			assert.NoError(t, s.Append(t.Context(), id, 0, "w", facts(0, 1)))
		})
	}
	group.Wait()
	close(stop)
	<-done
	assert.Less(t, most, 3*file.MaxOpen, "two for each change, and the test's own")
	n := 0
	for info, err := range s.List(t.Context(), store.Filter{}) {
		require.NoError(t, err)
		assert.Equal(t, "me", info.Owner)
		n++
	}
	assert.Equal(t, debates, n)
	assert.Equal(t, debates, s.Known())
	for i := range debates {
		require.NoError(t, s.Release(t.Context(), fmt.Sprint("d", i), "me"))
	}
	assert.Zero(t, s.Known(), "what is idle takes no memory")
}

// More journals than are remembered can be appended to.
func TestForgottenJournals(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	s := stored(newDrive())
	s.Sync = file.SyncNever // the drive is slow at it
	for i := range file.MaxKnown + 10 {
		require.NoError(t, s.Append(t.Context(), fmt.Sprint("d", i), 0, "w", facts(0, 1)))
	}
	for i := range 50 {
		require.NoError(t, s.Append(t.Context(), fmt.Sprint("d", i), 1, "w", facts(1, 1)))
	}
	assert.Equal(t, file.MaxKnown, s.Known())
}

// Who waits for another process to let go of a debate waits no longer than its context, or the store.
func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrive()
		s := stored(d)
		held, ok, err := d.Lock("a.lock")
		require.NoError(t, err)
		require.True(t, ok)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() { assert.ErrorIs(t, s.Append(ctx, "a", 0, "w", facts(0, 1)), context.DeadlineExceeded) })
		}
		group.Wait()
		require.NoError(t, s.Append(t.Context(), "b", 0, "w", facts(0, 1)), "another conversation does not wait")

		group.Go(func() { assert.NoError(t, s.Append(t.Context(), "a", 0, "w", facts(0, 1))) })
		synctest.Wait()
		require.NoError(t, held.Unlock(false))
		group.Wait()

		held, _, err = d.Lock("a.lock")
		require.NoError(t, err)
		for range 2 {
			group.Go(func() { assert.ErrorIs(t, s.Lease(t.Context(), "a", "me", time.Hour), os.ErrClosed) })
		}
		synctest.Wait()
		require.NoError(t, s.Close())
		group.Wait()
		require.NoError(t, held.Unlock(false))
	})
}
