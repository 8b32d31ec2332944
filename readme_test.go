package debate_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
)

// block yields the README's first code block in the given language.
func block(t *testing.T, language string) string {
	t.Helper()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(readme), "```"+language+"\n")
	require.True(t, ok, "the README has no block of %s", language)
	text, _, ok := strings.Cut(rest, "```\n")
	require.True(t, ok)
	return text
}

// The README's program prints what stands below it, if the models say those words and the vendor refuses one request. What the
// log says of the wait stands there too.
func TestTheProgramInTheReadmeRuns(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	shown := strings.TrimSpace(block(t, "text"))
	var said []string
	for line := range strings.Lines(shown) {
		if words, ok := strings.CutPrefix(line, "  "); ok && !strings.HasPrefix(words, "!") {
			_, words, _ = strings.Cut(words, ": ")
			said = append(said, strings.TrimSpace(words))
		}
	}
	require.Len(t, said, 4)
	_, summary, ok := strings.Cut(shown, "\nJudge: ")
	require.True(t, ok)
	speeches, refused := 0, false
	text := runReadme(t, block(t, "go"), func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			http.NotFound(w, r)
			return
		}
		schema := asked(w, r)
		switch {
		case schema != "":
			reply(w, strings.Replace(answer(schema), "A close debate.", summary, 1), 100, 10)
		case speeches == 1 && !refused:
			refused = true
			w.Header().Set("Retry-After", "2")
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = w.Write([]byte(`{"error": {"code": "rate_limit_exceeded", "message": "Too many requests"}}`))
		default:
			speeches++
			reply(w, said[speeches-1], 100, 10)
		}
	})
	log := regexp.MustCompile(`(?m)^.* WARN attempt failed .* kind=rate_limit .* wait=[23]\..*s\n`)
	assert.Regexp(t, log, text)
	assert.Equal(t, shown, strings.TrimSpace(log.ReplaceAllString(text, "")))
}

// The limit in the README's program is enough for replies of the usual length: all rounds and the verdict.
func TestTheBudgetInTheReadmeIsEnoughForItsProgram(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	said := strings.TrimSpace(strings.Repeat("A view of four words. ", 90))
	text := runReadme(t, block(t, "go"), chat(said, 3000, 500))
	assert.Equal(t, 4, strings.Count(text, ": "+said+"\n"), text)
	assert.Contains(t, text, "A close debate.")
}

// The README shows the live view as its test draws it.
func TestTheReadmeShowsTheLiveView(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	frame, err := os.ReadFile(filepath.Join("cmd", "debate", "internal", "live", "testdata", "debate.txt"))
	require.NoError(t, err)
	assert.Contains(t, string(readme), "```text\n"+string(frame)+"```\n")
}

// runReadme builds a program of the README, but for the address of the models, and returns what it prints.
func runReadme(t *testing.T, source string, models http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(models)
	defer server.Close()
	return runOutside(t, withModelsAt(t, source, server.URL))
}

// withModelsAt returns a program of the README with another address of the models.
func withModelsAt(t *testing.T, source, url string) string {
	t.Helper()
	const there = `openaicompat.OpenAI(os.Getenv("OPENAI_API_KEY"))`
	require.Equal(t, 1, strings.Count(source, there))
	return strings.Replace(source, there, fmt.Sprintf("openaicompat.Compatible(%q, os.Getenv(%q))", url, "OPENAI_API_KEY"), 1)
}

// chat answers chat completions: with what is said, or with what the schema asks for.
func chat(said string, input, output int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			http.NotFound(w, r)
			return
		}
		text := said
		if schema := asked(w, r); schema != "" {
			text = answer(schema)
		}
		reply(w, text, input, output)
	}
}

// asked returns the name of the schema that a request asks for, or "".
func asked(w http.ResponseWriter, r *http.Request) string {
	var body struct {
		Format struct {
			Schema struct{ Name string } `json:"json_schema"` //nolint:tagliatelle // the protocol's name
		} `json:"response_format"` //nolint:tagliatelle // likewise
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
	return body.Format.Schema.Name
}

// answer is what a judge of Ada and Ben answers.
func answer(schema string) string {
	names := []string{"Ada", "Ben"}
	return map[string]string{"assessment": stage.Judgement(names, true), "verdict": stage.Verdict(names)}[schema]
}

// reply streams a text as one piece.
func reply(w http.ResponseWriter, text string, input, output int) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", stage.JSON(map[string]any{
		"choices": []any{map[string]any{"index": 0, "delta": map[string]string{"content": text}, "finish_reason": "stop"}},
		"usage":   map[string]int{"prompt_tokens": input, "completion_tokens": output},
	}))
}

// Whoever copies an example of the package has all of it: it uses nothing that another declaration of the tests makes.
func TestEachExampleStandsAlone(t *testing.T) {
	paths, err := filepath.Glob("example*_test.go")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		require.NoError(t, err)
		for _, spec := range file.Imports {
			assert.NotContains(t, spec.Path.Value, "/internal/", path)
		}
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				assert.True(t, strings.HasPrefix(d.Name.Name, "Example"), "%s: %s is a helper", path, d.Name.Name)
			case *ast.GenDecl:
				assert.Equal(t, token.IMPORT, d.Tok, path)
			}
		}
	}
}

// Nobody waits in the dark: without a network the README's program ends with an error that says what could not be reached, where, and
// what helps.
func TestTheProgramInTheReadmeEndsWithoutANetwork(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	gone := httptest.NewServer(nil)
	gone.Close()
	text, took, err := runProgram(t, withModelsAt(t, block(t, "go"), gone.URL))
	require.Error(t, err)
	assert.Less(t, took, 30*time.Second)
	says := `the provider openai was not reached in 1?[0-9]s: cannot reach ` + gone.URL + `: .*; check the address, the network, and HTTPS_PROXY`
	assert.Regexp(t, says, text)
}
