package tool_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/tool"
)

// hashOf returns the hash that tools name for what a file holds.
func hashOf(content string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(content)))[:16] }

// hashIn returns the hash that an answer names.
func hashIn(t testing.TB, text string) string {
	t.Helper()
	found := regexp.MustCompile(`^[^\n]* Hash ([0-9a-f]{16})\.(?:\n|$)`).FindStringSubmatch(text)
	require.NotNil(t, found, text)
	return found[1]
}

func TestWrites(t *testing.T) {
	root := folder(t, map[string]string{"old": "one\n", "empty": "", "latin": "caf\xe9", "folder/": ""})
	made := writers(t, root, tool.Writing{})
	write := made[tool.WriteFileName]

	assert.Equal(t, "The file is new: 4 bytes. Hash "+hashOf("new\n")+".", answer(t, write, arguments{"path": "deep/er/new", "content": "new\n"}))
	assert.Equal(t, "new\n", disk(t, root, "deep/er/new"))
	assert.Equal(t, "The file is new: 0 bytes. Hash "+hashOf("")+".", answer(t, write, arguments{"path": "nothing", "content": ""}))
	assert.Empty(t, disk(t, root, "nothing"))

	read := hashIn(t, answer(t, made[tool.ReadFileName], arguments{"path": "old"}))
	text := answer(t, write, arguments{"path": "old", "content": "two\n", "hash": read})
	assert.Equal(t, "The file is written anew: 4 bytes. Hash "+hashOf("two\n")+".", text)
	assert.Contains(t, answer(t, write, arguments{"path": "old", "content": "three\n", "hash": hashIn(t, text)}), "is written anew")
	whole := fmt.Sprintf("%X", sha256.Sum256([]byte("three\n"))) // as other programs print it
	assert.Contains(t, answer(t, write, arguments{"path": "old", "content": "four\n", "hash": whole}), "is written anew")
	assert.Contains(t, answer(t, write, arguments{"path": "empty", "content": "x", "hash": hashOf("")}), "is written anew")
	assert.Contains(t, answer(t, write, arguments{"path": "latin", "content": "é", "hash": hashOf("caf\xe9")}), "is written anew")
	assert.Contains(t, answer(t, write, arguments{"path": "./folder/../folder//x", "content": "x"}), "is new")
	assert.Equal(t, "four\n", disk(t, root, "old"))
	requireEntries(t, root, "old", "empty", "latin", "folder", "nothing", "deep")
}

func TestWhatIsNotWritten(t *testing.T) {
	root := folder(t, map[string]string{"old": "one\n", "folder/x": "x", "large": strings.Repeat("x", 101)})
	write := writers(t, root, tool.Writing{Size: 100})[tool.WriteFileName]
	for want, args := range map[string]arguments{
		`"old": exists already: read it`:                {"path": "old", "content": "x"},
		`"old": has changed since it was read: read it`: {"path": "old", "content": "x", "hash": hashOf("other")},
		`"gone": does not exist any more`:               {"path": "gone", "content": "x", "hash": hashOf("other")},
		`no such file or directory`:                     {"path": "lost/gone", "content": "x", "hash": hashOf("other")},
		`"new" is no hash: read the file`:               {"path": "old", "content": "x", "hash": "new"},
		`is no hash`:                                    {"path": "old", "content": "x", "hash": hashOf("one\n")[:15]},
		`is no hash: read`:                              {"path": "old", "content": "x", "hash": strings.Repeat("0", 65)},
		`is no hash: read the`:                          {"path": "old", "content": "x", "hash": strings.Repeat("é", 1000)},
		`would have 101 bytes`:                          {"path": "n", "content": strings.Repeat("x", 101)},
		`"large": has 101 bytes`:                        {"path": "large", "content": "x", "hash": hashOf(strings.Repeat("x", 101))},
		`would be no text`:                              {"path": "n", "content": "a\x00b"},
		`"folder": is a folder`:                         {"path": "folder", "content": "x"},
		`missing properties`:                            {"path": "n"},
		`missing properties: 'path'`:                    {"content": "n"},
		`the arguments are wrong`:                       {"path": "n", "content": 1},
	} {
		failure := refusal(t, write, args)
		assert.Contains(t, failure, want)
		assert.NotContains(t, failure, hashOf("one\n"), "the model must read")
		assert.Less(t, len(failure), 1000)
	}
	assert.Equal(t, "one\n", disk(t, root, "old"))
	requireEntries(t, root, "old", "folder", "large")
}

// What is repeated after a crash succeeds again, and changes nothing.
func TestARepeatedWriteIsTheFirst(t *testing.T) {
	root := folder(t, map[string]string{"old": "one\n"})
	write := writers(t, root, tool.Writing{})[tool.WriteFileName]
	for _, args := range []arguments{{"path": "new", "content": "x"}, {"path": "old", "content": "two\n", "hash": hashOf("one\n")}} {
		first := answer(t, write, args)
		before, err := os.Stat(filepath.Join(root, args["path"].(string)))
		require.NoError(t, err)
		again := answer(t, write, args)
		assert.Contains(t, again, "holds this already")
		assert.Equal(t, hashIn(t, first), hashIn(t, again))
		after, err := os.Stat(filepath.Join(root, args["path"].(string)))
		require.NoError(t, err)
		assert.True(t, os.SameFile(before, after), "it is not written again")
	}
	require.NoError(t, os.WriteFile(filepath.Join(root, "old"), []byte("by another\n"), 0o600))
	assert.Contains(t, refusal(t, write, arguments{"path": "old", "content": "two\n", "hash": hashOf("one\n")}), "read it again")
	assert.Equal(t, "by another\n", disk(t, root, "old"))
}

func TestAWriteEndsWithItsContext(t *testing.T) {
	root := folder(t, map[string]string{"old": "one\n"})
	made := writers(t, root, tool.Writing{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, args := range map[string]arguments{
		tool.WriteFileName: {"path": "old", "content": "x", "hash": hashOf("one\n")},
		tool.EditFileName:  {"path": "old", "old": "one", "new": "two", "hash": hashOf("one\n")},
	} {
		_, err := use(ctx, t, made[name], args)
		require.ErrorIs(t, err, context.Canceled)
	}
	assert.Equal(t, "one\n", disk(t, root, "old"))
	requireEntries(t, root, "old")
}

func TestAClosedFolderIsNotWritten(t *testing.T) {
	root := folder(t, nil)
	dir, err := tool.OpenDir(root, tool.Limits{})
	require.NoError(t, err)
	write, err := tool.WriteFile(dir, tool.Writing{})
	require.NoError(t, err)
	require.NoError(t, dir.Close())
	assert.NotContains(t, refusal(t, write, arguments{"path": "a", "content": "x"}), root)
	requireEntries(t, root)
}
