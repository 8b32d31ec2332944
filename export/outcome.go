package export

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/format"
)

// outcome shows the result of a debate, with the verdicts; nil: another flow has its own results.
func (w *reporter) outcome() *section {
	if w.debate.Config() == nil {
		return nil
	}
	o := w.debate.Outcome()
	s := &section{ID: "outcome", Title: "Outcome", Blocks: append([]block{{Headline: w.headline(&o)}}, w.askedAfter()...)}
	if t := w.scores(o.Scores); t != nil {
		if o.Verdicts > 1 {
			t.Caption = "Mean scores, of 100"
		}
		s.Blocks = append(s.Blocks, block{Table: t})
	}
	if len(o.Votes) > 0 && o.Judges > 1 {
		t := &table{Caption: "The judges' votes", Head: []string{"For", "Votes"}, Figures: 1}
		if w.config.Judging != nil && w.config.Judging.Protocol == debate.Borda {
			t.Head[1] = "Points"
		}
		for _, v := range o.Votes {
			t.Rows = append(t.Rows, cells(w.party(v.Name), count(v.Votes)))
		}
		s.Blocks = append(s.Blocks, block{Table: t})
	}
	if len(o.Dissent) > 0 && o.Judges > 1 {
		b := block{Label: "Dissent"}
		for _, d := range o.Dissent {
			whom := "nobody"
			if d.Winner != "" {
				whom = w.party(d.Winner)
			}
			b.Items = append(b.Items, fmt.Sprintf("%s is for %s: %s", d.Judge, whom, w.speeches.gist(d.Reasoning, 300)))
		}
		s.Blocks = append(s.Blocks, b)
	}
	for _, note := range o.Notes {
		s.Blocks = append(s.Blocks, block{Text: sentence(note)})
	}
	s.Blocks = append(s.Blocks, degraded(o.Degraded)...)
	verdicts := slices.Clone(w.debate.Verdicts)
	slices.SortStableFunc(verdicts, func(a, b *debate.Verdict) int {
		return cmp.Or(w.place(a.Judge)-w.place(b.Judge), swapped(a)-swapped(b))
	})
	for i, v := range verdicts {
		s.Articles = append(s.Articles, w.verdict(v, i+1))
	}
	if len(verdicts) > 1 {
		s.Fold = plural(len(verdicts), "verdict")
	}
	return s
}

// askedAfter shows what one participant was asked after the verdict, and the answer, if that is all that followed.
func (w *reporter) askedAfter() []block {
	if len(w.debate.Earlier) == 0 {
		return nil
	}
	e := &w.debate.Earlier[len(w.debate.Earlier)-1]
	if e.Question == "" {
		return nil
	}
	after := "After the end, "
	if len(e.Verdicts) > 0 {
		after = "After the verdict, "
	}
	out := []block{{Label: after + e.To + " was asked", Speech: &e.Question}}
	if e.Answer == nil {
		return append(out, block{Text: sentence(e.To + " has not answered")})
	}
	return append(out, block{Label: "The answer of " + e.To, Speech: &e.Answer.Text})
}

// degraded lists how a conversation was less than configured, if it was.
func degraded(lines []string) []block {
	if len(lines) == 0 {
		return nil
	}
	b := block{Label: "Less than was planned"}
	for _, l := range lines {
		b.Items = append(b.Items, sentence(l))
	}
	return []block{b}
}

func swapped(v *debate.Verdict) int {
	if v.Swapped {
		return 1
	}
	return 0
}

// headline says in a sentence who has won.
func (w *reporter) headline(o *debate.Outcome) string {
	over := w.record.Final()
	switch {
	case w.config.Judging == nil && o.Decision == format.ByJudges:
		return "Nobody has judged this debate."
	case o.Decision == format.NoWinner:
		return "This format has no winner."
	case o.Winner != "" && o.Verdicts > 1:
		return fmt.Sprintf("%s wins before a panel of %d.", w.sided(o.Winner), o.Verdicts)
	case o.Winner != "":
		return w.sided(o.Winner) + " wins."
	case o.Side != "" && o.Decision != format.BySwing && o.Verdicts > 1:
		return fmt.Sprintf("The side %s wins before a panel of %d.", o.Side, o.Verdicts)
	case o.Side != "" && o.Decision != format.BySwing:
		return fmt.Sprintf("The side %s wins.", o.Side)
	case o.Side != "":
		return fmt.Sprintf("The side %s wins: it has gained more of the audience.", o.Side)
	case o.Tie && o.Decision == format.BySwing:
		return "A tie: both sides have gained the same of the audience."
	case o.Tie:
		return "A tie: the votes name nobody."
	case o.Verdicts > 0 && len(o.Notes) > 0:
		return "Nobody has won: no judge names a winner."
	case over:
		return "Nobody has won: there is no decision."
	default:
		return "There is no decision yet."
	}
}

// scores returns a table of scores from 0 to 100, in the order of the participants; nil: there are none.
func (w *reporter) scores(scores map[string]float64) *table {
	t := &table{Caption: "Scores, of 100", Head: []string{"Participant", "Score"}, Figures: 1}
	for _, p := range w.config.Participants {
		if score, ok := scores[p.Name]; ok {
			t.Rows = append(t.Rows, []cell{{Text: w.sided(p.Name)}, bar(score, 100)})
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}

// verdict shows the verdict of a judge.
func (w *reporter) verdict(v *debate.Verdict, n int) *article {
	a := &article{
		ID: fmt.Sprintf("verdict-%d", n), Class: "verdict", Title: "Verdict by " + v.Judge,
		Marks: notes(w.judgedBy(v.Judge, v.Model), fmt.Sprintf("quality %s of 100", mark(v.QualityScore))),
	}
	if v.Swapped {
		a.Marks = append(a.Marks, "with the participants in the other order")
	}
	a.Blocks = append(a.Blocks, spoken(v.Summary))
	switch {
	case v.Winner != nil:
		a.Blocks = append(a.Blocks, block{Label: "The winner: " + w.party(w.debate.PartyOf(&v.FinalVerdict)), Speech: &v.Winner.Reasoning})
	case w.debate.Format().Decide != format.NoWinner:
		a.Blocks = append(a.Blocks, block{Text: "This judge names no winner."})
	}
	if t := w.scores(v.Scores); t != nil && len(w.debate.Verdicts) > 1 {
		a.Blocks = append(a.Blocks, block{Table: t})
	}
	if len(v.Criteria) > 0 {
		t := &table{Head: []string{"Criterion", "Finding"}, Figures: 2}
		for _, name := range slices.Sorted(maps.Keys(v.Criteria)) {
			t.Rows = append(t.Rows, cells(name, v.Criteria[name]))
		}
		a.Blocks = append(a.Blocks, block{Table: t})
	}
	for _, p := range v.KeyPoints {
		a.list("Main arguments of "+p.Participant, p.MainArguments)
	}
	a.list("Agreed", v.AreasOfAgreement)
	a.list("Disputed", v.AreasOfDisagreement)
	a.list("Insights", v.Insights)
	return a
}

// list adds items, if there are any.
func (a *article) list(label string, items []string) {
	if len(items) > 0 {
		a.Blocks = append(a.Blocks, block{Label: label, Phrases: items})
	}
}

// audience shows how the audience voted.
func (w *reporter) audience() *section {
	if w.config.Audience == nil {
		return nil
	}
	s := &section{ID: "audience", Title: "Audience"}
	swing := w.debate.Swing()
	if swing.Voters > 0 {
		t := &table{
			Caption: "Shares of the " + plural(swing.Voters, "voter") + " who voted before and after",
			Head:    []string{"Vote", "Before", "After", "Gain"}, Figures: 1,
		}
		for _, v := range []debate.Vote{debate.VoteFor, debate.VoteAgainst, debate.VoteUndecided} {
			t.Rows = append(t.Rows, cells(
				string(v), mark(swing.Before[v])+" %", mark(swing.After[v])+" %", fmt.Sprintf("%+.4g points", swing.Gain[v])))
		}
		s.Blocks = append(s.Blocks, block{Table: t})
	}
	t := &table{Caption: "Ballots", Head: []string{"Voter", "When", "Vote", whyColumn}, Figures: 4}
	ballots := slices.Clone(w.debate.Ballots)
	slices.SortStableFunc(ballots, func(a, b *debate.Ballot) int { return w.place(a.Voter) - w.place(b.Voter) })
	for _, b := range ballots {
		when := "before"
		if b.After {
			when = "after"
		}
		t.Rows = append(t.Rows, cells(b.Voter, when, string(b.Vote), b.Reasoning))
	}
	if len(t.Rows) > 0 {
		s.Blocks = append(s.Blocks, block{Table: t})
	}
	return s
}
