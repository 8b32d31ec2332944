package file_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/file"
	"github.com/agonist-dev/debate/store/storetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	for name, sync := range map[string]file.Sync{"always": file.SyncAlways, "never": file.SyncNever} {
		t.Run(name, func(t *testing.T) {
			if sync == file.SyncNever {
				longform.Lone(t) // it is what always does, without the syncs
			}
			t.Parallel()
			storetest.Run(t, func(t testing.TB) storetest.Storage {
				dir := t.TempDir()
				return storetest.Storage{
					Open: func(t testing.TB) store.Store {
						store := &file.Store{Dir: dir, Sync: sync}
						t.Cleanup(func() { require.NoError(t, store.Close()) })
						return store
					},
					Damage: func(t testing.TB, id string) {
						f, err := os.OpenFile(filepath.Join(dir, id+".log"), os.O_WRONLY, 0)
						require.NoError(t, err)
						_, err = f.WriteAt([]byte("x"), 3)
						require.NoError(t, err)
						require.NoError(t, f.Close())
					},
					Holds: func(t testing.TB, text string) []string { return holding(t, dir, text) },
				}
			})
		})
	}
}

// holding returns which of the files in a folder hold a text.
func holding(t testing.TB, dir, text string) (names []string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, entry := range files {
		data, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		require.NoError(t, err)
		if bytes.Contains(data, []byte(text)) {
			names = append(names, entry.Name())
		}
	}
	return names
}
