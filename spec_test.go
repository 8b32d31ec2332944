package debate_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
)

var (
	codeSpan  = regexp.MustCompile("`([^`]+)`")
	testName  = regexp.MustCompile(`^(Test|Example|Fuzz|Benchmark)[A-Z]\w*$`)
	unspanned = regexp.MustCompile(`\b(Test|Example|Fuzz|Benchmark)[A-Z]\w+`)
	pathName  = regexp.MustCompile(`^[\w./-]+(\.(go|tmpl|txt|golden|md)|/)$`)
)

// TestTheSpecCitesWhatThereIs holds pages to the tree: every file and folder that they name exists, and
// every test is declared in the file that is named after it.
func TestTheSpecCitesWhatThereIs(t *testing.T) {
	longform.Lone(t)
	for page, least := range map[string]int{
		"docs/internal/spec.md": 100, "docs/internal/durability.md": 150, "docs/internal/flows.md": 50, "docs/internal/scaling.md": 20,
		"docs/internal/windows.md": 1,
	} {
		t.Run(page, func(t *testing.T) { assert.Greater(t, citations(t, page), least, "the page is read") })
	}
}

// citations checks a page, and yields how many tests it cites.
func citations(t *testing.T, name string) (tests int) {
	t.Helper()
	tree := os.DirFS(".")
	page, err := fs.ReadFile(tree, name)
	require.NoError(t, err)
	declared, line, code := declarations(t), 0, false
	for text := range strings.Lines(string(page)) {
		line++
		if fence := strings.HasPrefix(text, "```"); fence || code {
			code = code != fence
			continue
		}
		var cited []string // tests whose file has not been named yet
		for _, span := range codeSpan.FindAllStringSubmatch(text, -1) {
			switch name := span[1]; {
			case testName.MatchString(name):
				cited = append(cited, name)
			case strings.HasSuffix(name, "_test.go") && len(cited) > 0:
				for _, test := range cited {
					assert.Contains(t, declared[name], test, "line %d: there is no such test in %s", line, name)
				}
				tests += len(cited)
				cited = nil
			case pathName.MatchString(name):
				info, err := fs.Stat(tree, strings.TrimSuffix(name, "/"))
				if assert.NoError(t, err, "line %d", line) {
					assert.Equal(t, strings.HasSuffix(name, "/"), info.IsDir(), "line %d: %s", line, name)
				}
			}
		}
		assert.Empty(t, cited, "line %d: their file is not named", line)
		assert.Zero(t, strings.Count(text, "`")%2, "line %d: a code span is not closed", line)
		for _, name := range unspanned.FindAllString(codeSpan.ReplaceAllString(text, ""), -1) {
			assert.Fail(t, "a test outside of a code span is not checked", "line %d: %s", line, name)
		}
	}
	return tests
}

// declarations yields the functions that the test files of the tree declare, by file. They are read once.
func declarations(t *testing.T) map[string][]string {
	t.Helper()
	out, err := declaredInTree()
	require.NoError(t, err)
	return out
}

var declaredInTree = sync.OnceValues(func() (map[string][]string, error) {
	tree, out := os.DirFS("."), make(map[string][]string)
	return out, fs.WalkDir(tree, ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == ".git" {
			return fs.SkipDir
		}
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := fs.ReadFile(tree, path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil {
				out[path] = append(out[path], f.Name.Name)
			}
		}
		return nil
	})
})
