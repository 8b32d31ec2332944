package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/provider/scripted"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

// golden compares with a file under testdata, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

// In the bubble the delays of the script cost nothing, and no goroutine may be left.
func TestTheInterviewReadsAsItShould(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, model := stage.Choose(func(string) string { return "" }, script())
		var out bytes.Buffer
		require.NoError(t, run(t.Context(), stage.Printer{Out: &out}, engine, model))
		golden(t, "interview.txt", out.String())
		for line := range strings.Lines(out.String()) {
			assert.LessOrEqual(t, utf8.RuneCountInString(line), 81, line)
		}
	})
}

// The table of rules, as a diagram that a reviewer reads.
func TestTheTable(t *testing.T) { golden(t, "interview.mmd", interviewFlow().Mermaid()) }

func interview() *Config {
	return &Config{
		Position: "cook", Questions: 2,
		Interviewer: Person{"Iris", "script/m"}, Candidate: Person{"Carl", "script/m"}, Grader: Person{"Gwen", "script/m"},
	}
}

func newEngine() *debate.Engine {
	return &debate.Engine{
		Providers: map[string]debate.Provider{"script": &scripted.Provider{}},
		Flows:     map[string]*debate.Flow{flowName: interviewFlow()},
	}
}
