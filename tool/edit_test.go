package tool_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/tool"
)

func TestEdits(t *testing.T) {
	numbered := "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	for name, c := range map[string]struct {
		before   string
		from, to string
		count    int
		after    string
		shown    string
	}{
		"a word": {
			"a\nb\nthe old word\nc\nd\ne\n", "old", "new", 0, "a\nb\nthe new word\nc\nd\ne\n",
			"@@ line 3 @@\n a\n b\n-the old word\n+the new word\n c\n d\n",
		},
		"the first line":  {numbered, "1", "one", 0, "one" + numbered[1:], "@@ line 1 @@\n-1\n+one\n 2\n 3\n"},
		"the last line":   {"a\nb", "b", "c", 0, "a\nc", "@@ line 2 @@\n a\n-b\n+c\n"},
		"lines to one":    {numbered, "4\n5\n6", "456", 0, "1\n2\n3\n456\n7\n8\n9\n", "@@ line 4 @@\n 2\n 3\n-4\n-5\n-6\n+456\n 7\n 8\n"},
		"a line less":     {numbered, "5\n", "", 0, "1\n2\n3\n4\n6\n7\n8\n9\n", "@@ line 5 @@\n 3\n 4\n-5\n 6\n 7\n"},
		"a line more":     {numbered, "5\n", "5\n5½\n", 0, "1\n2\n3\n4\n5\n5½\n6\n7\n8\n9\n", "@@ line 5 @@\n 3\n 4\n-5\n+5\n+5½\n 6\n 7\n"},
		"lines joined":    {numbered, "\n5\n", "-5-", 0, "1\n2\n3\n4-5-6\n7\n8\n9\n", "@@ line 4 @@\n 2\n 3\n-4\n-5\n-6\n+4-5-6\n 7\n 8\n"},
		"the end removed": {"a\nb\n", "b\n", "", 0, "a\n", "@@ line 2 @@\n a\n-b\n"},
		"everything":      {"a\nb\n", "a\nb\n", "", 0, "", "@@ line 1 @@\n-a\n-b\n"},
		"two in a line":   {"x y x\nz\n", "x", "w", 2, "w y w\nz\n", "@@ line 1 @@\n-x y x\n+w y w\n z\n"},
		"two near lines":  {"x1\ny\nx2\n", "x", "w", 2, "w1\ny\nw2\n", "@@ line 1 @@\n-x1\n+w1\n y\n@@ line 3 @@\n y\n-x2\n+w2\n"},
		"many": {
			strings.Repeat("x\n", 5), "x", "y", 5, strings.Repeat("y\n", 5),
			"@@ line 1 @@\n-x\n+y\n@@ line 2 @@\n-x\n+y\n@@ line 3 @@\n-x\n+y\n… and more\n",
		},
		"other letters": {"αβγ\r\nδ\r\n", "β", "ββ", 0, "αββγ\r\nδ\r\n", "@@ line 1 @@\n-αβγ\r\n+αββγ\r\n δ\r\n"},
		"within itself": {"f(x)\n", "x", "g(x)", 0, "f(g(x))\n", "@@ line 1 @@\n-f(x)\n+f(g(x))\n"},
	} {
		t.Run(name, func(t *testing.T) {
			root := folder(t, map[string]string{"f": c.before})
			edit := writers(t, root, tool.Writing{})[tool.EditFileName]
			args := arguments{"path": "f", "hash": hashOf(c.before), "old": c.from, "new": c.to}
			places := "1 place"
			if c.count > 0 {
				args["count"] = c.count
				places = map[int]string{2: "2 places", 5: "5 places"}[c.count]
			}
			want := "Changed " + places + ". Hash " + hashOf(c.after) + ".\n\n" + c.shown
			assert.Equal(t, want, answer(t, edit, args))
			assert.Equal(t, c.after, disk(t, root, "f"))
			requireEntries(t, root, "f")

			// After a crash it is repeated, and is not made twice.
			again, err := use(t.Context(), t, edit, args)
			if err != nil {
				assert.EqualError(t, err, `"f": has changed since it was read: read it again`)
				assert.Empty(t, c.to, "else it is recognised")
			} else {
				assert.Equal(t, want, again)
			}
			assert.Equal(t, c.after, disk(t, root, "f"))
		})
	}
}

func TestWhatIsNotEdited(t *testing.T) {
	files := map[string]string{
		"f": "one two-two\n", "overlap": "ababa", "crlf": "one\r\ntwo\r\n", "latin": "caf\xe9", "zero": "a\x00b", "large": strings.Repeat("x", 101),
		"full": strings.Repeat("x", 99) + "y", "folder/x": "x",
	}
	root := folder(t, files)
	edit := writers(t, root, tool.Writing{Size: 100})[tool.EditFileName]
	for want, args := range map[string]arguments{
		`"f": has changed since it was read: read it again`:       {"path": "f", "hash": hashOf("other"), "old": "one", "new": "x"},
		`"f": does not contain the old text`:                      {"path": "f", "old": "three", "new": "x"},
		`"f": contains the old text in more than 1 place`:         {"path": "f", "old": "two", "new": "x"},
		`"f": contains the old text in only 2 places`:             {"path": "f", "old": "two", "new": "x", "count": 3},
		`"f": contains the old text in only 1 place`:              {"path": "f", "old": "one", "new": "x", "count": 3},
		`"f": would not change`:                                   {"path": "f", "old": "one", "new": "one"},
		`"overlap": contains the old text in more than 1 place`:   {"path": "overlap", "old": "aba", "new": "x"},
		`"overlap": contains the old text in places that overlap`: {"path": "overlap", "old": "aba", "new": "x", "count": 2},
		`"crlf": has lines that end with "\r\n"`:                  {"path": "crlf", "old": "one\ntwo", "new": "x"},
		`"latin": is no text in UTF-8`:                            {"path": "latin", "old": "c", "new": "x"},
		`"zero": is no text in UTF-8`:                             {"path": "zero", "old": "a", "new": "x"},
		`would be no text`:                                        {"path": "f", "old": "one", "new": "\x00"},
		`"large": has 101 bytes`:                                  {"path": "large", "old": "x", "new": "y"},
		`"full": would have 101 bytes, of which at most 100`:      {"path": "full", "old": "y", "new": "zz"},
		`"gone": does not exist`:                                  {"path": "gone", "hash": hashOf(""), "old": "y", "new": "zz"},
		`"lost/gone": no such file`:                               {"path": "lost/gone", "hash": hashOf(""), "old": "y", "new": "zz"},
		`"folder": is a folder`:                                   {"path": "folder", "hash": hashOf(""), "old": "y", "new": "zz"},
		`"" is no hash`:                                           {"path": "f", "hash": "", "old": "one", "new": "x"},
		`missing properties: 'hash'`:                              {"path": "f", "hash": nil, "old": "one", "new": "x"},
		`the arguments are wrong: /old`:                           {"path": "f", "old": "", "new": "x"},
		`the arguments are wrong: /count`:                         {"path": "f", "old": "one", "new": "x", "count": -1},
		`count`:                                                   {"path": "f", "old": "one", "new": "x", "count": 1 << 62},
	} {
		if hash, ok := args["hash"]; !ok {
			args["hash"] = hashOf(files[args["path"].(string)])
		} else if hash == nil {
			delete(args, "hash")
		}
		failure := refusal(t, edit, args)
		assert.Contains(t, failure, want)
		assert.Less(t, len(failure), 1000)
	}
	for name, content := range files {
		assert.Equal(t, content, disk(t, root, name))
	}
	requireEntries(t, root, "f", "overlap", "crlf", "latin", "zero", "large", "full", "folder")
}

// The answer of an edit is short, however much of the file changes.
func TestLongEdits(t *testing.T) {
	line := strings.Repeat("é", 1000) + "\n"
	before := "begin\n" + strings.Repeat(line, 100) + "end\n"
	root := folder(t, map[string]string{"f": before, "g": strings.Repeat("ab", 1000)})
	edit := writers(t, root, tool.Writing{})[tool.EditFileName]
	text := answer(t, edit, arguments{"path": "f", "hash": hashOf(before), "old": strings.Repeat(line, 100), "new": strings.Repeat("x\n", 1000)})
	assert.Less(t, len(text), 5000)
	assert.Contains(t, text, "-… 80 more lines\n")
	assert.Contains(t, text, "+… 980 more lines\n")
	assert.Equal(t, "begin\n"+strings.Repeat("x\n", 1000)+"end\n", disk(t, root, "f"))

	text = answer(t, edit, arguments{"path": "g", "hash": hashOf(strings.Repeat("ab", 1000)), "old": "a", "new": "A", "count": 1000})
	assert.Less(t, len(text), 1000)
	assert.Equal(t, strings.Repeat("Ab", 1000), disk(t, root, "g"))
}
