package command

import (
	"fmt"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
)

// resultOf returns what a conversation was held for, as text: a solution, a verdict, the summary of work, scores. false: there
// is none. The text is hostile.
func resultOf(record *flow.Record) (string, bool) {
	if d, ok := deliberation.Of(record); ok {
		solution, _, ok := d.Solution()
		if !ok {
			return "", false
		}
		return solution.Description, true
	}
	if work, ok := arbiter.Of(record); ok {
		return work.Summary()
	}
	if scores, ok := deliberation.ScoresOf(record); ok {
		report := scores.Report()
		return scoreTable(&report), report.Answered > 0
	}
	if d, ok := debate.Of(record); ok {
		return verdictOf(d)
	}
	return "", false
}

// verdictOf returns how a debate has ended.
func verdictOf(d *debate.Debate) (string, bool) {
	if d.State != flow.StateCompleted {
		return "", false
	}
	outcome := d.Outcome()
	var b strings.Builder
	switch {
	case outcome.Winner != "":
		fmt.Fprintf(&b, "%s has won.\n", outcome.Winner)
	case outcome.Side != "":
		fmt.Fprintf(&b, "The side %s has won.\n", outcome.Side)
	case outcome.Tie:
		b.WriteString("There is no winner: a tie.\n")
	}
	if d.Verdict != nil {
		b.WriteString("\n" + d.Verdict.Summary + "\n")
	}
	text := strings.TrimSpace(b.String())
	return text, text != ""
}
