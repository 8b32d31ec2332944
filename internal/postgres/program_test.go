package postgres_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/postgres"
)

func TestFind(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	install := func(folder string, programs ...string) string {
		folder = filepath.Join(root, folder)
		require.NoError(t, os.MkdirAll(folder, 0o700))
		for _, program := range programs {
			require.NoError(t, os.WriteFile(filepath.Join(folder, program), nil, 0o700))
		}
		return folder
	}
	empty := install("empty")
	partial := install("partial", "initdb", "postgres")
	install("lib/9.6/bin", "initdb", "postgres", "createdb")
	install("lib/15/bin", "initdb", "postgres", "createdb")
	newest := install("lib/115/bin", "initdb", "postgres", "createdb")
	links := install("links")
	require.NoError(t, os.Symlink(filepath.Join(newest, "initdb"), filepath.Join(links, "initdb")))
	pattern := filepath.Join(root, "lib/*/bin")

	for _, tt := range []struct{ name, path, patterns, want, missing string }{
		{"nothing", empty, "", "", "initdb"},
		{"no path at all", "", "", "", "initdb"},
		{"not all of it", partial, "", "", "createdb"},
		{"the newest", empty, pattern, newest, ""},
		{"what is in the path is taken first", filepath.Join(root, "lib/15/bin"), pattern, filepath.Join(root, "lib/15/bin"), ""},
		{"a link", links, "", newest, ""},
		{"the whole one", partial, pattern, newest, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := postgres.Find(tt.path, tt.patterns)
			if tt.missing != "" {
				var missing *postgres.MissingError
				require.ErrorAs(t, err, &missing)
				assert.Equal(t, tt.missing, missing.Program)
				assert.ErrorContains(t, err, "apt-get install postgresql")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
		})
	}
	_, err = postgres.Find("", "[")
	assert.ErrorIs(t, err, filepath.ErrBadPattern)
}
