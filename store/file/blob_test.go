package file_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/store/file"
)

// A crash may leave any beginning of a blob behind the last whole one. The next PutBlob writes over it.
func TestABlobThatWasCutIsWrittenAgain(t *testing.T) {
	one, two := []byte("the first file"), []byte("the second file, which is longer")
	dir := t.TempDir()
	s := &file.Store{Dir: dir, Sync: file.SyncNever}
	require.NoError(t, s.PutBlob(t.Context(), "a", flow.HashOf(one), one))
	first := size(t, dir)
	require.NoError(t, s.PutBlob(t.Context(), "a", flow.HashOf(two), two))
	whole, err := os.ReadFile(filepath.Join(dir, "a.blobs"))
	require.NoError(t, err)
	for cut := first; cut <= len(whole); cut++ {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a.blobs"), whole[:cut], 0o600))
		_, err := s.Blob(t.Context(), "a", flow.HashOf(two))
		if cut < len(whole) {
			require.ErrorIs(t, err, flow.ErrNoFile, "cut at %d", cut)
		}
		require.NoError(t, s.PutBlob(t.Context(), "a", flow.HashOf(two), two))
		for _, want := range [][]byte{one, two} {
			got, err := s.Blob(t.Context(), "a", flow.HashOf(want))
			require.NoError(t, err)
			assert.Equal(t, want, got)
		}
		assert.Equal(t, len(whole), size(t, dir))
	}
}

// A blob whose bytes have changed is missing, and PutBlob repairs it.
func TestADamagedBlobIsMissing(t *testing.T) {
	data := []byte("the bytes")
	dir := t.TempDir()
	s := &file.Store{Dir: dir, Sync: file.SyncNever}
	require.NoError(t, s.PutBlob(t.Context(), "a", flow.HashOf(data), data))
	path := filepath.Join(dir, "a.blobs")
	stored, err := os.ReadFile(path)
	require.NoError(t, err)
	stored[len(stored)-1] ^= 1
	require.NoError(t, os.WriteFile(path, stored, 0o600))
	_, err = s.Blob(t.Context(), "a", flow.HashOf(data))
	require.ErrorIs(t, err, flow.ErrNoFile)
	require.NoError(t, s.PutBlob(t.Context(), "a", flow.HashOf(data), data))
	got, err := s.Blob(t.Context(), "a", flow.HashOf(data))
	require.NoError(t, err)
	assert.Equal(t, data, got)
}

func size(t *testing.T, dir string) int {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, "a.blobs"))
	require.NoError(t, err)
	return int(info.Size())
}

// One damaged bit in the head of a blob loses no blob, and no PutBlob cuts any away.
func TestADamagedHeadLosesNoBlob(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	all := [][]byte{[]byte("one"), []byte("two, which is longer"), bytes.Repeat([]byte("three\n"), 20)}
	dir := t.TempDir()
	s := &file.Store{Dir: dir, Sync: file.SyncNever}
	var heads []int
	for i, data := range all {
		if i > 0 {
			heads = append(heads, size(t, dir))
		} else {
			heads = append(heads, 0)
		}
		require.NoError(t, s.PutBlob(t.Context(), "a", flow.HashOf(data), data))
	}
	path := filepath.Join(dir, "a.blobs")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	more := []byte("four")
	for i, head := range heads {
		for at := head; at < head+78; at++ {
			for _, bit := range []byte{1 << (at % 7), 0x80} {
				spoiled := slices.Clone(whole)
				spoiled[at] ^= bit
				require.NoError(t, os.WriteFile(path, spoiled, 0o600))
				for _, want := range all {
					got, err := s.Blob(t.Context(), "a", flow.HashOf(want))
					require.NoError(t, err, "blob %d, byte %d, bit %x", i, at-head, bit)
					require.Equal(t, want, got)
				}
				require.NoError(t, s.PutBlob(t.Context(), "a", flow.HashOf(more), more))
				for _, want := range append(slices.Clone(all), more) {
					got, err := s.Blob(t.Context(), "a", flow.HashOf(want))
					require.NoError(t, err, "blob %d, byte %d, bit %x, after another one", i, at-head, bit)
					require.Equal(t, want, got)
				}
			}
		}
	}
}

// A file that holds what looks like blobs is one blob, whatever happens to its head, and the search for others is bounded.
func TestABlobMayLookLikeBlobs(t *testing.T) {
	dir := t.TempDir()
	s := &file.Store{Dir: dir, Sync: file.SyncNever}
	inner := []byte("inner")
	fake := fmt.Appendf(nil, "%s %012d\n%s", flow.HashOf(inner), len(inner), inner)
	liar := bytes.Repeat(fmt.Appendf(nil, "%064d %012d\n", 0, 20_000), 1000)
	for name, outer := range map[string][]byte{"whole": append([]byte("x"), fake...), "many": append(bytes.Repeat(fake, 500), 'x'), "liar": liar} {
		id := "b" + name
		after := []byte("after")
		require.NoError(t, s.PutBlob(t.Context(), id, flow.HashOf(outer), outer))
		require.NoError(t, s.PutBlob(t.Context(), id, flow.HashOf(after), after))
		got, err := s.Blob(t.Context(), id, flow.HashOf(outer))
		require.NoError(t, err)
		assert.Equal(t, outer, got)
		path := filepath.Join(dir, id+".blobs")
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		data[70] = 'x'
		require.NoError(t, os.WriteFile(path, data, 0o600))
		got, err = s.Blob(t.Context(), id, flow.HashOf(after))
		require.NoError(t, err)
		assert.Equal(t, after, got)
		require.NoError(t, s.PutBlob(t.Context(), id, flow.HashOf(outer), outer))
		got, err = s.Blob(t.Context(), id, flow.HashOf(outer))
		require.NoError(t, err)
		assert.Equal(t, outer, got)
	}
}
