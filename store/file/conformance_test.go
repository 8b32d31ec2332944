package file_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/file"
	"github.com/agonist-dev/debate/store/storetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	for name, sync := range map[string]file.Sync{"always": file.SyncAlways, "never": file.SyncNever} {
		t.Run(name, func(t *testing.T) {
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
				}
			})
		})
	}
}
