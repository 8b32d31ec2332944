package export

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
)

// notes shows what was said in between, where nothing is shown by rounds.
func (w *reporter) notes() *section {
	s := &section{ID: "notes", Title: "Said in between"}
	if w.work != nil || w.evaluation != nil {
		for _, n := range w.record.Notes {
			s.Articles = append(s.Articles, w.note(n))
		}
	}
	return s
}

// note shows what somebody has said in between.
func (w *reporter) note(n *flow.Note) *article {
	to := make([]string, len(n.To))
	for i, name := range n.To {
		to[i] = w.called(name)
	}
	a := &article{
		Class: classMaterial, Title: n.As, Blocks: []block{spoken(n.Text)},
		Marks: notes("said in between", prefixed("to ", strings.Join(to, ", ")), prefixed("asks ", w.called(n.Asks())),
			prefixed("by ", brief(n.Person))),
	}
	if said, ok := w.log.notes[n.ID]; ok {
		a.Marks = append(a.Marks, w.clock(said.at))
	}
	return a
}

// contributions shows what was said in a round: the turns in this order, each note before the first of them that was recorded after it or
// answers it, and the other notes behind them.
func (w *reporter) contributions(round int, turns []*flow.Turn) []*article {
	said := slices.DeleteFunc(slices.Clone(w.record.Notes), func(n *flow.Note) bool { return n.Round != round })
	var out []*article
	show := func(upto int) {
		for _, n := range said[:upto] {
			out = append(out, w.note(n))
		}
		said = said[upto:]
	}
	for _, t := range turns {
		upto := 0
		for i, n := range said {
			if w.follows(t, n) {
				upto = i + 1
			}
		}
		show(upto)
		out = append(out, w.turn(t))
	}
	show(len(said))
	return out
}

// follows reports whether a turn was recorded after a note, or answers it.
func (w *reporter) follows(t *flow.Turn, n *flow.Note) bool {
	note, known := w.log.notes[n.ID]
	return known && w.log.turns[attemptID{t.Call, t.Attempt}].seq > note.seq || w.debate.Answered(t) == n
}

// earlier shows the verdicts after which the debate went on, each with who had won.
func (w *reporter) earlier() []*section {
	var out []*section
	shown := len(w.debate.Verdicts)
	for i := range w.debate.Earlier {
		e := &w.debate.Earlier[i]
		won := "Nobody had won."
		if e.Winner != "" {
			won = w.party(e.Winner) + " had won."
		}
		then := block{Text: "Then the debate went on."}
		if e.Question != "" {
			then.Text = fmt.Sprintf("Then %s was asked: “%s”", e.To, w.speeches.gist(e.Question, 300))
		}
		s := &section{
			ID: fmt.Sprintf("earlier-%d", i+1), Title: fmt.Sprintf("Verdict after round %d", e.Round),
			Blocks: []block{{Text: sentence(won)}, then},
		}
		for _, v := range e.Verdicts {
			shown++
			s.Articles = append(s.Articles, w.verdict(v, shown))
		}
		out = append(out, s)
	}
	return out
}

// earlierSolutions shows the solutions after which the deliberation went on.
func (w *reporter) earlierSolutions(d *deliberation.Deliberation) []*section {
	var out []*section
	for i := range d.Earlier {
		e := &d.Earlier[i]
		s := &section{ID: fmt.Sprintf("earlier-%d", i+1), Title: fmt.Sprintf("Solution after round %d", e.Round)}
		if e.Solution != nil {
			s.Blocks = append(s.Blocks, block{Text: sentence("by " + w.called(e.By))}, spoken(e.Solution.Description))
		}
		s.Blocks = append(s.Blocks, block{Text: "Then the deliberation went on."})
		out = append(out, s)
	}
	return out
}
