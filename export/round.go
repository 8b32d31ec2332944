package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
)

// manyRounds is the number of rounds from which the table of contents shows them as bare numbers.
const manyRounds = 12

// rounds returns a section for each round in which something was said or judged.
func (w *reporter) rounds() []*section {
	byRound := make(map[int][]*debate.Assessment)
	for _, t := range w.record.Turns {
		byRound[t.Round] = nil
	}
	for _, n := range w.record.Notes {
		byRound[n.Round] = nil
	}
	for _, a := range w.debate.Assessments {
		byRound[a.Round] = append(byRound[a.Round], a)
	}
	var out []*section
	for _, n := range slices.Sorted(maps.Keys(byRound)) {
		s := w.round(n, byRound[n])
		s.folded(len(byRound))
		out = append(out, s)
	}
	return out
}

func (w *reporter) round(n int, assessments []*debate.Assessment) *section {
	s := &section{ID: "round-" + strconv.Itoa(n), Title: "Round " + strconv.Itoa(n)}
	if n == 0 {
		s.Title = "Outside the rounds"
	}
	s.Note = w.debate.Phase(n)
	s.Articles = w.contributions(n, w.record.RoundTurns(n))
	slices.SortStableFunc(assessments, func(a, b *debate.Assessment) int { return w.place(a.Judge) - w.place(b.Judge) })
	for _, a := range assessments {
		s.Articles = append(s.Articles, w.assessment(a))
	}
	return s
}

// cutMark marks a text that was cut off.
const cutMark = "cut at its limit of tokens"

// usedUpMark marks a text whose model came to a limit of its use of tools.
const usedUpMark = "limit of its uses of tools reached"

// unreportedMark marks what no provider has reported the usage of.
const unreportedMark = "its usage is not known"

// mostAnswered is how many characters of a question stand beside its answer.
const mostAnswered = 80

// turn shows what somebody said.
func (w *reporter) turn(t *flow.Turn) *article {
	w.turns++
	a := &article{
		ID: "turn-" + strconv.Itoa(w.turns), Class: "turn", Title: w.called(t.Speaker), Tone: w.tones[t.Speaker], Side: w.sides[t.Speaker],
		Marks:  notes(string(t.Kind), prefixed("to ", t.Target), w.otherModel(t)),
		Blocks: words(t),
	}
	if w.deliberation != nil {
		a.Marks = notes(strings.TrimSpace(string(t.Kind)+" "+prefixed("of ", w.called(t.Target))), w.otherModel(t))
	}
	if len(t.Attachments) > 0 {
		a.Blocks = append(a.Blocks, w.files(t.Attachments))
	}
	a.Blocks = append(a.Blocks, sources(t)...)
	a.Blocks = append(a.Blocks, w.quotations(t)...)
	if whose, question := w.answered(t); question != "" {
		a.Marks = append(a.Marks, "answers "+whose+": “"+w.speeches.gist(question, mostAnswered)+"”")
	}
	if t.Hidden && w.deliberation == nil {
		a.Marks = append(a.Marks, "at the same time as others")
	}
	if t.UsedUp {
		a.Marks = append(a.Marks, usedUpMark)
	}
	a.Marks = append(a.Marks, w.circumstances(t)...)
	return a
}

// answered returns what a turn answers out of turn, and whose question that is. "": it answers none.
func (w *reporter) answered(t *flow.Turn) (whose, question string) {
	for i := range w.debate.Earlier {
		switch e := &w.debate.Earlier[i]; {
		case e.Answer == nil || e.Answer.Call != t.Call:
		case len(e.Verdicts) > 0:
			return "the question after the verdict", e.Question
		default:
			return "the question after the end", e.Question
		}
	}
	if n := w.debate.Answered(t); n != nil {
		return n.As, n.Text
	}
	return "", ""
}

// circumstances says how a turn has come about, as far as that is out of the ordinary, and when.
func (w *reporter) circumstances(t *flow.Turn) []string {
	var out []string
	if t.Cut {
		out = append(out, cutMark)
	}
	if t.Cached {
		out = append(out, "from a cache")
	}
	if t.Unreported && (t.Vendor == nil || !t.Vendor.Told) {
		out = append(out, unreportedMark)
		if t.AtMost > 0 {
			out = append(out, t.Unsettled().Short(t.Cost))
		}
	}
	if said, ok := w.log.turns[attemptID{t.Call, t.Attempt}]; ok {
		out = append(out, w.clock(said.at))
	}
	return out
}

// words returns the text of a turn. An answer as JSON, of another flow, is indented. If the text is one field of the answer
// (flow.AnswerOf.Spoken), the rest of the answer follows it.
func words(t *flow.Turn) []block {
	var text bytes.Buffer
	if len(t.Data) == 0 || json.Indent(&text, t.Data, "", "  ") != nil {
		return []block{spoken(t.Text)}
	}
	rest, ok := unsaid(t)
	if !ok {
		return []block{spoken("```json\n" + text.String() + "\n```")}
	}
	out := []block{spoken(t.Text)}
	if text.Reset(); len(rest) > 0 && json.Indent(&text, rest, "", "  ") == nil {
		out = append(out, spoken("```json\n"+text.String()+"\n```"))
	}
	return out
}

// unsaid returns what an answer holds beside the field that is the text of its turn; false: no field is.
func unsaid(t *flow.Turn) (rest []byte, ok bool) {
	var fields map[string]json.RawMessage
	if t.Text == "" || json.Unmarshal(t.Data, &fields) != nil {
		return nil, false
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		var said string
		if json.Unmarshal(fields[name], &said) != nil || said != t.Text {
			continue
		}
		if delete(fields, name); len(fields) == 0 {
			return nil, true
		}
		rest, err := json.Marshal(fields)
		return rest, err == nil
	}
	return nil, false
}

// otherModel returns the model of a turn if it is not the speaker's own, or if it stood in for a person.
func (w *reporter) otherModel(t *flow.Turn) string {
	for i := range w.config.Participants {
		switch p := &w.config.Participants[i]; {
		case p.Name != t.Speaker:
		case p.Model == t.Model:
			return ""
		case p.Person && p.StandIn == t.Model:
			return t.Model + " stood in"
		}
	}
	return prefixed("by ", t.Model)
}

// assessment shows what a judge said about a round.
func (w *reporter) assessment(v *debate.Assessment) *article {
	a := &article{
		Class: classAssessment, Title: "Assessment by " + v.Judge,
		Marks: notes(w.judgedBy(v.Judge, v.Model), fmt.Sprintf("quality %s of 10", mark(v.QualityScore))),
	}
	if v.ShouldContinue {
		a.Marks = append(a.Marks, "wishes to go on")
	} else {
		a.Marks = append(a.Marks, "wishes to end")
	}
	a.Marks = append(a.Marks, debate.FlagsOf(&v.Flags)...)
	t := w.marks(v.Assessments)
	if w.config.Judging != nil && w.config.Judging.Rubric != nil {
		t = w.rubricMarks(v.Assessments, w.config.Judging.Rubric)
	}
	a.Blocks = append(a.Blocks, block{Table: t}, block{Label: "Reasoning", Speech: &v.Reasoning})
	if line(v.Ending) != "" {
		a.Blocks = append(a.Blocks, block{Label: "Why it should end", Speech: &v.Ending})
	}
	if line(v.Recommendations) != "" {
		a.Blocks = append(a.Blocks, block{Label: "Recommendations", Speech: &v.Recommendations})
	}
	for _, m := range v.Assessments {
		a.list("Strengths of "+m.Participant, m.Strengths)
		a.list("Weaknesses of "+m.Participant, m.Weaknesses)
	}
	return a
}

// marks returns a table of scores from 0 to 10.
func (w *reporter) marks(all []debate.ParticipantMark) *table {
	t := &table{Head: []string{"Participant", "Score, of 10"}, Figures: 1}
	for _, m := range all {
		t.Rows = append(t.Rows, []cell{{Text: w.sided(m.Participant)}, bar(m.Score, 10)})
	}
	return t
}

// rubricMarks returns a table of marks from 0 to 10 by criterion, with the resulting score.
func (w *reporter) rubricMarks(all []debate.ParticipantMark, rubric *debate.Rubric) *table {
	t := &table{Head: []string{"Criterion, of 10"}, Figures: 1, Total: true}
	total := []cell{{Text: "Score"}}
	for _, m := range all {
		t.Head = append(t.Head, w.sided(m.Participant))
		total = append(total, bar(m.Score, 10))
	}
	for _, c := range rubric.Criteria {
		row := []cell{{Text: c.Name}}
		for _, m := range all {
			row = append(row, cell{Text: mark(m.Criteria[c.Name])})
		}
		t.Rows = append(t.Rows, row)
	}
	t.Rows = append(t.Rows, total)
	return t
}
