package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
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
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/tool"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

func none(string) string { return "" }

// In the bubble the delays of the script cost nothing, and no goroutine may be left.
func TestTheUsesReadAsTheyShould(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		require.NoError(t, run(t.Context(), stage.Printer{Out: &out}, nil, none))
		tokens := regexp.MustCompile(`\d{4,5} tokens`)
		require.Regexp(t, tokens, out.String())
		got := tokens.ReplaceAllString(out.String(), "… tokens") // the prompts may change
		golden := filepath.Join("testdata", "uses.txt")
		if *update {
			require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		assert.Equal(t, string(want), got)
		for line := range strings.Lines(got) {
			assert.LessOrEqual(t, utf8.RuneCountInString(line), 101, line)
		}
	})
	left, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	assert.Empty(t, left, "nothing is left behind")
}

// What the tools answer reaches the model that has asked, and the judge has no tools.
func TestTheModelReadsWhatItsToolsAnswer(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		models := script()
		models.Record = true
		engine, _ := stage.Choose(none, models)
		folder, remove, err := unpack()
		require.NoError(t, err)
		defer remove()
		dir, err := tool.OpenDir(folder, tool.Limits{})
		require.NoError(t, err)
		defer func() { _ = dir.Close() }()
		engine.Tools, err = toolbox(dir)
		require.NoError(t, err)
		require.NoError(t, deliberate(t.Context(), stage.Printer{Out: io.Discard}, engine, demoProblem, "script/m"))
		read := make(map[string]string) // by call, in its last request
		for _, request := range models.Requests() {
			var texts []string
			for _, message := range request.Messages {
				if message.ToolResult != nil {
					texts = append(texts, message.ToolResult.Text)
				}
			}
			call := strings.Split(request.ID, "/")[1]
			read[call] = strings.Join(texts, "\n")
			assert.Equal(t, call == "synthesis", len(request.Tools) == 0, call)
		}
		assert.Contains(t, read["r1.propose.ada"], "19 June, 41 minutes")
		assert.Contains(t, read["r1.propose.ada"], "21.6 minutes")
		assert.NotContains(t, read["r1.propose.ada"], "workers: 20", "that was for ben")
		assert.Contains(t, read["r1.propose.ben"], "leads out of the folder")
		assert.Contains(t, read["r1.critique.ada.ben"], "20 workers on each of four servers")
	})
}

func TestOwnTool(t *testing.T) {
	dir, err := tool.OpenDir(t.TempDir(), tool.Limits{})
	require.NoError(t, err)
	defer func() { _ = dir.Close() }()
	tools, err := toolbox(dir)
	require.NoError(t, err)
	require.Len(t, tools, 4)
	for arguments, want := range map[string]string{
		`{"percent":99.9,"days":365}`: "99.9 % of 365 days allow 525.6 minutes of downtime.",
		`{"percent":100,"days":1}`:    "100 % of 1 days allow 0.0 minutes of downtime.",
		`{"percent":99.9}`:            "error: days",
		`{"percent":101,"days":1}`:    "error: <= 100",
		`{"percent":"all","days":1}`:  "error: percent",
	} {
		got, err := tools["downtime"].Use(t.Context(), flow.ToolUse{Arguments: json.RawMessage(arguments)})
		if part, bad := strings.CutPrefix(want, "error: "); bad {
			require.ErrorContains(t, err, part, arguments)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
}

func TestWhatToolsAnswerControlsNoTerminal(t *testing.T) {
	var out bytes.Buffer
	p := stage.Printer{Out: &out}
	answer(p, &flow.ToolResult{By: "ada", Text: "red \x1b[31m\n\n  indented\tand\u202e so\n" + strings.Repeat("long ", 30)})
	answer(p, &flow.ToolResult{By: "ben", Text: strings.Repeat("line\n", 7)})
	answer(p, &flow.ToolResult{By: "cyd", Text: "no such file", Failed: true})
	assert.Equal(t, "  ada │ red [31m\n  ada │   indented and so\n  ada │ "+strings.Repeat("long ", 17)+"lo…\n"+
		strings.Repeat("  ben │ line\n", 6)+"  ben │ …\n  cyd ✗ no such file\n", out.String())
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	key := func(name string) string { return map[string]string{"OPENAI_API_KEY": "k"}[name] }
	p := stage.Printer{Out: io.Discard}
	require.ErrorContains(t, run(t.Context(), p, []string{"-dir", t.TempDir()}, none), "without a key")
	require.ErrorContains(t, run(t.Context(), p, []string{"-dir", filepath.Join(t.TempDir(), "nothing")}, key), "root")
	require.ErrorContains(t, run(t.Context(), p, []string{"-problem", " "}, key), "problem: is empty")
	require.Error(t, run(t.Context(), p, []string{"-sing"}, none))
	require.NoError(t, run(t.Context(), p, []string{"-h"}, none))
}

func TestAnInterruptEndsIt(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, run(ctx, stage.Printer{Out: io.Discard}, nil, none), context.DeadlineExceeded)
	})
}
