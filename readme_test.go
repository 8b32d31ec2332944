package debate_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
)

// TestTheProgramInTheReadmeRuns builds the README's program as it stands there, but for the address of
// the models, and runs it.
func TestTheProgramInTheReadmeRuns(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	_, source, _ := block(t, "go")
	text := runReadme(t, source, chat("My view.", 100, 10))
	assert.Equal(t, 5, strings.Count(text, "\nAda: My view.\n"), text)
	assert.Equal(t, 5, strings.Count(text, "\nBen: My view.\n"), text)
	assert.Contains(t, text, "A close debate.")
}

// TestTheBudgetInTheReadmeIsEnoughForItsProgram runs the README's program with the README's budget, and with replies of the
// usual length: all five rounds and the verdict.
func TestTheBudgetInTheReadmeIsEnoughForItsProgram(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	before, source, _ := block(t, "go")
	_, after, _ := strings.Cut(before+source, "package main")
	_, budget, _ := block(t, "json")
	config := fmt.Sprintf("var with struct{ Budget debate.Budget }\n"+
		"if err := json.Unmarshal([]byte(`%s`), &with); err != nil { log.Fatal(err) }\nconfig.Budget = &with.Budget\n", budget)
	source = "package main" + strings.Replace(after, "for event, err", config+"for event, err", 1)
	source = strings.Replace(source, `"context"`, "\"context\"\n\"encoding/json\"", 1)
	said := strings.TrimSpace(strings.Repeat("A view of four words. ", 90))
	text := runReadme(t, source, chat(said, 3000, 500))
	assert.Equal(t, 10, strings.Count(text, ": "+said+"\n"), text)
	assert.Contains(t, text, "A close debate.")
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
		var body struct {
			Format struct {
				Schema struct{ Name string } `json:"json_schema"` //nolint:tagliatelle // the protocol's name
			} `json:"response_format"` //nolint:tagliatelle // likewise
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		names := []string{"Ada", "Ben"}
		text := map[string]string{"": said, "assessment": stage.Judgement(names, true), "verdict": stage.Verdict(names)}[body.Format.Schema.Name]
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", stage.JSON(map[string]any{
			"choices": []any{map[string]any{"index": 0, "delta": map[string]string{"content": text}, "finish_reason": "stop"}},
			"usage":   map[string]int{"prompt_tokens": input, "completion_tokens": output},
		}))
	}
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
	_, source, _ := block(t, "go")
	text, took, err := runProgram(t, withModelsAt(t, source, gone.URL))
	require.Error(t, err)
	assert.Less(t, took, 30*time.Second)
	says := `the provider openai was not reached in 1?[0-9]s: cannot reach ` + gone.URL + `: .*; check the address, the network, and HTTPS_PROXY`
	assert.Regexp(t, says, text)
}
