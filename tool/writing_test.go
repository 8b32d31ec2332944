package tool_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/tool"
)

// writers returns the tools that write, and the one that reads, over a folder.
func writers(t testing.TB, root string, writing tool.Writing) map[string]flow.Tool {
	t.Helper()
	dir := opened(t, root, tool.Limits{})
	write, err := tool.WriteFile(dir, writing)
	require.NoError(t, err)
	edit, err := tool.EditFile(dir, writing)
	require.NoError(t, err)
	read, err := tool.ReadFile(dir)
	require.NoError(t, err)
	return map[string]flow.Tool{tool.WriteFileName: write, tool.EditFileName: edit, tool.ReadFileName: read}
}

// disk returns what a file holds.
func disk(t testing.TB, root, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	require.NoError(t, err)
	return string(data)
}

// requireEntries fails the test unless a folder holds these entries, and nothing beside them.
func requireEntries(t testing.TB, root string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	names := []string{}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	require.ElementsMatch(t, want, names)
}

// A tool that changes something asks a person, unless the host program says otherwise. None is among those that are
// made together.
func TestToolsThatWriteAsk(t *testing.T) {
	root := folder(t, nil)
	for _, unasked := range []bool{false, true} {
		made := writers(t, root, tool.Writing{Unasked: unasked})
		for _, name := range []string{tool.WriteFileName, tool.EditFileName} {
			info := made[name].Describe()
			assert.Equal(t, !unasked, info.Approval, name)
			assert.True(t, info.Idempotent, name)
			assert.False(t, info.ReadOnly, name)
			assert.NotEmpty(t, info.Description)
		}
	}
	reading, err := tool.Tools(opened(t, root, tool.Limits{}))
	require.NoError(t, err)
	assert.Len(t, reading, 3)
	for name, made := range reading {
		assert.True(t, made.Describe().ReadOnly, name)
		assert.False(t, made.Describe().Approval, name)
	}
}

func TestWhatIsNoWriting(t *testing.T) {
	dir := opened(t, folder(t, nil), tool.Limits{})
	for field, writing := range map[string]tool.Writing{
		"writing.size":      {Size: -1},
		"writing.only[1]":   {Only: []string{"a", "["}},
		"writing.only[0]":   {Only: []string{""}},
		"writing.except[0]": {Except: []string{strings.Repeat("x", 257)}},
	} {
		_, err := tool.WriteFile(dir, writing)
		requireField(t, err, field)
		_, err = tool.EditFile(dir, writing)
		requireField(t, err, field)
	}
	_, err := tool.WriteFile(dir, tool.Writing{Size: 4<<20 + 1})
	requireField(t, err, "writing.size")
	for _, none := range []*tool.Dir{nil, {}} {
		_, err := tool.WriteFile(none, tool.Writing{})
		requireField(t, err, "dir")
		_, err = tool.EditFile(none, tool.Writing{})
		requireField(t, err, "dir")
	}
}

// Nothing outside of the folder is written, no link is followed, and nothing is left behind.
func TestWritesStayInTheFolder(t *testing.T) {
	root := folder(t, map[string]string{
		"a.txt": "plain", "sub/b.txt": "below", "to-file": "->../secret", "to-outer": "->..", "absolute": "->OUTER/secret", "loop": "->loop",
		"inner": "->sub/b.txt", "inside": "->sub", "nowhere": "->gone", "out-of-reach": "->../made",
	})
	outer := filepath.Dir(root)
	made := writers(t, root, tool.Writing{})
	for _, path := range []string{
		"", ".", "/", "..", "../", "../secret", "../made", "sub/../../made", outer + "/made", "//server/share", "a.txt/x", "sub", "sub/", "new/",
		"to-file", "to-outer/made", "to-outer/secret", "absolute", "loop", "loop/x", "inner", "inside/c.txt", "inside/b.txt", "nowhere", "out-of-reach",
		"a\x00b", "\x00", strings.Repeat("x", 300), strings.Repeat("x", 1<<20), strings.Repeat("a/", 33) + "b", strings.Repeat("../", 2000) + "made",
		".hidden", ".git/hooks/pre-commit", "sub/.env", "x/./.y", "a\nb", "a\u202eb", "a\u200db", "\x1b[31m", "a\u2028",
	} {
		for name, args := range map[string]arguments{
			tool.WriteFileName: {"path": path, "content": "taken"},
			tool.EditFileName:  {"path": path, "old": "the", "new": "taken", "hash": hashOf(secret)},
		} {
			failure := refusal(t, made[name], args)
			assert.Less(t, len(failure), 1200, "%s %q", name, path)
			if !strings.Contains(path, outer) {
				assert.NotContains(t, failure, outer, "%s %q", name, path)
			}
		}
	}
	requireEntries(t, outer, "root", "secret")
	requireEntries(t, root, "a.txt", "sub", "to-file", "to-outer", "absolute", "loop", "inner", "inside", "nowhere", "out-of-reach")
	requireEntries(t, filepath.Join(root, "sub"), "b.txt")
	assert.Equal(t, "below", disk(t, root, "sub/b.txt"))
	assert.Equal(t, secret, disk(t, outer, "secret"))
}

func TestWhatMayBeWritten(t *testing.T) {
	for name, c := range map[string]struct {
		writing  tool.Writing
		may, not []string
	}{
		"all but hidden": {
			tool.Writing{}, []string{"a", "docs/a.md", "a b", "…", "a/b/c/d"}, []string{".a", "docs/.a", ".docs/a"},
		},
		"hidden": {tool.Writing{Hidden: true}, []string{".a", ".docs/a", "a"}, nil},
		"only": {
			tool.Writing{Only: []string{"docs", "src/**/*.go", "*.md"}},
			[]string{"docs/a", "docs/deep/a.txt", "x/docs/a", "src/a.go", "src/x/y/a.go", "a.md", "x/a.md"},
			[]string{"a", "src/a.txt", "src", "doc/a", "docs2/a", "Docs/a"},
		},
		"except": {
			tool.Writing{Except: []string{"Secrets", "*.KEY", "conf/**/prod.yaml", "straße", "caf\u00e9"}},
			[]string{"a", "secret/a", "conf/test.yaml"},
			[]string{
				"secrets/a", "SECRETS/deep/a", "x/sEcReTs/a", "secrets", "\u017fecrets/a", "\uff53ecrets/a", "a.key", "x/a.KeY", "a.\u212aey",
				"conf/prod.yaml", "CONF/x/Prod.YAML", "STRASSE/a", "cafe\u0301/a",
			},
		},
		"both": {tool.Writing{Only: []string{"docs"}, Except: []string{"docs/old"}}, []string{"docs/a"}, []string{"docs/old/a", "DOCS/a", "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			root := folder(t, nil)
			made := writers(t, root, c.writing)
			for _, path := range c.not {
				assert.Contains(t, refusal(t, made[tool.WriteFileName], arguments{"path": path, "content": "x"}), "may not be written", path)
				assert.Contains(t, refusal(t, made[tool.EditFileName], arguments{"path": path, "hash": hashOf("x"), "old": "x", "new": "y"}),
					"may not be written", path)
			}
			requireEntries(t, root)
			for _, path := range c.may {
				assert.Contains(t, answer(t, made[tool.WriteFileName], arguments{"path": path, "content": "x"}), "is new", path)
				assert.Equal(t, "x", disk(t, root, path))
				assert.NoError(t, os.RemoveAll(filepath.Join(root, filepath.FromSlash(path))))
			}
		})
	}
}

// While tools write, somebody puts a link that leads out in place of a file, and of a folder.
func TestLinksThatAppearWhileToolsWrite(t *testing.T) {
	root := folder(t, map[string]string{"dir/secret": "harmless", "file": "harmless"})
	made := writers(t, root, tool.Writing{})
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			default:
			}
			for name, target := range map[string]string{"dir": "..", "file": "../secret"} {
				at := filepath.Join(root, name)
				_ = os.Rename(at, at+".kept")
				_ = os.Symlink(target, at)
				_ = os.Remove(at)
				_ = os.Rename(at+".kept", at)
			}
		}
	}()
	written := 0
	for n := 0; n < manyWrites || written == 0; n++ {
		for _, path := range []string{"dir/secret", "file"} {
			text, err := use(t.Context(), t, made[tool.ReadFileName], arguments{"path": path})
			if err != nil {
				continue
			}
			if _, err = use(t.Context(), t, made[tool.EditFileName], arguments{"path": path, "hash": hashIn(t, text), "old": "r", "new": "rr"}); err == nil {
				written++
			}
			if _, err = use(t.Context(), t, made[tool.WriteFileName], arguments{"path": path, "hash": hashIn(t, text), "content": "harmless"}); err == nil {
				written++
			}
		}
	}
	close(done)
	<-stopped
	assert.Equal(t, secret, disk(t, filepath.Dir(root), "secret"))
	requireEntries(t, filepath.Dir(root), "root", "secret")
}
