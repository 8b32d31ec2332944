package tool_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/tool"
)

func TestLists(t *testing.T) {
	list := tools(t, map[string]string{
		"b.md": "12345", "a.go": "1", "docs/one.md": "", "docs/deep/two.md": "12", "docs/deep/er/three.md": "123", "empty/": "",
		".git/config": "hidden", ".env": "key", "way": "->b.md", "folder-link": "->docs", "two\nlines": "1", `"quoted"`: "1",
	}, tool.Limits{})[tool.ListFilesName]
	for name, c := range map[string]struct {
		args arguments
		want []string
	}{
		"the top": {arguments{}, []string{
			`1 bytes "\"quoted\""`, "3 bytes .env", "folder .git/", "1 bytes a.go", "5 bytes b.md", "folder docs/", "folder empty/",
			"link folder-link", `1 bytes "two\nlines"`, "link way",
		}},
		"a folder":         {arguments{"path": "docs"}, []string{"folder docs/deep/", "0 bytes docs/one.md"}},
		"through a link":   {arguments{"path": "folder-link"}, []string{"folder folder-link/deep/", "0 bytes folder-link/one.md"}},
		"what was hidden":  {arguments{"path": ".git"}, []string{"6 bytes .git/config"}},
		"two levels":       {arguments{"path": "docs/", "depth": 2}, []string{"folder docs/deep/", "folder docs/deep/er/", "2 bytes docs/deep/two.md", "0 bytes docs/one.md"}},
		"by name":          {arguments{"depth": 32, "pattern": "*.md"}, []string{"5 bytes b.md", "3 bytes docs/deep/er/three.md", "2 bytes docs/deep/two.md", "0 bytes docs/one.md"}},
		"by path":          {arguments{"depth": 32, "pattern": "docs/*.md"}, []string{"0 bytes docs/one.md"}},
		"by path, dotted":  {arguments{"depth": 32, "pattern": "./docs/*/"}, []string{"folder docs/deep/", "0 bytes docs/one.md"}},
		"at any depth":     {arguments{"depth": 32, "pattern": "docs/**/t*.md"}, []string{"3 bytes docs/deep/er/three.md", "2 bytes docs/deep/two.md"}},
		"by its own path":  {arguments{"path": "docs", "depth": 32, "pattern": "deep/*.md"}, []string{"2 bytes docs/deep/two.md"}},
		"everything below": {arguments{"path": "docs", "depth": 32, "pattern": "**"}, []string{"folder docs/deep/", "folder docs/deep/er/", "3 bytes docs/deep/er/three.md", "2 bytes docs/deep/two.md", "0 bytes docs/one.md"}},
		"a class":          {arguments{"pattern": "[ab].*"}, []string{"1 bytes a.go", "5 bytes b.md"}},
		"no match":         {arguments{"pattern": "*.rs"}, []string{"Nothing matches."}},
		"nothing":          {arguments{"path": "empty"}, []string{"The folder is empty."}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, strings.Join(c.want, "\n")+"\n", answer(t, list, c.args))
		})
	}
}

func TestWhatCannotBeListed(t *testing.T) {
	list := tools(t, map[string]string{"a": "text"}, tool.Limits{})[tool.ListFilesName]
	for want, args := range map[string]arguments{
		`"a": is a file, no folder`: {"path": "a"},
		"the pattern has a bracket": {"pattern": "["},
		"the arguments are wrong":   {"depth": 0},
		"wrong: ":                   {"depth": 33},
		"pattern":                   {"pattern": strings.Repeat("**/", 1000)},
		"properties that are not":   {"folder": "a"},
		"expected string":           {"path": 7},
	} {
		assert.Contains(t, refusal(t, list, args), want)
	}
}

// A glob matches what its elements match one by one, ** any number of folders.
func TestPatterns(t *testing.T) {
	longform.Lone(t)
	files := make(map[string]string)
	var paths []string
	for _, a := range []string{"a", "b", "ab"} {
		for _, b := range []string{"a", "b", "ab"} {
			for _, c := range []string{"a", "b", "ab"} {
				files[path.Join(a, b, c)] = ""
				paths = append(paths, path.Join(a, b, c))
			}
		}
	}
	list := tools(t, files, tool.Limits{})[tool.ListFilesName]
	random := rand.New(rand.NewPCG(3, 4))
	elements := []string{"a", "b", "*", "**", "?", "a*", "[ab]", "*b", "**"}
	for range 300 {
		var pattern []string
		for range 2 + random.IntN(5) {
			pattern = append(pattern, elements[random.IntN(len(elements))])
		}
		text := "\n" + answer(t, list, arguments{"depth": 3, "pattern": strings.Join(pattern, "/")})
		for _, p := range paths {
			want := matches(pattern, strings.Split(p, "/"))
			assert.Equal(t, want, strings.Contains(text, "\n0 bytes "+p+"\n"), "%q %s", pattern, p)
		}
	}
}

// matches tries everything.
func matches(pattern, name []string) bool {
	if len(pattern) == 0 {
		return len(name) == 0
	}
	if pattern[0] == "**" && matches(pattern[1:], name) {
		return true
	}
	if len(name) == 0 {
		return false
	}
	if pattern[0] == "**" {
		return matches(pattern, name[1:])
	}
	ok, _ := path.Match(pattern[0], name[0])
	return ok && matches(pattern[1:], name[1:])
}

// What is left out is said.
func TestLongLists(t *testing.T) {
	files := make(map[string]string)
	for i := range 120 {
		files[fmt.Sprintf("f%03d", i)] = ""
	}
	root := folder(t, files)
	for most, want := range map[int]string{120: "0 bytes f119\n", 119: "1 more is left out: ", 20: "100 more are left out: "} {
		list, err := tool.ListFiles(opened(t, root, tool.Limits{Entries: most}))
		require.NoError(t, err)
		text := answer(t, list, arguments{})
		assert.Equal(t, most, strings.Count(text, " bytes f"))
		assert.Contains(t, text, want)
	}
	for i := range 150 {
		files[fmt.Sprintf("long/%s%03d", strings.Repeat("x", 240), i)] = ""
	}
	files["long/z"] = ""
	list, err := tool.ListFiles(opened(t, folder(t, files), tool.Limits{Entries: 20_000}))
	require.NoError(t, err)
	text := answer(t, list, arguments{"depth": 2})
	assert.LessOrEqual(t, len(text), 31<<10)
	assert.Contains(t, text, "more are left out")
	assert.NotContains(t, text, "long/z", "nothing comes behind what is left out")
}

func TestVeryManyEntries(t *testing.T) {
	files := make(map[string]string)
	for i := range 100 {
		files[fmt.Sprintf("%d/%d", i/10, i)] = "text"
	}
	dir := opened(t, folder(t, files), tool.Limits{Entries: 5})
	dir.LookAt(50)
	made, err := tool.Tools(dir)
	require.NoError(t, err)
	assert.Contains(t, answer(t, made[tool.ListFilesName], arguments{"depth": 2}), "At least 45 more are left out")
	assert.Contains(t, answer(t, made[tool.ListFilesName], arguments{"depth": 2, "pattern": "x"}), "Only 50 entries were looked at")
	assert.Contains(t, answer(t, made[tool.ListFilesName], arguments{"path": "9"}), "5 more are left out")
	assert.Contains(t, answer(t, made[tool.SearchName], arguments{"query": "x y"}), "Nothing was found.\nNot all files were looked at")
}

func TestFoldersThatCannotBeRead(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("everything can be read")
	}
	root := folder(t, map[string]string{"shut/a": "", "open/b": ""})
	require.NoError(t, os.Chmod(filepath.Join(root, "shut"), 0))
	t.Cleanup(func() { require.NoError(t, os.Chmod(filepath.Join(root, "shut"), 0o700)) })
	list, err := tool.ListFiles(opened(t, root, tool.Limits{}))
	require.NoError(t, err)
	assert.Contains(t, answer(t, list, arguments{"depth": 2}), "0 bytes open/b\nfolder shut/\n1 of the folders cannot be read.\n")
	assert.Contains(t, refusal(t, list, arguments{"path": "shut"}), "permission denied")
}
