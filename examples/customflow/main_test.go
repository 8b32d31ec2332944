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
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
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

// A fork of an interview that is over asks one question more. It cannot rename anybody.
func TestAForkAsksMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := newEngine()
		session, err := engine.Start(t.Context(), interview())
		require.NoError(t, err)
		record, err := session.Wait(t.Context())
		require.NoError(t, err)
		var last int64 // the last question
		for event, err := range engine.Events(t.Context(), record.ID, 0) {
			require.NoError(t, err)
			if turn, ok := event.Body.(*flow.Turn); ok && turn.Kind == "question" {
				last = event.Seq
			}
		}
		fork, err := engine.Fork(t.Context(), record.ID, last, debate.Editing(func(c *Config) { c.Questions = 3 }))
		require.NoError(t, err)
		record, err = fork.Wait(t.Context())
		require.NoError(t, err)
		assert.Len(t, record.Turns, 6)
		_, err = engine.Fork(t.Context(), record.ID, last, debate.Editing(func(c *Config) { c.Candidate.Name = "Cora" }))
		require.ErrorContains(t, err, "candidate.name")
		require.NoError(t, session.Close())
		require.NoError(t, fork.Close())
	})
}

func interview() *Config {
	return &Config{
		Position: "cook", Questions: 2,
		Interviewer: Person{Name: "Iris", Model: "script/m"}, Candidate: Person{Name: "Carl", Model: "script/m"},
		Grader: Person{Name: "Gwen", Model: "script/m"},
	}
}

func newEngine() *debate.Engine {
	model := &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		if req.Schema != nil {
			return scripted.Reply{Text: `{"score":70,"hire":true,"why":"nice"}`}
		}
		return scripted.Reply{Text: "Words."}
	}}
	return &debate.Engine{
		Providers: map[string]debate.Provider{"script": model},
		Flows:     map[string]*debate.Flow{flowName: interviewFlow()},
	}
}
