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

// last returns the number of the last event of conversation a that Read and List tell of.
func last(ctx context.Context, s store.Store) (read, listed int64, err error) {
	for event, failed := range s.Read(ctx, "a", 0) {
		read, err = event.Seq, errors.Join(err, failed)
	}
	for info, failed := range s.List(ctx, store.Filter{Limit: 1}) {
		listed, err = info.Seq, errors.Join(err, failed)
	}
	return read, listed, err
}

// What is written and not synced yet is shown to nobody, and nobody waits for it. If the sync fails nobody has seen it.
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

				for _, s := range []store.Store{writer, other} {
					read, listed, err := last(t.Context(), s)
					if begun == 0 {
						assert.ErrorIs(t, err, flow.ErrNotFound)
					} else {
						assert.NoError(t, err)
					}
					assert.Equal(t, []int64{begun, begun}, []int64{read, listed})
				}
				close(goOn)
				want := begun
				if assert.ErrorIs(t, <-done, fails); fails == nil {
					want++
				}
				for _, s := range []store.Store{writer, other} {
					read, listed, _ := last(t.Context(), s)
					assert.Equal(t, []int64{want, want}, []int64{read, listed})
				}
			})
		}
	}
}

// A commit of a process that died before it had synced it is read. Whoever locks the journal next syncs it, also if it
// only leases the conversation: from then on it survives a loss of power.
func TestACommitWithoutItsProcess(t *testing.T) {
	d := newDrive()
	s := stored(d)
	require.NoError(t, s.Append(t.Context(), "a", 0, "w", facts(0, 1)))
	d.trouble = func(_ int, op string) error {
		if op == "sync" || op == "truncate" {
			return syscall.EIO
		}
		return nil
	}
	require.ErrorIs(t, s.Append(t.Context(), "a", 1, "w", facts(1, 1)), syscall.EIO)
	read, listed, err := last(t.Context(), stored(d))
	require.NoError(t, err)
	require.Equal(t, []int64{2, 2}, []int64{read, listed})
	kept := func() int64 {
		read, _, err := last(t.Context(), stored(d.image(nothing, func() bool { return false })))
		require.NoError(t, err)
		return read
	}
	require.EqualValues(t, 1, kept())

	require.NoError(t, stored(d).Lease(t.Context(), "a", "me", time.Hour), "the disk still fails: a lease needs no sync")
	require.EqualValues(t, 1, kept())
	require.NoError(t, stored(d).Release(t.Context(), "a", "me"))
	mark, err := d.Stat("a.lock")
	require.NoError(t, err, "what is marked is not forgotten")
	require.NotZero(t, mark)
	d.trouble = nil
	require.NoError(t, stored(d).Release(t.Context(), "a", "me"))
	assert.EqualValues(t, 2, kept())
}

// Readers wait for no lock, and leave no file of their own behind.
func TestReadersLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	require.NoError(t, s.Append(t.Context(), "a", 0, "w", facts(0, 1)))
	held, ok, err := file.Folder(dir).Lock("a.lock")
	require.NoError(t, err)
	require.True(t, ok)
	read, listed, err := last(t.Context(), open(t, dir))
	require.NoError(t, err)
	assert.Equal(t, []int64{1, 1}, []int64{read, listed})
	require.NoError(t, held.Mark(1))
	read, listed, err = last(t.Context(), open(t, dir))
	require.ErrorIs(t, err, flow.ErrNotFound)
	assert.Equal(t, []int64{0, 0}, []int64{read, listed})
	require.NoError(t, held.Unlock(true))
	read, listed, err = last(t.Context(), open(t, dir))
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
