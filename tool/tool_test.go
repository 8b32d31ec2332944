package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/tool"
)

// secret is what a file outside of the folder holds.
const secret = "the combination is 4711"

// folder makes a folder with files, beside a file with the secret, and yields where it is. A name that ends in a
// slash is a folder; a content that begins with "->" is a link.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	outer := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outer, "secret"), []byte(secret), 0o600))
	root := filepath.Join(outer, "root")
	require.NoError(t, os.Mkdir(root, 0o700))
	for name, content := range files {
		at := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o700))
		target, link := strings.CutPrefix(content, "->")
		switch {
		case strings.HasSuffix(name, "/"):
			require.NoError(t, os.MkdirAll(at, 0o700))
		case link:
			require.NoError(t, os.Symlink(strings.ReplaceAll(target, "OUTER", outer), at))
		default:
			require.NoError(t, os.WriteFile(at, []byte(content), 0o600))
		}
	}
	return root
}

func opened(t testing.TB, root string, limits tool.Limits) *tool.Dir {
	t.Helper()
	dir, err := tool.OpenDir(root, limits)
	require.NoError(t, err)
	dir.Within(24 * time.Hour) // however slow the machine is
	t.Cleanup(func() { require.NoError(t, dir.Close()) })
	return dir
}

// tools returns all tools, over a folder with files.
func tools(t testing.TB, files map[string]string, limits tool.Limits) map[string]flow.Tool {
	t.Helper()
	made, err := tool.Tools(opened(t, folder(t, files), limits))
	require.NoError(t, err)
	return made
}

// arguments are what a model writes.
type arguments map[string]any

func use(ctx context.Context, t testing.TB, used flow.Tool, args arguments, turns ...*flow.Turn) (string, error) {
	t.Helper()
	text, err := json.Marshal(args)
	require.NoError(t, err)
	answer, err := used.Use(ctx, flow.ToolUse{Arguments: text, Turns: turns})
	assert.LessOrEqual(t, len(answer), 32<<10, "an engine cuts what is longer")
	return answer, err
}

func answer(t testing.TB, used flow.Tool, args arguments, turns ...*flow.Turn) string {
	t.Helper()
	text, err := use(t.Context(), t, used, args, turns...)
	require.NoError(t, err)
	return text
}

func refusal(t testing.TB, used flow.Tool, args arguments) string {
	t.Helper()
	text, err := use(t.Context(), t, used, args)
	require.Error(t, err)
	assert.Empty(t, text)
	return err.Error()
}

func TestWhatIsNoFolder(t *testing.T) {
	root := folder(t, map[string]string{"file": "text", "loop": "->loop", "broken": "->nowhere"})
	for name, c := range map[string]struct {
		root   string
		limits tool.Limits
		field  string
	}{
		"empty":            {"", tool.Limits{}, "root"},
		"missing":          {filepath.Join(root, "missing"), tool.Limits{}, "root"},
		"a file":           {filepath.Join(root, "file"), tool.Limits{}, "root"},
		"a loop":           {filepath.Join(root, "loop"), tool.Limits{}, "root"},
		"a broken link":    {filepath.Join(root, "broken"), tool.Limits{}, "root"},
		"a zero byte":      {"a\x00b", tool.Limits{}, "root"},
		"negative file":    {root, tool.Limits{File: -1}, "limits.file"},
		"negative entries": {root, tool.Limits{Entries: -1}, "limits.entries"},
		"negative matches": {root, tool.Limits{Matches: -1}, "limits.matches"},
		"large file":       {root, tool.Limits{File: 4<<20 + 1}, "limits.file"},
		"endless file":     {root, tool.Limits{File: math.MaxInt}, "limits.file"},
		"many entries":     {root, tool.Limits{Entries: 20_001}, "limits.entries"},
		"many matches":     {root, tool.Limits{Matches: 1001}, "limits.matches"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tool.OpenDir(c.root, c.limits)
			requireField(t, err, c.field)
		})
	}
	opened(t, root, tool.Limits{File: 4 << 20, Entries: 20_000, Matches: 1000})
	for _, dir := range []*tool.Dir{nil, {}} {
		_, err := tool.ListFiles(dir)
		requireField(t, err, "dir")
		_, err = tool.ReadFile(dir)
		requireField(t, err, "dir")
		_, err = tool.Tools(dir)
		requireField(t, err, "dir")
	}
	_, err := tool.Search(&tool.Dir{})
	requireField(t, err, "dir")
}

func requireField(t testing.TB, err error, field string) {
	t.Helper()
	var failure *flow.Error
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, provider.KindValidation, failure.Kind)
	assert.Equal(t, field, failure.Field)
}

func TestToolsChangeNothingAndDescribeThemselves(t *testing.T) {
	for name, made := range tools(t, nil, tool.Limits{}) {
		info := made.Describe()
		assert.True(t, info.ReadOnly, name)
		assert.NotEmpty(t, info.Description, name)
		var schema struct {
			Type       string                     `json:"type"`
			Properties map[string]json.RawMessage `json:"properties"`
			Required   []string                   `json:"required"`
		}
		require.NoError(t, json.Unmarshal(info.Parameters, &schema))
		assert.Equal(t, "object", schema.Type)
		want := map[string][]string{
			tool.ListFilesName: {"path", "depth", "pattern"},
			tool.ReadFileName:  {"path", "offset", "limit"},
			tool.SearchName:    {"query", "regexp", "caseSensitive", "in", "path"},
		}[name]
		assert.Len(t, schema.Properties, len(want), name)
		for _, property := range want {
			assert.Contains(t, schema.Properties, property, name)
		}
		assert.LessOrEqual(t, len(schema.Required), 1, name)
	}
	alone, err := tool.Search(nil)
	require.NoError(t, err)
	assert.NotContains(t, string(alone.Describe().Parameters), `"path"`)
	assert.Equal(t, "Nothing was found.\n", answer(t, alone, arguments{"query": "anything"}))
}

// No path leads out of the folder, and no error says where the folder is.
func TestPathsStayInTheFolder(t *testing.T) {
	files := map[string]string{
		"a.txt": "plain", "sub/b.txt": "below", "to-file": "->../secret", "to-outer": "->..", "absolute": "->OUTER/secret",
		"sub/up": "->../../secret", "loop": "->loop", "ping": "->pong", "pong": "->ping", "chain": "->sub/up", "nowhere": "->gone",
		"root-by-name": "->OUTER/root", "inner": "->sub/b.txt", "there-and-back": "->../root/a.txt",
	}
	root := folder(t, files)
	made, err := tool.Tools(opened(t, root, tool.Limits{}))
	require.NoError(t, err)
	outer := filepath.Dir(root)
	for _, path := range []string{
		"../secret", "..", "../", "../..", "../root/a.txt", "sub/../../secret", "./../secret", "a.txt/../../secret", "sub/../../root/a.txt",
		"/", "//", "/etc/passwd", outer + "/secret", root + "/a.txt", "//server/share",
		"to-file", "to-outer/secret", "to-outer", "absolute", "sub/up", "chain", "root-by-name/a.txt", "root-by-name", "there-and-back",
		"loop", "loop/x", "ping", "nowhere", "missing", "missing/deep", "a.txt/x", "~/secret", "$HOME", "%2e%2e/secret", "..%2fsecret",
		"a\x00b", "\x00", "a.txt\x00", strings.Repeat("x", 300), strings.Repeat("x", 1<<20), strings.Repeat("a/", 3000) + "b",
		strings.Repeat("../", 2000) + "etc/passwd", strings.Repeat("sub/../", 500) + "../secret",
		`..\secret`, `C:\Windows\win.ini`, `C:secret`, `\\server\share\x`, `\\?\C:\x`, `\\.\PhysicalDrive0`, `//?/C:/x`, "NUL", "CON", "aux.txt",
		"a.txt::$DATA", `sub\..\..\secret`, "…", "\u202etxt.a", "．．/secret", "a.txt ", "a.txt.",
	} {
		for _, name := range []string{tool.ListFilesName, tool.ReadFileName, tool.SearchName} {
			failure := refusal(t, made[name], arguments{"path": path, "query": "the"}.of(name))
			assert.NotContains(t, failure, secret)
			if !strings.Contains(path, outer) {
				assert.NotContains(t, failure, outer, "%s %q", name, path)
			}
			assert.Less(t, len(failure), 1200, "%s %q", name, path)
		}
	}
	for path, want := range map[string]string{
		"a.txt": "plain", "./a.txt": "plain", "sub/../a.txt": "plain", "sub//b.txt": "below", "sub/./b.txt": "below", "inner": "below",
		"sub/b.txt/": "below", "missing/../a.txt": "plain",
	} {
		assert.Contains(t, answer(t, made[tool.ReadFileName], arguments{"path": path}), want, path)
	}
	assert.Contains(t, refusal(t, made[tool.ReadFileName], arguments{"path": "no/such"}), `"no/such": `)
	assert.NotContains(t, refusal(t, made[tool.ReadFileName], arguments{"path": "no/such"}), "openat")
	assert.NotContains(t, refusal(t, made[tool.ReadFileName], arguments{"path": "no/such"}), "statat")
	assert.Contains(t, refusal(t, made[tool.ReadFileName], arguments{"path": "/etc/passwd"}), `"/etc/passwd": is absolute`)

	listed := answer(t, made[tool.ListFilesName], arguments{"depth": 32})
	assert.Contains(t, listed, "link to-outer\n")
	assert.NotContains(t, listed, "secret")
	assert.NotContains(t, answer(t, made[tool.SearchName], arguments{"query": "combination"}), secret)
}

// of leaves out what a tool has no argument for.
func (a arguments) of(name string) arguments {
	out := arguments{"path": a["path"]}
	if name == tool.SearchName {
		out["query"] = a["query"]
	}
	return out
}

// While tools look, somebody puts a link that leads out in place of a file, and of a folder.
func TestLinksThatAppearMeanwhile(t *testing.T) {
	root := folder(t, map[string]string{"dir/secret": "harmless", "file": "harmless"})
	made, err := tool.Tools(opened(t, root, tool.Limits{}))
	require.NoError(t, err)
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
	read := 0
	for n := 0; n < manyReads/5 || read == 0; n++ {
		for _, path := range []string{"dir/secret", "file"} {
			text, err := use(t.Context(), t, made[tool.ReadFileName], arguments{"path": path})
			assert.NotContains(t, text, secret)
			if err == nil {
				read++
			}
		}
	}
	for range 20 {
		text, err := use(t.Context(), t, made[tool.SearchName], arguments{"query": "combination"})
		require.True(t, err == nil || !errors.Is(err, context.Canceled))
		assert.NotContains(t, text, secret)
	}
	close(done)
	<-stopped
}

func TestClosedFolders(t *testing.T) {
	root := folder(t, map[string]string{"a": "text"})
	dir, err := tool.OpenDir(root, tool.Limits{})
	require.NoError(t, err)
	made, err := tool.Tools(dir)
	require.NoError(t, err)
	require.NoError(t, dir.Close())
	for _, name := range []string{tool.ListFilesName, tool.ReadFileName, tool.SearchName} {
		failure := refusal(t, made[name], arguments{"path": "a", "query": "text"}.of(name))
		assert.NotContains(t, failure, root)
	}
}

func TestToolsEndWithTheirContext(t *testing.T) {
	made := tools(t, map[string]string{"a": "text"}, tool.Limits{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	turn := &flow.Turn{Speaker: "Ada", Text: "text"}
	for name, args := range map[string]arguments{
		tool.ListFilesName: {}, tool.ReadFileName: {"path": "a"}, tool.SearchName: {"query": "text", "in": "files"},
	} {
		_, err := use(ctx, t, made[name], args, turn)
		require.ErrorIs(t, err, context.Canceled, name)
	}
	_, err := use(ctx, t, made[tool.SearchName], arguments{"query": "text", "in": "debate"}, turn)
	require.ErrorIs(t, err, context.Canceled)
}
