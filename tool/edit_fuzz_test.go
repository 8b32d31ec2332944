package tool_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/tool"
)

// FuzzEdit replaces any text in any file: an edit that succeeds is the replacement of exactly so many places, and one
// that is repeated changes nothing more.
func FuzzEdit(f *testing.F) {
	f.Add("one two\nthree\n", "two", "2", 1)
	f.Add("aaa", "a", "aa", 3)
	f.Add("ababa", "aba", "", 1)
	f.Add("a\r\nb\r\n\r\n", "\r\n", "\n", 3)
	f.Add("\n\n\n", "\n", "x\n", 3)
	f.Add("x", "x", "", 0)
	root := folder(f, nil)
	edit := writers(f, root, tool.Writing{Size: 10_000})[tool.EditFileName]
	at := filepath.Join(root, "f")
	f.Fuzz(func(t *testing.T, before, from, to string, count int) {
		if !utf8.ValidString(from) || !utf8.ValidString(to) {
			return // JSON has no such texts
		}
		require.NoError(t, os.WriteFile(at, []byte(before), 0o600))
		args := arguments{"path": "f", "hash": hashOf(before), "old": from, "new": to, "count": count}
		text, err := use(t.Context(), t, edit, args)
		after := disk(t, root, "f")
		if err != nil {
			assert.Equal(t, before, after)
			return
		}
		assert.Equal(t, count, strings.Count(before, from))
		assert.Equal(t, strings.ReplaceAll(before, from, to), after)
		assert.Equal(t, hashOf(after), hashIn(t, text))
		assert.True(t, utf8.ValidString(text))
		again, err := use(t.Context(), t, edit, args)
		if err == nil {
			assert.Equal(t, text, again)
		}
		assert.Equal(t, after, disk(t, root, "f"))
	})
}
