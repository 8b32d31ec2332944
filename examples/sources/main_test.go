package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openaicompat"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

func none(string) string { return "" }

// In the bubble the delays of the script cost nothing, and no goroutine may be left.
func TestTheDebateReadsAsItShould(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, model := choose(none)
		var out bytes.Buffer
		require.NoError(t, run(t.Context(), stage.Printer{Out: &out}, engine, model))
		golden := filepath.Join("testdata", "debate.txt")
		if *update {
			require.NoError(t, os.WriteFile(golden, out.Bytes(), 0o600))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		assert.Equal(t, string(want), out.String())
		for line := range strings.Lines(out.String()) {
			assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 80, line)
		}
	})
}

// The options reach the model; thoughts and sources reach nobody but the reader.
func TestNobodyReadsTheThoughtsOfTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		models := script()
		models.Record = true
		engine := &debate.Engine{Providers: map[string]debate.Provider{"script": models}}
		require.NoError(t, run(t.Context(), stage.Printer{Out: &bytes.Buffer{}}, engine, "script/m"))
		require.Len(t, models.Requests(), 4)
		for _, request := range models.Requests() {
			require.NotNil(t, request.Options)
			assert.Equal(t, provider.EffortHigh, request.Options.Effort)
			assert.True(t, request.Options.Search)
			for _, text := range request.Chat() {
				assert.NotContains(t, text, "strongest ground")
				assert.NotContains(t, text, ".example")
			}
		}
	})
}

// A stream may cut words anywhere, and begin again.
func TestThoughtsAreWrittenAsTheyStream(t *testing.T) {
	var out bytes.Buffer
	thoughts := thinker{p: stage.Printer{Out: &out}}
	thoughts.hear(&flow.Chunk{Call: "a", Text: "Fir"})
	assert.Empty(t, out.String(), "a word that may not be complete")
	thoughts.hear(&flow.Chunk{Call: "a", Offset: 3, Text: "st \x1b[2Jthis,\nthen "})
	assert.Equal(t, "  ~ First [2Jthis, then", out.String())
	thoughts.hear(&flow.Chunk{Call: "a", Text: "Other " + strings.Repeat("words ", 14)})
	thoughts.end()
	thoughts.end()
	assert.Equal(t, "  ~ First [2Jthis, then\n  ~ (anew)\n  ~ Other"+strings.Repeat(" words", 11)+"\n  ~"+strings.Repeat(" words", 3)+"\n", out.String())
}

// Places that are none are no reason to stop, and a page cannot control the terminal.
func TestSourcesOfAnyKindAreShown(t *testing.T) {
	var out bytes.Buffer
	show(stage.Printer{Out: &out}, &debate.Turn{Text: "Né, so.", Citations: []provider.Citation{
		{Title: "Late\x1b[2J", URL: "https://a.example/", Start: 1, End: 8},
		{URL: "https://b.example/", End: 3},
		{Title: "Nowhere", URL: "https://c.example/", Quote: "it\nsays", End: 100},
	}})
	assert.Equal(t, `  Né [2], so. [1]
    [1] Late[2J
        https://a.example/
    [2] (no title)
        https://b.example/
    [3] Nowhere
        https://c.example/
        “it says”
`, out.String())
}

func TestAKeyChoosesAModelThatThinksAndSearches(t *testing.T) {
	engine, model := choose(func(name string) string { return map[string]string{"OPENROUTER_API_KEY": "k"}[name] })
	host, asked, _ := strings.Cut(model, "/")
	require.Contains(t, engine.Providers, host)
	p, ok := engine.Providers[host].(*openaicompat.Provider)
	require.True(t, ok)
	var sent deaf
	p.Client = &http.Client{Transport: &sent}
	_, err := p.Generate(t.Context(), &provider.Request{
		Model: asked, Last: provider.Message{Text: "?"}, Options: &provider.Options{Effort: provider.EffortHigh, Search: true},
	}, func(provider.Chunk) {})
	require.Error(t, err)
	assert.EqualValues(t, 1, sent, "there are words for both")
}

// deaf counts the requests, and answers none.
type deaf int

func (d *deaf) RoundTrip(*http.Request) (*http.Response, error) {
	*d++
	return nil, errors.New("nobody listens")
}

func TestAnInterruptEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		engine, model := choose(none)
		var out bytes.Buffer
		require.ErrorIs(t, run(ctx, stage.Printer{Out: &out}, engine, model), context.DeadlineExceeded)
	})
}
