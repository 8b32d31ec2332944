package debate

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/prompt"
)

// aside returns why a participant cannot answer a note out of turn now; see flow.Flow.Aside.
func aside(r *flow.Record, n *flow.Note) error {
	d := of(r)
	switch {
	case d.alone && len(d.Notes) == d.former: // what is asked after the end, which reopen has checked
		return nil
	case d.Working() != StateAwaitingResponses || d.Late():
		return flow.WithMend(errors.New("answers out of turn are given while the participants of a round speak"), d.askLater())
	case d.format.Asides == 0:
		return flow.WithMend(fmt.Errorf("the format %s has no answers out of turn", d.format.Name),
			"leave it out, or reopen the debate with the question once it is over")
	case d.together():
		return flow.WithMend(errors.New("the speakers of this round speak at once"), "leave it out")
	case d.leads(d.Seat(n.Ask)):
		return flow.WithMend(errors.New(n.Ask+" leads the debate and holds no view"), "ask another participant")
	case d.IsDropped(n.Ask):
		return flow.WithMend(errors.New(n.Ask+" takes no further part"), "ask another participant")
	case d.closing():
		return flow.WithMend(fmt.Errorf("round %d is being closed", d.Round), d.askLater())
	case d.asidesTaken() >= d.format.Asides:
		had := prompt.Count(d.format.Asides, "question")
		return flow.WithMend(fmt.Errorf("round %d has had its %s out of turn", d.Round, had), d.askLater())
	default:
		return nil
	}
}

// askLater says when a question can be put for which it is too late in the present round.
func (d *Debate) askLater() string {
	if d.Round < d.rounds() {
		return "ask in the next round"
	}
	return "reopen the debate with the question once it is over"
}

// asidesTaken returns how many notes of the present round ask for an answer out of turn. What is asked after the end does not count.
func (d *Debate) asidesTaken() int {
	taken := len(d.asidesOf(d.Round))
	for i := range d.Earlier {
		if e := &d.Earlier[i]; e.To != "" && e.Round == d.Round {
			taken--
		}
	}
	return taken
}

// leads reports whether the participant in a seat is the chair of the format.
func (d *Debate) leads(seat int) bool {
	return seat >= 0 && !d.format.Judged(d.config.Participants[seat].Side)
}

// closing reports whether the chair of the format has begun the speech after which nobody speaks in the round.
func (d *Debate) closing() bool {
	last := len(d.schedule) - 1
	if last < 0 || !d.leads(d.schedule[last].Seat) {
		return false
	}
	_, begun := d.CallUsage(turnID(d.Round, d.schedule[last].ID))
	return begun
}

// answers reports whether the next speech of the round answers a question: nothing comes between the two.
func (d *Debate) answers() bool {
	open := d.open()
	return len(open) > 0 && d.schedule[open[0]].Kind == format.KindAnswer
}

// together reports whether speakers of the present round speak at once.
func (d *Debate) together() bool {
	for i := range d.schedule {
		if d.schedule[i].Group != 0 {
			return true
		}
	}
	return false
}

// asidesOf returns the indices of the notes of a round that ask for an answer out of turn.
func (d *Debate) asidesOf(round int) []int {
	var out []int
	for k, n := range d.Notes {
		if n.Ask != "" && n.Round == round {
			out = append(out, k)
		}
	}
	return out
}

// Answered returns the note that a turn answers out of turn; nil: it answers none.
func (d *Debate) Answered(t *flow.Turn) *flow.Note {
	for k, n := range d.Notes {
		if t.Kind == KindAside && t.Call == asideID(t.Round, k, n.Ask) {
			return n
		}
	}
	return nil
}

// asideID returns the ID of somebody's answer to the nth note.
func asideID(round, nth int, who string) string {
	return turnID(round, "aside."+strconv.Itoa(nth+1)+"."+who)
}

// asideCall returns the first answer out of turn that the round lacks, unless a speech has begun, or the answer to a speaker's question is
// next: that one is heard first. nil: there is none.
func (d *Debate) asideCall() *flow.Call {
	for _, k := range d.asidesOf(d.Round) {
		n := d.Notes[k]
		id := asideID(d.Round, k, n.Ask)
		switch {
		case k < d.former, d.IsDropped(n.Ask), d.Settled(id), d.Held(n.ID), d.speechBegun(), d.answers():
		default:
			return d.answering(id, k, n)
		}
	}
	return nil
}

// speechBegun reports whether a speech of the round has begun that is still to be recorded or left out, or the decision who speaks.
func (d *Debate) speechBegun() bool {
	for i := range d.schedule {
		if _, begun := d.CallUsage(turnID(d.Round, d.schedule[i].ID)); begun && d.due(i) {
			return true
		}
	}
	if d.config.Floor == nil || d.alone {
		return false
	}
	_, begun := d.CallUsage(d.floorID(d.decisions() + 1))
	return begun
}

// answering asks a participant the question of the nth note. id is that of the call.
func (d *Debate) answering(id string, nth int, n *flow.Note) *flow.Call {
	seat := d.Seat(n.Ask)
	by, question, then := n.As, n.Text, " Then the debate goes on."
	onFail, needed := flow.OnFail{Aid: true}, false
	if d.phase >= 0 && d.format.Phases[d.phase].Name == format.PhaseClosing {
		then = " Bring no new argument." + then
	}
	model := "Out of turn, somebody who takes no part asks you:"
	person := "Somebody who takes no part asks you, out of turn, as " + strconv.Quote(n.As) + ":"
	if e := d.askedAfter(); e != nil && nth == d.former {
		by, question, then = "question", e.Question, ""
		onFail, needed = flow.OnFail{Skip: flow.RuleToo, Extra: true}, true // it is all that was asked for
		model = "After the end of the debate you are asked:"
		if len(e.Verdicts) > 0 {
			model = "After the verdict you are asked:"
		}
		person = model
	}
	call := &flow.Call{
		ID: id, Kind: KindAside, Round: d.Round, Slot: len(d.schedule) + nth, System: d.systems[seat], OnFail: onFail, Needed: needed,
		Last: func(*flow.Record) string {
			return model + "\n\n" + d.Quote(by, question) + "\n\nAnswer the question in at most 150 words." + then + d.inLanguage()
		},
		View: flow.View{Reader: n.Ask, From: d.since()},
	}
	d.config.Participants[seat].seat(d.config, "").AskIn(d.Record, call)
	if call.Person != nil {
		call.Person.Ask = func(*flow.Record) string {
			return person + "\n\n" + cited(question) + "\n\nAnswer in a few sentences." + then + d.inLanguage()
		}
	}
	return call
}

// outOfTurn tells those who judge or vote what notes and answers out of turn are, where some are said or asked for in this round, or in any
// if it is 0, and what was asked after an end: they do not read the note that asks it, since it tells the earlier verdict.
func (d *Debate) outOfTurn(round int, by flow.Performer, hide func(string) string) string {
	var out []string
	if slices.ContainsFunc(d.Notes, func(n *flow.Note) bool { return n.As != earlierVerdict && !d.Held(n.ID) }) {
		out = append(out, "\n\nNotes are of people who take no part: nobody is marked for what a note says or asks for.")
	}
	asks := func(n *flow.Note) bool { return n.Ask != "" && (round == 0 || n.Round == round) && !d.Held(n.ID) }
	if slices.ContainsFunc(d.Notes, asks) { // from the question on, so that a budget counts it before the answer is there
		out = append(out, "\n\nAn aside answers a question that somebody who takes no part has put out of turn. It is outside of the order "+
			"of the speeches, and nobody gains or loses by having been asked.")
	}
	for i := range d.Earlier {
		e := &d.Earlier[i]
		if e.To == "" || round != 0 && e.Round != round {
			continue
		}
		question := d.Quote("question", hide(e.Question))
		if by == flow.ByPerson {
			question = cited(hide(e.Question))
		}
		out = append(out, fmt.Sprintf("\n\nAfter the end of round %d %s was asked:\n\n%s", e.Round, hide(e.To), question))
	}
	return strings.Join(out, "")
}

// inLanguage says in which language to answer, where the config says it.
func (d *Debate) inLanguage() string {
	if d.config.Language == "" {
		return ""
	}
	return " Write in " + d.config.Language + "."
}
