package examples_test

import (
	"bytes"
	"context"
	"go/doc"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each example is one file that a reader can copy, and prints without a key what its head comment says.
func TestExamplesPrintWhatTheySay(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("*/main.go")
	require.NoError(t, err)
	require.NotEmpty(t, folders)
	workspace, err := os.ReadFile("../go.work")
	require.NoError(t, err)
	programs := t.TempDir()
	build := []string{"build", "-o", programs + string(filepath.Separator)}
	for i, main := range folders {
		folders[i] = filepath.Dir(main)
		_, err := os.Stat(filepath.Join(folders[i], "go.mod"))
		if err != nil || os.Getenv("GOWORK") != "off" && bytes.Contains(workspace, []byte("./examples/"+folders[i]+"\n")) {
			build = append(build, "./"+folders[i])
		}
	}
	made, err := exec.CommandContext(t.Context(), "go", build...).CombinedOutput()
	require.NoError(t, err, string(made))
	for _, folder := range folders {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			said := alone(t, folder)
			program := filepath.Join(programs, folder)
			if _, err := os.Stat(program); err != nil || folder == "server" {
				return // of a module outside of the workspace, or it ends by a signal, and has a test of its own
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // 10 s on a machine that does nothing else
			defer cancel()
			run := exec.CommandContext(ctx, program)
			run.Dir = t.TempDir()
			var out, log bytes.Buffer
			run.Stdout, run.Stderr, run.Env = &out, &log, keyless()
			require.NoError(t, run.Run(), "%s%s", &out, &log)
			assert.Regexp(t, said, out.String())
			left, err := os.ReadDir(run.Dir)
			require.NoError(t, err)
			assert.Empty(t, left, "it leaves nothing behind")
		})
	}
}

// alone checks that an example can be copied by itself, and returns what it says that it prints.
func alone(t *testing.T, folder string) *regexp.Regexp {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(folder, "main.go"))
	require.NoError(t, err)
	assert.LessOrEqual(t, bytes.Count(source, []byte("\n")), 150, "lines")
	files, err := filepath.Glob(filepath.Join(folder, "*.*"))
	require.NoError(t, err)
	for _, name := range files { // beside it stand at most one file of data, a test, and a module's own files
		if filepath.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go") {
			assert.Equal(t, "main.go", filepath.Base(name))
		}
	}
	file, err := parser.ParseFile(token.NewFileSet(), folder, source, parser.ParseComments)
	require.NoError(t, err)
	for _, one := range file.Imports {
		assert.NotContains(t, one.Path.Value, "/internal/")
	}
	head := file.Doc.Text()
	assert.Contains(t, head, "go run ")
	_, said, ok := strings.Cut(head, "\nIt prints:\n")
	require.True(t, ok, "the head comment says what it prints")
	pattern := "^"
	for line := range strings.Lines(strings.TrimSpace(said) + "\n") {
		line = strings.TrimPrefix(strings.TrimRight(line, "\n"), "\t")
		if line == "…" {
			pattern += "(.*\n)*?" // any lines
			continue
		}
		pattern += strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*") + "\n"
	}
	return regexp.MustCompile(pattern + "$")
}

// keyless returns the environment without what makes an example use a model.
func keyless() []string {
	var env []string
	for _, one := range os.Environ() {
		name, _, _ := strings.Cut(one, "=")
		if !strings.HasSuffix(name, "_API_KEY") && name != "OPENAI_BASE_URL" && name != "OLLAMA_HOST" {
			env = append(env, one)
		}
	}
	return env
}

// What go doc shows as an example is a whole program: it needs nothing else of the test's package, and nothing internal.
func TestExamplesInDocsAreWhole(t *testing.T) {
	t.Parallel()
	whole := 0
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasPrefix(entry.Name(), "example") || !strings.HasSuffix(path, "_test.go") ||
			path == "../examples/examples_test.go" {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, one := range doc.Examples(file) {
			whole++
			if assert.NotNil(t, one.Play, "%s: Example%s", path, one.Name) {
				var program bytes.Buffer
				require.NoError(t, format.Node(&program, token.NewFileSet(), one.Play))
				assert.NotContains(t, program.String(), "agonist-dev/debate/internal/", "%s: Example%s", path, one.Name)
			}
		}
		return nil
	})
	require.NoError(t, err)
	assert.Greater(t, whole, 50)
}
