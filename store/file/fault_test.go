package file_test

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/file"
)

// An append that fails leaves the journal as it was, and the same append succeeds when the trouble is over.
func TestFailedAppend(t *testing.T) {
	for _, begun := range []bool{false, true} {
		for _, op := range []string{"create", "write", "sync", "syncdir"} {
			for _, how := range []error{syscall.EIO, errShort} {
				d := newDrive()
				s := stored(d)
				s.Report = func(file.Torn) { t.Error("one's own is no tear") }
				after := int64(0)
				if begun {
					require.NoError(t, s.Append(t.Context(), "a", 0, "w0", facts(0, 2)))
					after = 2
				}
				before := append([]byte(nil), d.get("a.log")...)
				failed := false
				d.trouble = func(_ int, now string) error {
					if now == op {
						failed = true
						return how
					}
					return nil
				}
				err := s.Append(t.Context(), "a", after, "w1", facts(after, 2))
				if !failed {
					require.True(t, begun, op)
					require.NoError(t, err)
					continue
				}
				require.ErrorIs(t, err, how, "%s", op)
				if op != "create" {
					require.ErrorContains(t, err, "conversation a: it is unknown whether the events are stored")
				}
				require.Equal(t, string(before), string(d.get("a.log")), "%s", op)
				events, err := collect(s, "a")
				if begun {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, flow.ErrNotFound)
				}
				require.Len(t, events, int(after))
				require.Error(t, s.Append(t.Context(), "a", after, "w1", facts(after, 2)), "it still fails")

				d.trouble = nil
				require.NoError(t, s.Append(t.Context(), "a", after, "w1", facts(after, 2)))
				events, err = collect(s, "a")
				require.NoError(t, err)
				require.Equal(t, facts(0, int(after)+2), events)
			}
		}
	}
}

// What could not be taken back either may turn out to be whole: then it is synced before the second try of
// its writer succeeds, and before anybody else builds on it.
func TestUnknownOutcome(t *testing.T) {
	for _, writer := range []string{"w1", "another"} {
		d := newDrive()
		s := stored(d)
		require.NoError(t, s.Append(t.Context(), "a", 0, "w0", facts(0, 2)))
		d.trouble = func(_ int, op string) error {
			if op == "sync" || op == "truncate" {
				return syscall.EIO
			}
			return nil
		}
		require.ErrorIs(t, s.Append(t.Context(), "a", 2, "w1", facts(2, 2)), syscall.EIO)
		after := int64(2)
		if writer != "w1" {
			assert.ErrorIs(t, s.Append(t.Context(), "a", after, writer, facts(after, 2)), flow.ErrConflict)
			after = 4
		}
		require.ErrorIs(t, s.Append(t.Context(), "a", after, writer, facts(after, 2)), syscall.EIO, "it cannot be synced")
		d.trouble = nil
		require.NoError(t, s.Append(t.Context(), "a", after, writer, facts(after, 2)))
		events, err := collect(stored(d.image(nothing, func() bool { return false })), "a")
		require.NoError(t, err)
		assert.Equal(t, facts(0, int(after)+2), events, "it survives a loss of power")
	}
}

// A tear that cannot be kept elsewhere is not cut off.
func TestTornOnAFullDisk(t *testing.T) {
	text, ends := journal(t)
	for _, op := range []string{"create", "write", "sync", "syncdir", "truncate"} {
		d := newDrive()
		d.put("a.log", text[:ends[3]-10])
		s := stored(d)
		writes, syncs := 0, 0
		d.trouble = func(_ int, now string) error {
			// The first write and sync are of the last whole commit.
			if now == "write" {
				writes++
			}
			if now == "sync" {
				syncs++
			}
			if now == op && (op != "write" || writes > 1) && (op != "sync" || syncs > 1) {
				return errShort
			}
			return nil
		}
		require.ErrorIs(t, s.Append(t.Context(), "a", 3, "w", facts(3, 1)), errShort, op)
		assert.Len(t, d.get("a.log"), ends[3]-10, op)
		d.trouble = nil
		require.NoError(t, s.Append(t.Context(), "a", 3, "w", facts(3, 1)))
		assert.Contains(t, string(d.get("a.torn")), string(text[ends[2]:ends[3]-10]))
	}
}

// Errors of the disk are no damage.
func TestReadErrors(t *testing.T) {
	d := newDrive()
	s := stored(d)
	require.NoError(t, s.Append(t.Context(), "a", 0, "w", facts(0, 200)))
	require.NoError(t, s.Append(t.Context(), "a", 200, "w", facts(200, 200)))
	size := len(d.get("a.log"))
	for from := 0; from < size; from += 500 {
		d.unreadable = from
		fresh := stored(d)
		_, err := collect(fresh, "a")
		require.ErrorIs(t, err, syscall.EIO)
		for _, err := range fresh.Read(t.Context(), "a", 399) {
			require.ErrorIs(t, err, syscall.EIO)
		}
		for info, err := range fresh.List(t.Context(), store.Filter{}) {
			require.NoError(t, err)
			require.ErrorIs(t, info.Err, syscall.EIO)
		}
		require.ErrorIs(t, fresh.Append(t.Context(), "a", 400, "w", facts(400, 1)), syscall.EIO)
		require.Len(t, d.get("a.log"), size, "nothing is cut off")
	}
	d.unreadable = -1
	require.NoError(t, s.Append(t.Context(), "a", 400, "w", facts(400, 1)))
}

// Leases fail as the disk does, and are as they were.
func TestLeaseErrors(t *testing.T) {
	d := newDrive()
	s := stored(d)
	d.trouble = func(int, string) error { return syscall.EIO }
	assert.ErrorIs(t, s.Lease(t.Context(), "a", "me", time.Hour), syscall.EIO)
	d.trouble = nil
	require.NoError(t, s.Lease(t.Context(), "a", "me", time.Hour))
	d.trouble = func(int, string) error { return syscall.EIO }
	assert.ErrorIs(t, s.Release(t.Context(), "a", "me"), syscall.EIO)
	assert.ErrorIs(t, s.Delete(t.Context(), "a"), syscall.EIO)
	assert.ErrorIs(t, s.Lease(t.Context(), "a", "me", time.Hour), syscall.EIO)
	d.trouble = nil
	assert.ErrorIs(t, stored(d).Lease(t.Context(), "a", "you", time.Hour), flow.ErrLeased)
	d.unreadable = 0
	assert.ErrorIs(t, s.Lease(t.Context(), "a", "me", time.Hour), syscall.EIO)
	assert.ErrorIs(t, s.Release(t.Context(), "a", "me"), syscall.EIO)
}

// A folder that is gone, or is none, is an error and no panic.
func TestFolderErrors(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	require.NoError(t, os.Remove(dir))
	ctx := t.Context()
	for _, err := range []error{
		s.Append(ctx, "a", 0, "w", facts(0, 1)), s.Lease(ctx, "a", "me", time.Hour), s.Release(ctx, "a", "me"), s.Delete(ctx, "a"),
	} {
		assert.ErrorIs(t, err, os.ErrNotExist)
	}
	for _, err := range s.List(ctx, store.Filter{}) {
		assert.ErrorIs(t, err, os.ErrNotExist)
	}
	_, err := collect(s, "a")
	assert.ErrorIs(t, err, flow.ErrNotFound)

	blocked := open(t, t.TempDir())
	require.NoError(t, os.Mkdir(blocked.Dir+"/a.log", 0o700))
	assert.Error(t, blocked.Append(ctx, "a", 0, "w", facts(0, 1)))
	_, err = collect(blocked, "a")
	assert.Error(t, err)
	assert.NotErrorIs(t, err, flow.ErrNotFound)
	require.NoError(t, blocked.Append(ctx, "b", 0, "w", facts(0, 1)))
}
