package tool_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/tool"
)

// TestACommandRunsInTheFolderThatWasChecked: who puts a link in the place of the folder after it was checked moves no command
// out of the folder of the tool.
func TestACommandRunsInTheFolderThatWasChecked(t *testing.T) {
	for name, sub := range map[string]string{"the top one": "", "a folder in it": "sub"} {
		t.Run(name, func(t *testing.T) {
			root := folder(t, map[string]string{"sub/f": "x"})
			at, moved := filepath.Join(root, sub), filepath.Join(t.TempDir(), "moved")
			outside := t.TempDir()
			run := runner(t, root, tool.Commands{Programs: []tool.Program{{
				Name: "raced", Path: must(os.Executable()),
				Check: func(string, []string) error { // between the check of the folder and the start
					require.NoError(t, os.Rename(at, moved))
					return os.Symlink(outside, at)
				},
			}}})
			actual, err := filepath.EvalSymlinks(at)
			require.NoError(t, err)
			got := answer(t, run, arguments{"program": "raced", "arguments": []string{"where"}, "folder": sub})
			assert.NotContains(t, got, outside)
			assert.NotContains(t, got, actual)
			assert.Contains(t, got, moved)
		})
	}
}
