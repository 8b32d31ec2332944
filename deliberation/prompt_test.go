package deliberation_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares a text with testdata/<name>.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

// TestBuiltinRolesAreShort: their words stand in nearly all prompts, and so are most of what a prompt costs beside the
// agents' own texts.
func TestBuiltinRolesAreShort(t *testing.T) {
	for _, role := range deliberation.BuiltinRoles() {
		assert.LessOrEqual(t, utf8.RuneCountInString(role.System), 220, role.Name)
		for _, text := range phases(&role) {
			assert.LessOrEqual(t, utf8.RuneCountInString(text), 120, "%s: %s", role.Name, text)
		}
	}
}
