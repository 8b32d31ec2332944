package main

import (
	"fmt"
	"strings"

	"github.com/agonist-dev/debate"
)

// show tells of what has happened.
func (p printer) show(e *debate.Event, rubric *debate.Rubric) {
	switch {
	case e.Round != nil:
		p.linef("\n== Round %d of %d: %s ==", e.Round.N, e.Round.Of, e.Round.Phase)
	case e.Turn != nil:
		p.turn(e.Turn)
	case e.Assessment != nil:
		p.marks(e.Assessment, rubric)
	case e.Rejection != nil:
		p.speak("  ", fmt.Sprintf("[an answer of %s was not accepted: %s]", e.Rejection.By, strings.Join(e.Rejection.Problems, "; ")))
	case e.Failure != nil && e.Failure.Error != nil:
		p.speak("  ", fmt.Sprintf("[%s gave no answer: %v]", e.Failure.By, e.Failure.Error))
	}
}

// turn prints a speech under its speaker, and what is asked and answered in a cross-examination.
func (p printer) turn(t *debate.Turn) {
	switch t.Kind {
	case debate.KindQuestion:
		p.linef("\n  Q  %s asks %s", t.Speaker, t.Target)
		p.speak("     ", t.Text)
	case debate.KindAnswer:
		p.linef("  A  %s", t.Speaker)
		p.speak("     ", t.Text)
	default:
		p.linef("\n%s (%s)", t.Speaker, t.Kind)
		p.speak("  ", t.Text)
	}
}

// marks prints what the judge has marked a round with. A mark's score is the rubric's total.
func (p printer) marks(a *debate.Assessment, rubric *debate.Rubric) {
	row := func(name, weight string, cell func(mark *debate.ParticipantMark) string) {
		var cells strings.Builder
		for i := range a.Assessments {
			_, _ = fmt.Fprintf(&cells, " %7.7s", cell(&a.Assessments[i]))
		}
		p.linef("  %-22s %7s%s", name, weight, cells.String())
	}
	p.linef("\n%s marks round %d", a.Judge, a.Round)
	row("", "weight", func(mark *debate.ParticipantMark) string { return mark.Participant })
	for _, c := range rubric.Criteria {
		row(c.Name, fmt.Sprintf("%.0f %%", c.Weight), func(mark *debate.ParticipantMark) string {
			return fmt.Sprintf("%.1f", mark.Criteria[c.Name])
		})
	}
	row("total", "", func(mark *debate.ParticipantMark) string { return fmt.Sprintf("%.2f", mark.Score) })
	p.speak("  ", a.Reasoning)
}

// conclude prints the verdict.
func (p printer) conclude(r *debate.Record) {
	o := r.Outcome()
	p.linef("\n== Verdict ==")
	switch {
	case r.Verdict == nil:
		p.linef("There is none.")
	case o.Winner == "":
		p.linef("Nobody has won.")
		p.speak("  ", r.Verdict.Summary)
	default:
		p.linef("%s wins, %s the resolution: Ada %.0f, Ben %.0f of 100.", o.Winner, o.Side, o.Scores["Ada"], o.Scores["Ben"])
		p.speak("  ", r.Verdict.Winner.Reasoning)
	}
}
