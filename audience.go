package debate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider"
)

// Audience votes on the topic before the first round and after the last. Speakers and judges do not see its votes.
type Audience struct {
	Members []Member `json:"members"`
	// Instructions are added to the prompts of all members, unchanged. They are trusted: do not fill them from a user's input.
	Instructions string `json:"instructions,omitempty"`
}

// Member is a member of the audience: a model, a [Judge] registered on the engine, or a person.
type Member struct {
	// Name is "audience-1" and so on if empty.
	Name string `json:"name,omitempty" redact:"-"`
	// Model is "provider/model".
	Model string `json:"model,omitempty" redact:"-"`
	// Judge is a name in Engine.Judges. It stands in place of a model.
	Judge string `json:"judge,omitempty" redact:"-"`
	// Person asks a person of the host program through a [flow.Inquiry]. It stands in place of a model. Term bounds how long the person
	// has, and may name a model that stands in.
	Person bool `json:"person,omitempty"`
	flow.Term
	// Persona describes the member as a person.
	Persona string `json:"persona,omitempty"`
	// Instructions are added to the member's prompt unchanged, after those of the audience. They are trusted: do not fill them from a
	// user's input.
	Instructions string `json:"instructions,omitempty"`
	// Fallbacks are models that take over, in this order, when the model before keeps failing.
	Fallbacks []string `json:"fallbacks,omitempty" redact:"-"`
	// Options are what its requests ask for beyond text, such as effort. nil: the vendor's defaults.
	Options *provider.Options `json:"options,omitempty"`
}

func (m *Member) seat(field string) flow.Seat {
	return flow.Seat{
		Field: field, By: m.Name, Model: &m.Model, Fallbacks: &m.Fallbacks, Options: &m.Options,
		Function: flow.NameField{Field: field + ".judge", Name: m.Judge}, Person: m.Person, Term: &m.Term,
		Anew: true,
	}
}

func (a *Audience) defaults() {
	for i := range a.Members {
		a.Members[i].Name = cmp.Or(a.Members[i].Name, listenerName(i))
	}
}

// listenerName is the name of a member without one.
func listenerName(i int) string { return "audience-" + strconv.Itoa(i+1) }

// clone returns a copy with members of its own. What their fields refer to is shared.
func (a *Audience) clone() *Audience {
	d := flow.CloneValue(a)
	if d != nil {
		d.Members = slices.Clone(d.Members)
	}
	return d
}

// Vote is the vote of a member of the audience.
type Vote string

// The votes.
const (
	VoteFor       Vote = "for"
	VoteAgainst   Vote = "against"
	VoteUndecided Vote = "undecided"
)

// BallotAnswer is a vote with its reasons, as logs hold it. Models answer with the reasons first.
type BallotAnswer struct {
	Vote      Vote   `json:"vote" jsonschema:"enum=for,enum=against,enum=undecided" redact:"-"`
	Reasoning string `json:"reasoning"`
}

// Ballot is a recorded vote.
type Ballot struct {
	flow.Spend
	Voter string `json:"voter" redact:"-"`
	// After is true for a vote after the debate, and false for one before it.
	After bool `json:"after,omitempty"`
	BallotAnswer
}

func checkBallot(_ *flow.Record, b *BallotAnswer) []string { return blank("reasoning", b.Reasoning) }

// Swing is how the debate has moved the audience. Shares are in percent of the members who have voted both before
// and after the debate. Other members do not count.
type Swing struct {
	Voters int              `json:"voters"`
	Before map[Vote]float64 `json:"before"`
	After  map[Vote]float64 `json:"after"`
	// Gain is After minus Before, in percentage points.
	Gain map[Vote]float64 `json:"gain"`
	// Winner is the side with the larger gain, whether or not the format lets the swing decide. It is empty if both gained the same, or if
	// nobody has voted twice.
	Winner format.Side `json:"winner,omitempty"`
}

// Swing counts the audience's votes.
func (d *Debate) Swing() Swing {
	first, second := make(map[string]Vote), make(map[string]Vote)
	for _, b := range d.Ballots {
		if b.After {
			second[b.Voter] = b.Vote
		} else {
			first[b.Voter] = b.Vote
		}
	}
	before, after, voters := make(map[Vote]int), make(map[Vote]int), 0
	for voter, vote := range second {
		if _, both := first[voter]; both {
			voters++
			before[first[voter]]++
			after[vote]++
		}
	}
	s := Swing{Voters: voters, Before: make(map[Vote]float64), After: make(map[Vote]float64), Gain: make(map[Vote]float64)}
	if voters == 0 {
		return s
	}
	for _, vote := range []Vote{VoteFor, VoteAgainst, VoteUndecided} {
		s.Before[vote] = 100 * float64(before[vote]) / float64(voters)
		s.After[vote] = 100 * float64(after[vote]) / float64(voters)
		s.Gain[vote] = 100 * float64(after[vote]-before[vote]) / float64(voters)
	}
	switch forward, backward := after[VoteFor]-before[VoteFor], after[VoteAgainst]-before[VoteAgainst]; {
	case forward > backward:
		s.Winner = format.For
	case backward > forward:
		s.Winner = format.Against
	}
	return s
}

// String formats the swing in one line.
func (s Swing) String() string {
	return fmt.Sprintf("of %d voters: for %.0f %% → %.0f %%, against %.0f %% → %.0f %%", s.Voters,
		s.Before[VoteFor], s.After[VoteFor], s.Before[VoteAgainst], s.After[VoteAgainst])
}

// against returns where the verdicts name a winner of another side than the swing of the audience.
func (d *Debate) against(s *Swing, opinions []opinion) []string {
	if s.Voters == 0 || len(opinions) == 0 || len(opinions) < d.quorum() {
		return nil
	}
	winner, _ := decide(d.config.Judging.Protocol, opinions)
	side, named := format.Side(winner), fmt.Sprintf("the side %q", winner)
	if !d.BySides() {
		seat := d.Seat(winner)
		if seat < 0 {
			return nil
		}
		side = d.config.Participants[seat].Side
		named = fmt.Sprintf("%s, who speaks for the side %q", winner, side)
	}
	if winner == "" || side == s.Winner {
		return nil
	}
	swing := "has moved to neither side"
	if s.Winner != "" {
		swing = fmt.Sprintf("has moved to the side %q", s.Winner)
	}
	return []string{fmt.Sprintf("the audience %s, but the judges name %s", swing, named)}
}

// ballotCalls returns the votes of the audience that are still missing.
func ballotCalls(d *Debate, after bool) []*flow.Call {
	if d.config.Audience == nil {
		return nil
	}
	id, when := "vote.before.", beforeDebate
	if after {
		id, when = d.Concluding("vote.after."), afterDebate
	}
	var calls []*flow.Call
	for i := range d.config.Audience.Members {
		m := &d.config.Audience.Members[i]
		call := memberCall(d, m, id+m.Name, KindBallot)
		call.Schema, call.Slot = string(KindBallot), i
		if after {
			call.Tag = tagAfter
		}
		call.View.None, call.View.All, call.View.Anew = !after, after, after
		call.Last = func(*flow.Record) string {
			return d.toVote(when, m, call.Performer)
		}
		if call.Person != nil {
			call.Person.Ask = func(*flow.Record) string { return d.personVotes(when, m) }
		}
		if !d.Done(call.ID) && !d.Skipped(call.ID) && (!after || !d.Skipped("vote.before."+m.Name)) {
			calls = append(calls, call)
		}
	}
	return calls
}

// toVote is the last message before a member of the audience votes. After the debate it says how the member has voted before.
// One who is no model reads no system prompt, and has here the motion, what a vote means, the language, and the instructions of the host
// program.
func (d *Debate) toVote(when string, m *Member, by flow.Performer) string {
	text := strings.ReplaceAll(d.Text(askBallot+when), formerHole, string(d.firstVote(m)))
	if when == afterDebate {
		text += d.outOfTurn(0, by, func(said string) string { return said })
	}
	if by == flow.ByModel {
		return text
	}
	return text + d.voting(m)
}

// firstVote returns how a member has voted before the debate. In an estimate nobody has.
func (d *Debate) firstVote(m *Member) Vote {
	first := VoteUndecided
	for _, b := range d.Ballots {
		if b.Voter == m.Name && !b.After {
			first = b.Vote
		}
	}
	return first
}

// voting tells a member who reads no system prompt what a vote means.
func (d *Debate) voting(m *Member) string {
	return behind(d.Text(askMotion)) + d.language() + further(joined(d.config.Audience.Instructions, m.Instructions))
}

// personVotes is what a person is asked who votes, in words for a person.
func (d *Debate) personVotes(when string, m *Member) string {
	asked, about := "The debate has not begun. How do you see the motion now?", ""
	if when == afterDebate {
		asked = fmt.Sprintf("The debate is over. Before it you voted %q. How do you see the motion now?", d.firstVote(m))
		about = d.outOfTurn(0, flow.ByPerson, func(said string) string { return said })
	}
	return asked + " Vote \"for\", \"against\" or \"undecided\", and say why in one or two sentences.\n\nThe answer looks like this: " +
		exampleOf(BallotAnswer{Vote: VoteUndecided, Reasoning: "…"}) + about + d.voting(m)
}

// memberCall asks a member of the audience, whose answer can be left out.
func memberCall(d *Debate, m *Member, id string, kind flow.CallKind) *flow.Call {
	call := &flow.Call{
		ID: id, Kind: kind, System: d.Text(textSystem.of(m.Name)),
		Timeout: d.config.JudgeTimeout, OnFail: flow.OnFail{Skip: flow.RuleToo}, Task: judgeTask,
	}
	m.seat("").AskIn(d.Record, call)
	return call
}
