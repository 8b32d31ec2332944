package command_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/command"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// system returns surroundings with these variables.
func system(out *bytes.Buffer, variables map[string]string) command.System {
	return command.System{Out: out, Err: out, In: strings.NewReader(""), Lookup: func(name string) (string, bool) {
		value, ok := variables[name]
		return value, ok
	}}
}

// TestReading: a speech is rendered on a terminal, without styles if NO_COLOR asks for that, and is Markdown in a pipe.
func TestReading(t *testing.T) {
	said := flow.Event{Body: &flow.Turn{
		Spend: flow.Spend{Model: "openai/gpt-4.1"}, Round: 2, Kind: "rebuttal", Speaker: "Ada", Text: "It is **small**.\x1b[2J",
	}}
	for name, tc := range map[string]struct {
		columns   int
		variables map[string]string
		want      string
	}{
		"a pipe":     {0, nil, "### Ada, round 2: rebuttal\n\nIt is **small**.␛\n\n"},
		"a terminal": {80, nil, "\x1b[1mAda · rebuttal of round 2 · openai/gpt-4.1\x1b[0m\n\nIt is \x1b[1msmall\x1b[0m.␛[2J\n\n"},
		"no colour":  {80, map[string]string{"NO_COLOR": "1"}, "Ada · rebuttal of round 2 · openai/gpt-4.1\n\nIt is small.␛[2J\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			command.Read(system(&out, tc.variables), tc.columns, said, flow.Event{Body: &flow.Round{N: 3}})
			assert.Equal(t, strings.ReplaceAll(tc.want, "␛[2J", "␛"), strings.ReplaceAll(out.String(), "␛[2J", "␛"))
		})
	}
}

// TestShowFull: everything that was said is printed, and by watch too once the conversation is over.
func TestShowFull(t *testing.T) {
	place := t.TempDir()
	hold(t, place, func(req *provider.Request) scripted.Reply {
		return scripted.Reply{Text: "What " + strings.Split(req.ID, "/")[1] + " says."}
	}, debaters(nil))
	for _, args := range [][]string{{"show", "c", "--full"}, {"watch", "c"}} {
		got := run(t, place, args...)
		require.Zero(t, got.code, got.err)
		assert.Contains(t, got.out, "### Ada, round 1: opening\n\nWhat r1.opening.Ada says.\n\n### Ben, round 1: opening\n\nWhat r1.opening.Ben says.\n")
		assert.Equal(t, 1, strings.Count(got.out, "What r1.opening.Ada says."))
		assert.Contains(t, got.out, "There is no verdict.")
	}
	assert.NotContains(t, run(t, place, "show", "c").out, "What r1.opening.Ada says.")
}

// TestDocumentsAndTheirQuotationsAreShown: who is asked reads the documents, and what was found about each quotation. Behind a speech, and in
// the printed result, stands the same.
func TestDocumentsAndTheirQuotationsAreShown(t *testing.T) {
	const report = "The mayor says that it rained in the whole of May.\nIt is your turn, Cyd."
	place := filepath.Join(t.TempDir(), "kept") + "/"
	hold(t, place, func(*provider.Request) scripted.Reply {
		return scripted.Reply{Text: `It says <quote document="report.txt">it rained in the whole of May</quote> and ` +
			`<quote document="The report">Nobody wants to close anything</quote>.`}
	}, debate.Config{
		ID: "wet", Topic: "Was it wet?", Rounds: 1, Quotes: true,
		Participants: []debate.Participant{{Name: "Ada", Model: "demo/script"}, {Name: "Ben", Person: true}},
		Documents: []flow.Document{{Name: "The report", Files: []flow.File{
			{Name: "report.txt", Type: "text/plain", Data: []byte(report)}, {Name: "dot.bin", Type: "application/x-dot", Data: []byte{1}},
		}}},
	})
	const listed = "Quotations, checked by the program:\n\n" +
		"- “it rained in the whole of May”: as in report.txt\n- “Nobody wants to close anything”: not found in report.txt\n"
	asked := run(t, place, "show", "wet", "--question", "r1.opening.Ben")
	require.Zero(t, asked.code, asked.err)
	assert.True(t, strings.HasPrefix(asked.out, "Document The report [file: report.txt], 72 bytes\n\n"+
		"> The mayor says that it rained in the whole of May.\n> It is your turn, Cyd.\n\n"+
		"Document The report [file: dot.bin], 1 byte\n\nAda, "), asked.out)
	assert.Contains(t, asked.out, "\n\n  “it rained in the whole of May”: as in report.txt\n"+
		"  “Nobody wants to close anything”: not found in report.txt\n\nIt is your turn, Ben")
	assert.Contains(t, run(t, place, "show", "wet", "--full").out, listed)
	done := run(t, place, "answer", "wet", "r1.opening.Ben", "It was.")
	require.Zero(t, done.code, done.err)
	assert.Contains(t, done.out, listed)
}

// TestPager: $PAGER gets the text. Without one that is there, or with an empty name, the program shows it itself.
func TestPager(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the pager of this test is a script of sh")
	}
	pager := filepath.Join(t.TempDir(), "pager")
	require.NoError(t, os.WriteFile(pager, []byte("#!/bin/sh\necho \"$1 $LESS\"\ncat\n"), 0o700))
	var out bytes.Buffer
	assert.True(t, command.Page(system(&out, map[string]string{"PAGER": pager + " -x"}), "What is said.\n"))
	assert.Equal(t, "-x FRX\nWhat is said.\n", out.String())
	for _, none := range []string{"", "/no/such/pager"} {
		assert.False(t, command.Page(system(&out, map[string]string{"PAGER": none}), "no"))
	}
}
