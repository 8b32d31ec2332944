package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/examples/internal/stage"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

func none(string) string { return "" }

// watch runs the program in a bubble, in which waiting costs nothing and no goroutine may be left.
func watch(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var out, err bytes.Buffer
		code = run(t.Context(), args, &out, &err, none)
		stdout, stderr = out.String(), err.String()
	})
	return code, stdout, stderr
}

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

func TestTheDeliberationReadsAsItShould(t *testing.T) {
	code, solution, progress := watch(t)
	require.Zero(t, code, progress)
	golden(t, "progress.txt", progress)
	spent := regexp.MustCompile(`\d{5} tokens in, \d{4} tokens out:\n\$0\.0\d{2,5}, and up to \$0\.0\d+ `)
	require.Regexp(t, spent, solution)
	golden(t, "solution.md", spent.ReplaceAllString(solution, "…\n")) // the prompts may change
	for line := range strings.Lines(progress + solution) {
		assert.LessOrEqual(t, utf8.RuneCountInString(line), 101, line)
	}
}

func TestFlagsAreFollowed(t *testing.T) {
	for _, test := range []struct {
		args             string
		progress, result []string
	}{
		{"-rounds 1", []string{"Round 1 of 1", "1/1 the solution"}, []string{"after 1 round, as planned"}},
		{"-rounds 4", []string{"Round 4 of 4", "architect summarizing its history"}, []string{"after 4 rounds, as planned"}},
		{
			"-rounds 4 -termination convergence",
			[]string{"evaluating: 1 call"},
			[]string{"Round 1: the judge is 64 % sure", "The agents agree after 2 rounds"},
		},
		{
			"-rounds 3 -termination quality",
			[]string{"1/1 judge judging quality"},
			[]string{"Round 2: the judge marks the quality with 90 of 100", "The proposals are good enough after 2 rounds"},
		},
		{"-synthesis voting", []string{"architect voting"}, []string{"according to simplicity"}},
		{"-synthesis merge", []string{"judge merging"}, []string{"according to judge"}},
		{
			"-problem Chess -model gpt-5 -judge gpt-5",
			[]string{"without -judge, -model, -problem."},
			[]string{"# Design the sale of concert tickets."},
		},
	} {
		t.Run(test.args, func(t *testing.T) {
			code, result, progress := watch(t, strings.Fields(test.args)...)
			require.Zero(t, code, progress)
			assert.Equal(t, 1, strings.Count(progress, "the solution is being made"), "it is asked for once, behind the votes and merges")
			for _, text := range test.progress {
				assert.Contains(t, progress, text)
			}
			for _, text := range test.result {
				assert.Contains(t, result, text)
			}
		})
	}
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	for args, want := range map[string]string{
		"-rounds -1":            "rounds: is negative",
		"-synthesis dice":       `synthesis: "dice" is not known: there are judge, merge`,
		"-termination never":    `termination.kind: "never" is not known`,
		"-rounds 1 cars":        `"cars" is no flag`,
		"-rounds many":          "invalid value",
		"-synthesis registered": "synthesizer: is empty",
	} {
		code, out, said := watch(t, strings.Fields(args)...)
		assert.NotZero(t, code, args)
		assert.Empty(t, out)
		assert.Contains(t, said, want)
	}
	code, _, said := watch(t, "-h")
	assert.Zero(t, code)
	assert.Contains(t, said, "-termination")
}

func TestModelsAreNamedAsThePersonLikes(t *testing.T) {
	engine, model := stage.Choose(func(name string) string { return map[string]string{"OPENROUTER_API_KEY": "k"}[name] }, script())
	for _, test := range []struct{ model, judge, agents, judges string }{
		{"", "", "openrouter/openai/gpt-4.1-mini", "openrouter/openai/gpt-4.1-mini"},
		{"mistralai/mistral-small", "", "openrouter/mistralai/mistral-small", "openrouter/mistralai/mistral-small"},
		{"openrouter/openai/gpt-5", "gpt", "openrouter/openai/gpt-5", "openrouter/gpt"},
		{"", "openai/gpt-5", "openrouter/openai/gpt-4.1-mini", "openrouter/openai/gpt-5"},
	} {
		config := describe(options{problem: "Design a clock.", model: test.model, judge: test.judge}, engine, model, false)
		assert.Equal(t, test.agents, config.Agents[2].Model)
		assert.Equal(t, test.judges, config.Judge.Model)
		assert.Equal(t, "Design a clock.", config.Problem)
		assert.Empty(t, config.Context, "it belongs to another problem")
	}
}

func TestAnInterruptEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var out, said bytes.Buffer
		assert.Equal(t, 1, run(ctx, nil, &out, &said, none))
		assert.Contains(t, said.String(), "deadline")
		assert.Empty(t, out.String())
	})
}
