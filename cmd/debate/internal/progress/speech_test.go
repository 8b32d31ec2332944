package progress_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
)

// TestQuestionsAreRead: what agents ask is a list, not JSON.
func TestQuestionsAreRead(t *testing.T) {
	for data, want := range map[string]string{
		`{"questions":["Why?","For **whom**?"]}`: "- Why?\n- For **whom**?",
		`{"questions":[]}`:                       "Nothing is unclear.",
	} {
		turn := &flow.Turn{Speaker: "ada", Kind: deliberation.KindQuestion, Text: data, Data: []byte(data)}
		got, ok := progress.SpeechOf(turn, func(id string) string { return id })
		assert.True(t, ok)
		assert.Equal(t, want, got.Text)
	}
}

// TestChecksStandBelowATurn: behind what was said stand the files that belong to it, and what was found about each quotation.
func TestChecksStandBelowATurn(t *testing.T) {
	turn := &flow.Turn{
		Speaker: "Ada", Kind: "rebuttal", Text: "It says so.", Attachments: []flow.File{{Name: "plan\x1b[2J.txt", Type: "text/plain"}},
		Quotations: []flow.Quotation{
			{Start: 0, End: 7, Status: flow.QuoteAltered, File: "report.txt", Changed: `"not" is missing`},
			{Start: 3, End: 99, Status: flow.QuoteAbsent, File: "report.txt"},
		},
	}
	got, ok := progress.SpeechOf(turn, func(id string) string { return id })
	assert.True(t, ok)
	assert.Equal(t, "It says so.\n\n[file: plan␛2J.txt]\n\nQuotations, checked by the program:\n\n"+
		"- “It says”: altered in report.txt (\"not\" is missing)\n- not found in report.txt\n", got.Text)
}

// TestANoteNamesWhomItAsks: who reads a note is told who is to answer it. What quotes a conclusion asks nobody.
func TestANoteNamesWhomItAsks(t *testing.T) {
	for _, c := range []struct{ id, ask, want string }{
		{"n1", "", "note"}, {"n1", "Ben", "note, asks BEN"}, {"reopened-1", "Ben", "note"},
	} {
		got, ok := progress.SpeechOf(&flow.Note{ID: c.id, As: "A reader", Text: "Why?", Ask: c.ask}, strings.ToUpper)
		assert.True(t, ok)
		assert.Equal(t, []string{"A reader", c.want, "Why?"}, []string{got.Who, got.What, got.Text})
	}
}
