package tool_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/tool"
)

// A model that gives back what it has read of a file changes nothing else in it, whatever characters the file holds.
func TestAFileIsReadAsItIs(t *testing.T) {
	const content = "\ufeffone\f\x1b[2Jtwo\rthree\r\n\v\u202efour\n"
	read := regexp.MustCompile(`(?s)Hash ([0-9a-f]{16})\.\n\n(.*four\n)`)
	for name, again := range map[string]func(hash, text string) provider.ToolCall{
		tool.WriteFileName: func(hash, text string) provider.ToolCall {
			return used(t, tool.WriteFileName, map[string]string{"path": "f", "hash": hash, "content": text + "five\n"})
		},
		tool.EditFileName: func(hash, text string) provider.ToolCall {
			return used(t, tool.EditFileName, map[string]string{"path": "f", "hash": hash, "old": text, "new": text + "five\n"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			path := filepath.Join(root, "f")
			require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
			dir, err := tool.OpenDir(root, tool.Limits{})
			require.NoError(t, err)
			defer func() { require.NoError(t, dir.Close()) }()
			tools, err := tool.Tools(dir)
			require.NoError(t, err)
			tools[tool.WriteFileName], err = tool.WriteFile(dir, tool.Writing{Unasked: true})
			require.NoError(t, err)
			tools[tool.EditFileName], err = tool.EditFile(dir, tool.Writing{Unasked: true})
			require.NoError(t, err)

			p := stage.AdaAlone(&scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
				var answers []string
				for _, m := range req.Messages {
					if m.ToolResult != nil {
						answers = append(answers, m.ToolResult.Text)
					}
				}
				if len(answers) == 0 {
					return scripted.Reply{Calls: []provider.ToolCall{used(t, tool.ReadFileName, map[string]string{"path": "f"})}}
				}
				if found := read.FindStringSubmatch(answers[0]); len(answers) == 1 && assert.NotNil(t, found, "%q", answers[0]) {
					return scripted.Reply{Calls: []provider.ToolCall{again(found[1], found[2])}}
				}
				return scripted.Reply{Text: strings.Join(answers, "; ")}
			}})
			engine := stage.WorkshopEngine(p, 5, tools)
			config := stage.ToolUsers()
			config.Tools = []string{tool.ReadFileName, name}
			stage.Run(t, engine, stage.InFlow(engine, config))
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, content+"five\n", string(after))
		})
	}
}

// used is a model's wish to use a tool with these arguments.
func used(t *testing.T, name string, arguments map[string]string) provider.ToolCall {
	t.Helper()
	data, err := json.Marshal(arguments)
	assert.NoError(t, err)
	return stage.ToolCall("1", name, string(data))
}
