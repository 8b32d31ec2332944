package debate

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// Concluded is a conclusion after which the debate went on; see [Engine.Reopen].
type Concluded struct {
	Round int `json:"round"` // the last one before it
	// Winner is the participant or the side that had won. "": nobody.
	Winner   string     `json:"winner,omitempty"`
	Verdicts []*Verdict `json:"verdicts,omitempty"`
	Ballots  []*Ballot  `json:"ballots,omitempty"` // those after the debate
	// Question is what the participant To was asked after it, in place of further rounds. "": these followed.
	Question string     `json:"question,omitempty"`
	To       string     `json:"to,omitempty"`
	Answer   *flow.Turn `json:"answer,omitempty"` // to Question; nil: there is none, or not yet

	note int // the index of the note that tells of it
}

// asked names what was asked after the conclusion.
func (e *Concluded) asked() string {
	if len(e.Verdicts) > 0 {
		return "the question after the verdict"
	}
	return "the question after the end"
}

// earlierVerdict is who tells of a conclusion. No host's note has the name.
const earlierVerdict = "The earlier verdict"

// mostReasons bounds what a note quotes of each verdict, in bytes.
const mostReasons = 500

// reopen returns the config and the note with which a debate goes on after its verdict; see flow.Flow.Reopen.
func reopen(r *flow.Record, o flow.Reopening) (flow.Config, flow.Note, error) {
	d := of(r)
	note := flow.Note{As: earlierVerdict, Person: o.Person}
	note.Text = d.toldVerdict()
	var f flow.Findings
	switch {
	case o.Rounds < 0 || o.Rounds == 0 && o.Ask == "":
		f.Addf("rounds", "%w", flow.WithMend(errors.New("there is no further round, and no question"), "give rounds, or ask and to"))
	case o.Rounds > 0 && d.format.Rounds > 0:
		err := fmt.Errorf("the format %s has %d rounds, and no more", d.format.Name, d.format.Rounds)
		f.Addf("rounds", "%w", flow.WithMend(err, "start another debate in another format"))
	case o.Rounds > 0 && o.Ask != "":
		err := errors.New("is answered without further rounds")
		f.Addf("ask", "%w", flow.WithMend(err, "leave rounds out, or ask with a note in one of them"))
	case o.Ask != "" && o.To == "":
		f.Addf("to", "is missing: it names who answers, %s", strings.Join(namesOf(d.participants()), " or "))
	case o.Ask != "" && d.Seat(o.To) < 0:
		f.Addf("to", "%w", flow.Unknown("participant", o.To, namesOf(d.participants())...))
	case o.Ask != "" && d.leads(d.Seat(o.To)):
		f.Addf("to", "%w", flow.WithMend(errors.New(o.To+" leads the debate and holds no view"), "ask another participant"))
	case o.Ask != "" && d.IsDropped(o.To):
		f.Addf("to", "%w", flow.WithMend(errors.New(o.To+" takes no further part"), "ask another participant"))
	case o.Ask != "": // in every format, and whatever was asked in the round before
		note.Text, note.Ask = note.Text+beforeQuestion+o.Ask, o.To
	}
	if len(f) > 0 {
		return nil, flow.Note{}, errors.Join(f...)
	}
	config := d.config.clone()
	config.ID = o.ID
	if d.format.Rounds == 0 {
		config.Rounds = d.Round + o.Rounds
	}
	if o.Budget != nil {
		config.Budget = flow.CloneValue(o.Budget)
	}
	return config, note, nil
}

// beforeQuestion separates what a note tells of a conclusion, which has no empty line, from what is asked after it.
const beforeQuestion = "\n\n"

// toldVerdict says what was concluded, and why, for those who go on.
func (d *Debate) toldVerdict() string {
	out := d.Outcome()
	told := fmt.Sprintf("After round %d there was no winner.", d.Round)
	if winner := cmp.Or(out.Winner, string(out.Side)); winner != "" {
		told = fmt.Sprintf("After round %d the winner was %s.", d.Round, winner)
	}
	if len(d.Verdicts) == 0 {
		return told
	}
	reasons := []string{told + " The judges have said:"}
	for _, v := range d.Verdicts {
		if !v.Swapped {
			reasons = append(reasons, "- "+d.Line(v.Summary, mostReasons))
		}
	}
	return strings.Join(reasons, "\n")
}

// foldReopened folds that the debate goes on after its verdict, for further rounds or for an answer alone: what was concluded stands in
// Earlier, and is asked for anew.
func (d *Debate) foldReopened(alone bool) {
	d.alone, d.former = alone, len(d.Notes)
	out := d.Outcome()
	last := Concluded{Round: d.Round, Winner: cmp.Or(out.Winner, string(out.Side)), Verdicts: d.Verdicts, note: len(d.Notes)}
	before := make([]*Ballot, 0, len(d.Ballots))
	for _, b := range d.Ballots {
		if b.After {
			last.Ballots = append(last.Ballots, b)
		} else {
			before = append(before, b)
		}
	}
	d.Earlier = append(d.Earlier, last)
	d.Verdict, d.Verdicts, d.Ballots = nil, nil, before
}

// askedAfter returns the conclusion after which the debate goes on for one answer alone; nil: it does not.
func (d *Debate) askedAfter() *Concluded {
	if !d.alone || len(d.Earlier) == 0 {
		return nil
	}
	return &d.Earlier[len(d.Earlier)-1]
}

// owesAnswer returns who was asked after a conclusion and has not answered. "": nobody is asked, or the answer is there.
func (d *Debate) owesAnswer() string {
	if e := d.askedAfter(); e != nil && e.Answer == nil {
		return e.To
	}
	return ""
}

// foldNote folds what is asked after a conclusion.
func (d *Debate) foldNote(n *flow.Note) {
	if e := d.askedAfter(); e != nil && e.To == "" && n.Ask != "" {
		_, question, _ := strings.Cut(n.Text, beforeQuestion)
		e.Question, e.To = cmp.Or(question, n.Text), n.Ask
	}
}
