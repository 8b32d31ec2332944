package file_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/file"
)

// last returns the number of the last event that Read and List tell of.
func last(ctx context.Context, s store.Store) (read, listed int64, err error) {
	for event, failed := range s.Read(ctx, "a", 0) {
		read, err = event.Seq, errors.Join(err, failed)
	}
	for info, failed := range s.List(ctx, store.Filter{}) {
		listed, err = info.Seq, errors.Join(err, failed)
	}
	return read, listed, err
}

// What is written and not synced yet is shown to nobody: another handle waits, the writer's own shows what
// was there before. If the sync fails nobody has seen it.
func TestUnsyncedIsNotShown(t *testing.T) {
	for _, begun := range []int64{0, 1} {
		for _, fails := range []error{nil, syscall.EIO} {
			synctest.Test(t, func(t *testing.T) {
				d := newDrive()
				writer, other := stored(d), stored(d)
				if begun > 0 {
					require.NoError(t, writer.Append(t.Context(), "a", 0, "w", facts(0, 1)))
				}
				syncing, goOn := make(chan struct{}), make(chan struct{})
				first := true
				d.trouble = func(_ int, op string) error {
					if op != "sync" || !first {
						return nil
					}
					first = false
					return fails
				}
				d.after = func(int) {
					if !first && syncing != nil {
						close(syncing)
						syncing = nil
						<-goOn
					}
				}
				wait := syncing
				done := make(chan error, 1)
				go func() { done <- writer.Append(t.Context(), "a", begun, "w", facts(begun, 1)) }()
				<-wait

				read, listed, err := last(t.Context(), writer)
				if begun == 0 {
					assert.ErrorIs(t, err, flow.ErrNotFound)
				} else {
					assert.NoError(t, err)
				}
				assert.Equal(t, []int64{begun, begun}, []int64{read, listed}, "one's own readers do not wait")
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_, _, err = last(ctx, other)
				assert.ErrorIs(t, err, context.DeadlineExceeded)

				var seen, told int64
				waiting := make(chan struct{})
				go func() {
					defer close(waiting)
					seen, told, _ = last(t.Context(), other)
				}()
				synctest.Wait()
				close(goOn)
				want := begun
				if assert.ErrorIs(t, <-done, fails); fails == nil {
					want++
				}
				<-waiting
				assert.Equal(t, []int64{want, want}, []int64{seen, told})
			})
		}
	}
}

// Readers of a folder take its locks and leave no file behind.
func TestReadersLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	require.NoError(t, s.Append(t.Context(), "a", 0, "w", facts(0, 1)))
	held, ok, err := file.Folder(dir).Lock("a.lock")
	require.NoError(t, err)
	require.True(t, ok)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, _, err = last(ctx, open(t, dir))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, held.Unlock(true))
	read, listed, err := last(t.Context(), open(t, dir))
	require.NoError(t, err)
	assert.Equal(t, []int64{1, 1}, []int64{read, listed})
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	assert.Equal(t, []string{filepath.Join(dir, "a.log")}, names)
}

// Those who share a lock do not keep each other off it.
func TestShare(t *testing.T) {
	dir := t.TempDir()
	disk := file.Folder(dir)
	_, _, err := disk.Share("x.lock")
	require.ErrorIs(t, err, os.ErrNotExist)
	held, _, err := disk.Lock("x.lock")
	require.NoError(t, err)
	_, ok, err := disk.Share("x.lock")
	require.NoError(t, err)
	require.False(t, ok)
	require.NoError(t, held.Unlock(false))
	first, ok, err := disk.Share("x.lock")
	require.NoError(t, err)
	require.True(t, ok)
	second, ok, err := disk.Share("x.lock")
	require.NoError(t, err)
	require.True(t, ok)
	_, ok, err = disk.Lock("x.lock")
	require.NoError(t, err)
	require.False(t, ok)
	require.NoError(t, errors.Join(first(), second()))
}
