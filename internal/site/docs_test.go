package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/longform"
	site "github.com/agonist-dev/debate/internal/site"
	"github.com/agonist-dev/debate/provider/scripted"
)

// root is the folder of the repository.
const root = "../.."

const (
	maintainers = "For maintainers"
	mostWords   = 28_600 // of README.md and what users find in docs/
	mostReadme  = 1500   // words of README.md
	ours        = "github.com/agonist-dev/debate"
)

func read(t *testing.T) *site.Site {
	t.Helper()
	s, err := site.Read(os.DirFS(root))
	require.NoError(t, err)
	return s
}

// pages returns the pages that are held to their code.
func pages(t *testing.T) []*site.Page {
	t.Helper()
	return slices.DeleteFunc(slices.Clone(read(t).Pages), func(p *site.Page) bool {
		return strings.HasPrefix(p.Path, "docs/internal/") || p.Path == "CHANGELOG.md"
	})
}

// blocks calls check with each block of a language that users read.
func blocks(t *testing.T, language string, check func(at string, b site.Block)) {
	t.Helper()
	for _, p := range pages(t) {
		for _, b := range p.Blocks {
			if b.Language == language {
				check(fmt.Sprintf("%s:%d", p.Path, b.Line), b)
			}
		}
	}
}

func TestEveryLinkLeadsToSomething(t *testing.T) {
	s := read(t)
	for _, p := range s.Pages {
		for _, l := range p.Links {
			assert.NoError(t, s.Check(p, l), "%s:%d: %s", p.Path, l.Line, l.Destination)
		}
	}
}

// A page that is compiled has its program in a folder of its own, whose name says where it stands.
func TestEveryProgramOfThePagesCompiles(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	folder := t.TempDir()
	here, err := filepath.Abs(root)
	require.NoError(t, err)
	work, err := os.ReadFile(filepath.Join(root, "go.work"))
	require.NoError(t, err)
	sums, err := os.ReadFile(filepath.Join(root, "go.work.sum"))
	require.NoError(t, err)
	absolute := strings.NewReplacer("\t.\n", "\t"+here+"\n\t./pages\n", "./", here+"/").Replace(string(work))
	files := map[string]string{"go.work": absolute, "go.work.sum": string(sums), "pages/go.mod": "module pages\n\ngo 1.26.0\n"}
	blocks(t, "go", func(at string, b site.Block) {
		if b.Mark != "" || !isFile(b.Text) {
			return
		}
		name := "/main.go"
		if strings.Contains(b.Text, "\t\"testing\"\n") {
			name = "/main_test.go"
		}
		files["pages/"+strings.NewReplacer("/", "_", ":", "_line_").Replace(at)+name] = b.Text
	})
	require.Greater(t, len(files), 3, "no page has a program")
	files["pages/sentences/main.go"] = sentences(t)
	for name, text := range files {
		name = filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	vet := exec.CommandContext(t.Context(), "go", "vet", "./...")
	vet.Dir, vet.Env = filepath.Join(folder, "pages"), append(os.Environ(), "GOWORK="+filepath.Join(folder, "go.work"))
	output, err := vet.CombinedOutput()
	assert.NoError(t, err, string(output))
}

// sentences makes one program of the Go that stands within sentences: of what has a call of a name of a package or of a value, or a
// literal of a package's type. Its values are those that a host program has at hand. "…" leaves fields out.
func sentences(t *testing.T) string {
	t.Helper()
	isGo, body, found := regexp.MustCompile(`\b[A-Za-z]\w*\.[A-Z]\w*[({]`), strings.Builder{}, 0
	for _, p := range pages(t) {
		for _, s := range p.Spans {
			if !isGo.MatchString(s.Text) {
				continue
			}
			code := strings.ReplaceAll(s.Text, "…", "")
			if _, err := parser.ParseExpr(code); err == nil {
				code = "use(" + code + ")"
			}
			// Variables that a span declares are among the values.
			fmt.Fprintf(&body, "//line %s:%d\n\t%s\n", p.Path, max(s.Line, 1), strings.Replace(code, " := ", " = ", 1))
			found++
		}
	}
	require.Greater(t, found, 3, "no sentence has Go")
	code := `
func main() {}

func use(...any) {}

func _(
	ctx context.Context, w http.ResponseWriter, r *http.Request, id, hash, inquiry, key, name, person, text string, ok bool,
	labels map[string]string, before time.Time, engine, Engine *debate.Engine, Handler, handler *web.Handler, Record, record *flow.Record,
	records []*flow.Record, d *debate.Debate, config flow.Config, signal flow.Signal, tool flow.Tool, interview func() *debate.Flow,
	x *wire.Exchange,
) {
` + body.String() + "}\n"
	head := "package main\n\n"
	for _, path := range []string{
		"context", "net/http", "time", ours, ours + "/arbiter", ours + "/flow", ours + "/provider/anthropic", ours + "/provider/wire",
		ours + "/sse", ours + "/store", ours + "/store/sql", ours + "/web", ours + "/web/agui", ours + "/web/chat", ours + "/web/mcp",
	} {
		if regexp.MustCompile(`\b` + path[strings.LastIndex(path, "/")+1:] + `\.[A-Z]`).MatchString(code) { // an unused import is an error
			head += fmt.Sprintf("import %q\n", path)
		}
	}
	return head + code
}

func isFile(code string) bool {
	for l := range strings.Lines(code) {
		if !strings.HasPrefix(l, "//") && strings.TrimSpace(l) != "" {
			return strings.HasPrefix(l, "package ")
		}
	}
	return false
}

// Code without a language, or of one that no test reads, would be held to nothing.
func TestEveryExcerptIsInItsFile(t *testing.T) {
	for _, p := range pages(t) {
		for _, b := range p.Blocks {
			if p.Group != maintainers {
				assert.Contains(t, []string{"go", "html", "json", "sh", "sql", "text", "yaml"}, b.Language, "%s:%d", p.Path, b.Line)
			}
			assert.False(t, b.Language != "go" && isFile(b.Text), "%s:%d: Go is marked as go", p.Path, b.Line)
		}
	}
	blocks(t, "go", func(at string, b site.Block) {
		name, ok := strings.CutPrefix(b.Mark, "from ")
		if !ok {
			assert.True(t, isFile(b.Text), "%s: code is a whole file, or the line before it says <!-- from path/of/file.go -->", at)
			return
		}
		source, err := fs.ReadFile(os.DirFS(root), name)
		if assert.NoError(t, err, at) {
			assert.Empty(t, missing(b.Text, string(source)), "%s: %s has other lines", at, name)
		}
	})
}

// missing returns the part of an excerpt that is not in a file, if all of the excerpt is indented alike. "// …" leaves lines out.
func missing(excerpt, source string) (part string) {
	parts, most := strings.Split("\n"+excerpt+"\n", "// …\n"), -1
	for tabs := range 8 {
		rest, found := source, 0
		for ; found < len(parts); found++ {
			lines := indent(strings.Trim(strings.TrimRight(parts[found], " \t"), "\n")+"\n", strings.Repeat("\t", tabs))
			if lines == "\n" {
				continue
			}
			i := strings.Index("\n"+rest, "\n"+lines)
			if i < 0 {
				break
			}
			rest = rest[i+len(lines):]
		}
		if found == len(parts) {
			return ""
		}
		if found > most {
			part, most = strings.Trim(parts[found], "\n")+"\n", found
		}
	}
	return part
}

func indent(text, by string) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		if l != "\n" {
			b.WriteString(by)
		}
		b.WriteString(l)
	}
	return b.String()
}

func TestExcerpts(t *testing.T) {
	source := "package a\n\nfunc f() {\n\tg()\n\n\th()\n\tif x {\n\t\ti()\n\t}\n}\n"
	for excerpt, want := range map[string]string{
		"g()\n\nh()\n":                         "",
		"func f() {\n\tg()\n\t// …\n}\n":       "",
		"g()\n// …\nif x {\n\ti()\n}\n":        "",
		"i()\n":                                "",
		"g()\nh()\n":                           "g()\nh()\n",
		"if x {\ni()\n}\n":                     "if x {\ni()\n}\n",
		"h()\n// …\ng()\n":                     "g()\n",
		"// …\nh()\n// …\n":                    "",
		"func f() {\n\tg()\n// …\n\tother()\n": "\tother()\n",
		"(\n":                                  "(\n",
	} {
		assert.Equal(t, want, missing(excerpt, source), excerpt)
	}
}

// A block under <!-- config KIND --> is a config that can be started, but for keys and models. Its names of what a host program has
// (models, tools) are free.
func TestEveryBlockOfJSONReads(t *testing.T) {
	blocks(t, "json", func(at string, b site.Block) {
		kind, isConfig := strings.CutPrefix(b.Mark, "config ")
		if !isConfig {
			assert.True(t, json.Valid([]byte(b.Text)), "%s: is no JSON", at)
			return
		}
		assert.NoError(t, valid(t, kind, []byte(b.Text)), at)
	})
}

func valid(t *testing.T, kind string, data []byte) error {
	t.Helper()
	if kind == "format" {
		f, err := format.Parse(data)
		if err != nil {
			return err
		}
		return errors.Join(f.Check("format")...)
	}
	e := &debate.Engine{
		Flows: map[string]*debate.Flow{deliberation.FlowName: deliberation.Flow(), arbiter.FlowName: arbiter.Flow()},
	}
	if !bytes.Contains(data, []byte(`"flow":`)) {
		data = bytes.Replace(data, []byte("{"), []byte(`{"flow":"`+kind+`",`), 1)
	}
	config, err := e.DecodeConfig(data)
	if err != nil {
		return err
	}
	if config.Flow() != kind {
		return fmt.Errorf("is a config of flow %s", config.Flow())
	}
	checked := &debate.Engine{Flows: e.Flows, SkipModelCheck: true, Providers: map[string]debate.Provider{}, Tools: map[string]flow.Tool{}}
	for _, list := range regexp.MustCompile(`"tools":\s*\[([^\]]*)\]`).FindAllSubmatch(data, -1) {
		for name := range strings.SplitSeq(string(list[1]), ",") {
			if name = strings.Trim(name, " \t\n\""); name != "" {
				checked.Tools[name] = tool{}
			}
		}
	}
	for _, model := range flow.Models(config) {
		host, _, _ := flow.SplitModel(model)
		checked.Providers[host] = &scripted.Provider{}
	}
	return checked.Validate(t.Context(), config)
}

// tool stands for those of a host program.
type tool struct{}

func (tool) Describe() flow.ToolInfo {
	return flow.ToolInfo{Description: "A tool.", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}
}

func (tool) Use(context.Context, flow.ToolUse) (string, error) { return "", nil }

func TestConfigsOfPagesAreReadStrictly(t *testing.T) {
	participants := `"participants":[{"name":"A","side":"for","model":"x/y"},{"name":"B","side":"against","model":"x/y"}]`
	require.NoError(t, valid(t, "debate", []byte(`{"topic":"t",`+participants+`,"judging":{"judges":[{"model":"x/y"}]}}`)))
	require.ErrorContains(t, valid(t, "debate", []byte(`{"topic":"t","topics":"t",`+participants+`}`)), "topics")
	require.ErrorContains(t, valid(t, "debate", []byte(`{"topic":"",`+participants+`}`)), "topic")
	require.ErrorContains(t, valid(t, "deliberation", []byte(`{"topic":"t","participants":[]}`)), "topic")
	require.ErrorContains(t, valid(t, "format", []byte(`{"name":"f","end":"never"}`)), "end")
}

// Words are counted as wc -w does.
func TestPagesForUsersAreShort(t *testing.T) {
	sum, long := 0, []string{}
	for _, p := range read(t).Pages {
		if p.Group == maintainers || filepath.Ext(p.Path) != ".md" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(root, p.Path))
		require.NoError(t, err)
		n := words(data)
		sum += n
		long = append(long, fmt.Sprintf("%6d %s", n, p.Path))
		if p.Path == "README.md" {
			assert.LessOrEqual(t, n, mostReadme, "words of README.md")
		}
	}
	slices.Sort(long)
	assert.LessOrEqual(t, sum, mostWords, "words of README.md and of what users find in docs/:\n%s", strings.Join(long, "\n"))
}

// words counts what has a letter or a digit: the bars of a table are no words.
func words(page []byte) (n int) {
	for field := range bytes.FieldsSeq(page) {
		if bytes.ContainsFunc(field, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			n++
		}
	}
	return n
}

func TestLLMsListsThePages(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root, "llms.txt"))
	require.NoError(t, err)
	assert.Equal(t, read(t).LLMs(), string(data), "write it anew: go run ./internal/site -update")
}
