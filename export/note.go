package export

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/deliberation"
)

// notes shows what was said in between.
func (w *reporter) notes() *section {
	s := &section{ID: "notes", Title: "Said in between"}
	for _, n := range w.record.Notes {
		to := make([]string, len(n.To))
		for i, name := range n.To {
			to[i] = w.called(name)
		}
		about := "outside the rounds"
		if n.Round > 0 {
			about = "round " + strconv.Itoa(n.Round)
		}
		asked := ""
		if n.Ask != "" {
			asked = "asks " + w.called(n.Ask)
		}
		s.Articles = append(s.Articles, &article{
			Class: classMaterial, Title: n.As, Blocks: []block{spoken(n.Text)},
			Marks: notes(about, prefixed("to ", strings.Join(to, ", ")), asked, prefixed("by ", brief(n.Person))),
		})
	}
	return s
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
