package main

import (
	"bytes"
	"context"
	"flag"
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
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/provider/scripted"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

func none(string) string { return "" }

// In the bubble the delays of the script cost nothing, and no goroutine may be left.
func TestTheComparisonReadsAsItShould(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		require.NoError(t, run(t.Context(), stage.Printer{Out: &out}, none))
		golden := filepath.Join("testdata", "comparison.txt")
		if *update {
			require.NoError(t, os.WriteFile(golden, out.Bytes(), 0o600))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		assert.Equal(t, string(want), out.String())
		for line := range strings.Lines(out.String()) {
			assert.LessOrEqual(t, utf8.RuneCountInString(line), 81, line)
		}
	})
}

func TestTheNodeGoesBetweenCritiquingAndRefining(t *testing.T) {
	flow := deliberation.Flow()
	require.NoError(t, deliberation.Insert(flow, deliberation.StateCritiquing, factChecking("script/m")))
	drawn := strings.Join(diagram(flow), "\n")
	assert.Contains(t, drawn, "critiquing --> factChecking: critiqued")
	assert.Contains(t, drawn, "factChecking --> refining: factCheckingDone")
	assert.NotContains(t, drawn, "critiquing --> refining")
	assert.Contains(t, strings.Join(diagram(deliberation.Flow()), "\n"), "critiquing --> refining")
}

// Each agent reads what was found in its own proposal, and what was found in the other's it does not; the checker
// reads one proposal at a time, between markers, and the problem.
func TestWhoReadsWhat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := stage.Speeches(play)
		models := script()
		models.Record = true
		flow := deliberation.Flow()
		require.NoError(t, deliberation.Insert(flow, deliberation.StateCritiquing, factChecking("script/m")))
		engine := &debate.Engine{
			Providers: map[string]debate.Provider{"script": models},
			Flows:     map[string]*debate.Flow{deliberation.FlowName: flow},
		}
		config := deliberation.Config{
			Problem: problem, Rounds: 1, Judge: deliberation.Judge{Model: "script/m"},
			Agents: []deliberation.Agent{{ID: "ada", Model: "script/m"}, {ID: "ben", Model: "script/m"}},
		}
		for _, err := range engine.Run(t.Context(), config) {
			require.NoError(t, err)
		}
		for _, test := range []struct {
			call           string
			reads, ignores []string
		}{
			{"r1.check.ada", []string{"r1.propose.ada"}, []string{"r1.propose.ben", "r1.critique.ben.ada", "r1.check.ben"}},
			{"r1.refine.ada", []string{"r1.check.ada", "r1.critique.ben.ada"}, []string{"r1.check.ben"}},
			{"r1.refine.ben", []string{"r1.check.ben", "r1.critique.ada.ben"}, []string{"r1.check.ada"}},
			{"synthesis", []string{"r1.check.ada", "r1.check.ben", "r1.refine.ada checked"}, nil},
		} {
			prompt := prompt(t, models, test.call)
			for _, call := range test.reads {
				assert.Contains(t, prompt, said[call], test.call)
			}
			for _, call := range test.ignores {
				assert.NotContains(t, prompt, said[call], test.call)
			}
			assert.Contains(t, prompt, problem, test.call)
		}
		assert.Contains(t, prompt(t, models, "r1.check.ada"), "ada: proposal>>>\n")
	})
}

// prompt returns what was read for a call.
func prompt(t *testing.T, models *scripted.Provider, call string) string {
	t.Helper()
	for _, request := range models.Requests() {
		if strings.Contains(request.ID, "/"+call+"/") {
			return request.System + "\n" + request.Last.Text
		}
	}
	require.Fail(t, "nobody made the call "+call)
	return ""
}

func TestAnInterruptEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		var out bytes.Buffer
		require.ErrorIs(t, run(ctx, stage.Printer{Out: &out}, none), context.DeadlineExceeded)
	})
}
