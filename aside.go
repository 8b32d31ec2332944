package debate

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/agonist-dev/debate/flow"
)

// aside returns why a participant cannot answer a note out of turn now; see flow.Flow.Aside.
func aside(r *flow.Record, n *flow.Note) error {
	d := of(r)
	if d.Working() != StateAwaitingResponses || d.Late() {
		return flow.WithMend(errors.New("answers out of turn are given while the participants of a round speak"), "ask in the next round")
	}
	return d.answersAside(n.Ask)
}

// answersAside returns why a participant cannot answer out of turn in the present round, whether or not it still lasts.
func (d *Debate) answersAside(who string) error {
	switch {
	case d.format.Asides == 0:
		return flow.WithMend(fmt.Errorf("the format %s has no answers out of turn", d.format.Name), "leave it out")
	case d.together():
		return flow.WithMend(errors.New("the speakers of this round speak at once"), "leave it out")
	case d.IsDropped(who):
		return flow.WithMend(errors.New(who+" takes no further part"), "ask another participant")
	case len(d.asidesOf(d.Round)) >= d.format.Asides:
		return flow.WithMend(fmt.Errorf("there are %d questions out of turn in round %d: no more are taken", d.format.Asides, d.Round),
			"ask in the next round")
	default:
		return nil
	}
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

// asideCall returns the first answer out of turn that the round lacks, unless a speech has begun: that one is heard first. nil: there is
// none.
func (d *Debate) asideCall() *flow.Call {
	for _, k := range d.asidesOf(d.Round) {
		n := d.Notes[k]
		call := d.answering(k, n)
		switch {
		case k < d.former, d.IsDropped(n.Ask), d.Settled(call.ID), d.Held(n.ID), d.speechBegun():
		default:
			return call
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

// answering asks a participant the question of the nth note.
func (d *Debate) answering(nth int, n *flow.Note) *flow.Call {
	seat := d.Seat(n.Ask)
	id := turnID(d.Round, "aside."+strconv.Itoa(nth+1)+"."+n.Ask)
	call := &flow.Call{
		ID: id, Kind: KindAside, Round: d.Round, Slot: len(d.schedule) + nth, System: d.systems[seat], OnFail: flow.OnFail{Aid: true},
		Last: func(*flow.Record) string {
			return "Out of turn, somebody who takes no part asks you:\n\n" + d.Quote(n.As, n.Text) +
				"\n\nAnswer the question in at most 150 words. Then the debate goes on." + d.inLanguage()
		},
		View: flow.View{Reader: n.Ask, From: d.since()},
	}
	d.config.Participants[seat].seat(d.config, "").AskIn(d.Record, call)
	if call.Person != nil {
		call.Person.Ask = func(*flow.Record) string {
			return "Somebody who takes no part asks you, out of turn, as " + strconv.Quote(n.As) + ":\n\n" + cited(n.Text) +
				"\n\nAnswer in a few sentences. Then the debate goes on." + d.inLanguage()
		}
	}
	return call
}

// inLanguage says in which language to answer, where the config says it.
func (d *Debate) inLanguage() string {
	if d.config.Language == "" {
		return ""
	}
	return " Write in " + d.config.Language + "."
}
