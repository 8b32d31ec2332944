package main

import (
	"fmt"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
)

// show prints an event.
func show(p stage.Printer, e *debate.Event, rubric *debate.Rubric) {
	switch body := e.Body.(type) {
	case *flow.Round:
		p.Linef("\n== Round %d of %d: %s ==", body.N, body.Of, body.Phase)
	case *debate.Turn:
		turn(p, body)
	case *debate.Assessment:
		marks(p, body, rubric)
	case *flow.Rejection:
		p.Speak("  ", fmt.Sprintf("[an answer of %s was not accepted: %s]", body.By, strings.Join(body.Problems, "; ")))
	case *flow.Failure:
		p.Speak("  ", fmt.Sprintf("[%s gave no answer: %v]", body.By, body.Error))
	}
}

// turn prints a speech under its speaker, and the questions and answers of a cross-examination.
func turn(p stage.Printer, t *debate.Turn) {
	switch t.Kind {
	case format.KindQuestion:
		p.Linef("\n  Q  %s asks %s", t.Speaker, t.Target)
		p.Speak("     ", t.Text)
	case format.KindAnswer:
		p.Linef("  A  %s", t.Speaker)
		p.Speak("     ", t.Text)
	default:
		p.Linef("\n%s (%s)", t.Speaker, t.Kind)
		p.Speak("  ", t.Text)
	}
}

// marks prints the judge's marks for a round. The score of a mark is the rubric's total.
func marks(p stage.Printer, a *debate.Assessment, rubric *debate.Rubric) {
	row := func(name, weight string, cell func(mark *debate.ParticipantMark) string) {
		var cells strings.Builder
		for i := range a.Assessments {
			_, _ = fmt.Fprintf(&cells, " %7.7s", cell(&a.Assessments[i]))
		}
		p.Linef("  %-22s %7s%s", name, weight, cells.String())
	}
	p.Linef("\n%s marks round %d", a.Judge, a.Round)
	row("", "weight", func(mark *debate.ParticipantMark) string { return mark.Participant })
	for _, c := range rubric.Criteria {
		row(c.Name, fmt.Sprintf("%.0f %%", c.Weight), func(mark *debate.ParticipantMark) string {
			return fmt.Sprintf("%.1f", mark.Criteria[c.Name])
		})
	}
	row("total", "", func(mark *debate.ParticipantMark) string { return fmt.Sprintf("%.2f", mark.Score) })
	p.Speak("  ", a.Reasoning)
}

// conclude prints the verdict.
func conclude(p stage.Printer, d *debate.Debate) {
	o := d.Outcome()
	p.Linef("\n== Verdict ==")
	switch {
	case d.Verdict == nil:
		p.Linef("There is none.")
	case o.Winner == "":
		p.Linef("Nobody has won.")
		p.Speak("  ", d.Verdict.Summary)
	default:
		p.Linef("%s wins, %s the resolution: Ada %.0f, Ben %.0f of 100.", o.Winner, o.Side, o.Scores["Ada"], o.Scores["Ben"])
		p.Speak("  ", d.Verdict.Winner.Reasoning)
	}
}
