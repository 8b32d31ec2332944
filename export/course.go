package export

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// summaries shows the summaries, made when the history no longer fitted.
func (w *reporter) summaries() *section {
	s := &section{ID: "summaries", Title: "Summaries"}
	for i, sum := range w.record.Summaries {
		a := &article{
			Class: "summary", Title: "Summary " + strconv.Itoa(i+1),
			Marks:  notes(fmt.Sprintf("%s bytes in place of %s", count(sum.After), count(sum.Before)), prefixed("read by ", sum.View), sum.Model),
			Blocks: []block{spoken(sum.Text)},
		}
		if sum.Cut {
			a.Marks = append(a.Marks, cutMark)
		}
		s.Articles = append(s.Articles, a)
	}
	return s
}

// troubles shows who is gone, what has failed, which answers were not accepted, and what nobody has answered.
func (w *reporter) troubles() *section {
	open, _ := w.inquiries()
	return tabled("failures", "Failures and open questions", w.dropped(), w.failures(), w.rejections(), open)
}

// course shows other events: warnings, and what people were asked.
func (w *reporter) course() *section {
	_, settled := w.inquiries()
	return tabled("course", "Course of events", w.warnings(), w.floors(), w.late(), settled)
}

// floors shows who was given the floor, and why.
func (w *reporter) floors() *table {
	t := &table{Caption: "Who was given the floor", Head: []string{roundColumn, "To", whyColumn}, Figures: 3}
	for _, f := range w.debate.Floors {
		t.Rows = append(t.Rows, cells(number(f.Round), f.To, brief(f.Because)))
	}
	return t
}

// tabled returns a section of those tables that have rows. Long ones scroll.
func tabled(id, title string, tables ...*table) *section {
	s := &section{ID: id, Title: title}
	for _, t := range tables {
		if len(t.Rows) > 0 {
			t.Long = len(t.Rows) > manyRounds
			s.Blocks = append(s.Blocks, block{Table: t})
		}
	}
	return s
}

func (w *reporter) dropped() *table {
	t := &table{Caption: "Dropped", Head: []string{"Who", whyColumn}, Figures: 2}
	names := slices.Clone(w.record.Dropped())
	slices.SortStableFunc(names, func(a, b string) int { return w.place(a) - w.place(b) })
	for _, name := range names {
		t.Rows = append(t.Rows, cells(name, brief(w.log.dropped[name])))
	}
	return t
}

func (w *reporter) warnings() *table {
	t := &table{Caption: "Warnings", Head: []string{"Warning", "Of", "Evidence"}, Figures: 3}
	for i := range w.record.Warnings {
		warning := &w.record.Warnings[i]
		t.Rows = append(t.Rows, cells(string(warning.Kind), warning.By, brief(warning.Evidence)))
	}
	return t
}

func (w *reporter) rejections() *table {
	t := &table{Caption: "Answers that were not accepted", Head: []string{roundColumn, "Of", "Model", "Problems"}, Figures: 4}
	for i := range w.record.Rejections {
		r := &w.record.Rejections[i]
		t.Rows = append(t.Rows, cells(number(r.Round), r.By, r.Model, brief(strings.Join(r.Problems, "; "))))
	}
	return t
}

// Heads of columns.
const (
	roundColumn = "Round" // the number of a round; fields have that name too
	whyColumn   = "Why"
)

// number writes a round; 0 is outside the rounds, and is "".
func number(round int) string {
	if round == 0 {
		return ""
	}
	return strconv.Itoa(round)
}

// late shows which persons have not answered in time. What has followed stands among the decisions.
func (w *reporter) late() *table {
	t := &table{Caption: "Not answered in time", Head: []string{roundColumn, "Of", whyColumn}, Figures: 3}
	for _, f := range w.log.failures {
		if f.Error.Overdue() {
			t.Rows = append(t.Rows, cells(number(f.Error.Round), f.By, brief(strings.TrimPrefix(failure(f.Error), "timeout: "))))
		}
	}
	return t
}

// failures shows the attempts that failed. Those at one call that follow each other and failed for the same cause share a row.
func (w *reporter) failures() *table {
	t := &table{Caption: "Attempts that failed", Head: []string{roundColumn, "Of", "Model", "Attempt", "Failure"}, Figures: 5}
	type cause struct{ call, model, why string }
	type run struct{ row, first, last int }
	runs := make(map[cause]run)
	for _, f := range w.log.failures {
		if f.Error.Overdue() {
			continue
		}
		round := 0
		if f.Error != nil {
			round = f.Error.Round
		}
		same := cause{f.Call, f.Model, brief(failure(f.Error))}
		if before, ok := runs[same]; ok && f.Attempt == before.last+1 {
			before.last = f.Attempt
			runs[same] = before
			t.Rows[before.row][3] = cells(fmt.Sprintf("%d to %d", before.first, before.last))[0]
			continue
		}
		runs[same] = run{len(t.Rows), f.Attempt, f.Attempt}
		t.Rows = append(t.Rows, cells(number(round), f.By, f.Model, strconv.Itoa(f.Attempt), same.why))
	}
	return t
}

// inquiries shows the questions to people, and what rules have decided about failures: those that are open, and the others. The
// text for a person who acts in a model's place is a prompt, and is left out.
func (w *reporter) inquiries() (open, settled *table) {
	open = &table{Caption: "Without an answer", Head: []string{"To, or about", "Question"}, Figures: 2}
	settled = &table{Caption: "Questions and decisions", Head: []string{"To, or about", "Question", "Answer"}, Figures: 3}
	asked := w.log.asked
	if !w.log.known {
		for i := range w.record.Inquiries {
			asked = append(asked, &w.record.Inquiries[i])
		}
	}
	answers := make(map[string]*flow.Answer)
	for i := range w.record.Answers {
		a := &w.record.Answers[i]
		answers[a.Inquiry] = a
		if !slices.ContainsFunc(asked, func(q *flow.Inquiry) bool { return q.ID == a.Inquiry }) {
			asked = append(asked, &flow.Inquiry{ID: a.Inquiry})
		}
	}
	if w.deliberation != nil { // what agents have asked stands among the clarifications
		ids := make(map[string]bool)
		for _, c := range w.deliberation.Clarifications() {
			ids[c.ID] = true
		}
		asked = slices.DeleteFunc(slices.Clone(asked), func(q *flow.Inquiry) bool { return ids[q.ID] })
	}
	replaced := make(map[string]bool) // the calls in which something has taken the place of an answer
	for _, q := range asked {
		if answers[q.ID] != nil {
			for i := range q.About {
				replaced[q.About[i].Call] = true
			}
		}
	}
	for _, q := range asked {
		question := q.Question
		switch {
		case len(q.Options) == 0 && q.Kind != "":
			question = "for the " + string(q.Kind)
		case question == "":
			question = "inquiry " + q.ID
		}
		question = w.speeches.gist(question, 300)
		if a := answers[q.ID]; a != nil {
			settled.Rows = append(settled.Rows, cells(q.To, question, answered(q, a)))
		} else if !replaced[q.ID] {
			open.Rows = append(open.Rows, cells(q.To, question))
		}
	}
	return open, settled
}

// answered returns the answer in words.
func answered(q *flow.Inquiry, a *flow.Answer) string {
	out := "answered"
	if a.Option != "" {
		out = string(a.Option) + prefixed(": ", a.Model) + prefixed(": ", a.By) + prefixed(": ", brief(a.Text))
	}
	switch {
	case a.Rule && q.Failure.Overdue():
		out += " (no answer came in time)"
	case a.Rule:
		out += " (nobody was asked: a rule of the config says so)"
	}
	return out + prefixed(" by ", brief(a.Person))
}
