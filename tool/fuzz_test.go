package tool_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/tool"
)

// FuzzUse has models write any arguments, paths, patterns and queries among them: nothing panics, nothing is longer
// than an engine takes, nothing leads out of the folder.
func FuzzUse(f *testing.F) {
	root := folder(f, map[string]string{"a.txt": "plain\ntext", "sub/b.txt": "below", "out": "->../secret", "up": "->..", "loop": "->loop"})
	made, err := tool.Tools(opened(f, root, tool.Limits{}))
	if err != nil {
		f.Fatal(err)
	}
	maps.Copy(made, writers(f, root, tool.Writing{Except: []string{"a.txt"}}))
	made[tool.RunCommandName], err = tool.RunCommand(opened(f, root, tool.Limits{}), tool.Commands{Programs: []tool.Program{{
		Name: "nothing", Path: must(os.Executable()), Check: func(string, []string) error { return errRefused },
	}}})
	if err != nil {
		f.Fatal(err)
	}
	for _, args := range []string{
		``, `{}`, `null`, `[]`, `{"path":"a.txt"}`, `{"path":"../secret"}`, `{"path":"out"}`, `{"path":"up/secret"}`, `{"path":"sub/../../secret"}`,
		`{"path":"\u0000"}`, `{"path":"loop"}`, `{"path":"/"}`, `{"path":"a.txt","offset":2,"limit":9}`, `{"path":"a.txt","offset":1e300}`,
		`{"depth":3,"pattern":"**/[a-z]*.txt"}`, `{"pattern":"["}`, `{"pattern":"***/\\"}`, `{"query":"plain"}`, `{"query":"(a*)*","regexp":true}`,
		`{"query":"the","in":"files","path":"sub"}`, `{"query":"\\pL{3}|^$","regexp":true,"caseSensitive":true}`,
		`{"path":"n/e/w","content":"x"}`, `{"path":"../secret","content":"x"}`, `{"path":"out","content":"x"}`, `{"path":"up/x","content":"x"}`,
		`{"path":"sub/b.txt","content":"y","hash":"` + hashOf("below") + `"}`, `{"path":"A.TXT","content":"x"}`, `{"path":".git/x","content":""}`,
		`{"path":"sub/b.txt","old":"below","new":"below","count":1,"hash":"` + hashOf("below") + `"}`, `{"program":"nothing","arguments":["\u0000"]}`,
		`{"program":"nothing","folder":"../","arguments":[]}`, `{"program":"","arguments":[1]}`,
	} {
		f.Add(args)
	}
	turns := []*flow.Turn{{Speaker: "Ada", Round: 1, Kind: "opening", Text: "plain words\nand more"}}
	f.Fuzz(func(t *testing.T, args string) {
		for name, used := range made {
			text, err := used.Use(t.Context(), flow.ToolUse{Arguments: []byte(args), Turns: turns})
			assert.NotContains(t, text, secret, name)
			assert.LessOrEqual(t, len(text), 32<<10, name)
			if err != nil {
				assert.NotEmpty(t, err.Error())
				assert.NotContains(t, err.Error(), secret, name)
				assert.NotContains(t, err.Error(), filepath.Dir(root), name)
			} else {
				assert.NotEmpty(t, strings.TrimSpace(text), name)
			}
			assert.Equal(t, "plain\ntext", disk(t, root, "a.txt"))
			assert.Equal(t, secret, disk(t, filepath.Dir(root), "secret"))
		}
	})
}
