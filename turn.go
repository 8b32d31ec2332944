package debate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/prompt"
	"github.com/agonist-dev/debate/provider"
)

// turnCalls returns the turns of the round that are still missing: the next one, or all of a group that speaks at
// once. A group begins when all turns before it can be read.
func turnCalls(r *flow.Record) []*flow.Call {
	d := of(r)
	if d.Late() {
		return nil
	}
	if aside := d.asideCall(); aside != nil {
		return []*flow.Call{aside}
	}
	if d.floored() {
		return d.floorCalls()
	}
	_, few := tooFew(d)
	var calls []*flow.Call
	group, waiting := 0, d.Waiting()
	for i := range d.schedule {
		s := &d.schedule[i]
		if !d.due(i) {
			continue
		}
		if few && !d.speaking(s) { // a participant who is speaking already is heard to the end
			continue
		}
		if waiting != nil && d.groupOf(waiting) != s.Group {
			break
		}
		if len(calls) > 0 && s.Group != group {
			break
		}
		call := turnCall(d, s)
		call.SkipWith = d.unasked(s)
		calls, group = append(calls, call), s.Group
		if group == 0 {
			break
		}
	}
	return calls
}

func turnCall(d *Debate, s *format.Speech) *flow.Call {
	id := turnID(d.Round, s.ID)
	if s.Seat < 0 {
		return questionCall(d, s, id)
	}
	p := &d.config.Participants[s.Seat]
	call := &flow.Call{
		ID: id, Kind: s.Kind, Target: s.Target, Round: d.Round, Slot: s.Slot, Hidden: s.Group != 0, System: d.systems[s.Seat],
		Last: func(*flow.Record) string { return d.instruction(s) }, View: flow.View{Reader: s.Speaker, From: d.since()},
	}
	p.seat(d.config, "").AskIn(d.Record, call)
	if call.Person != nil {
		call.Person.Ask = d.personTurn(s, p.Instructions)
	}
	d.tooled(call)
	if d.Failed(id) {
		call.OnFail = d.failingSpeaker(p.Name)
	}
	call.Needed = d.Settings().RoundTimeout > 0 && d.Round >= d.rounds() && d.unheardWithout(p.Name)
	if call.MaxTokens == 0 && s.MaxTokens > 0 {
		call.MaxTokens = min(s.MaxTokens, d.config.MaxTokens)
	}
	if call.Person != nil && s.MaxTokens > 0 {
		call.Person.Most = d.mostWritten(call.MaxTokens)
	}
	return call
}

func turnID(round int, speech string) string { return "r" + strconv.Itoa(round) + "." + speech }

// groupOf returns the group of a turn, or 0 if the turn is not in the present schedule.
func (d *Debate) groupOf(t *flow.Turn) int {
	if t.Round != d.Round || t.Slot >= len(d.schedule) {
		return 0
	}
	return d.schedule[t.Slot].Group
}

// speaking reports whether the call of a speech is in flight.
func (d *Debate) speaking(s *format.Speech) bool {
	return d.Asking(turnID(d.Round, s.ID))
}

// absent reports whether a speech cannot be held:
//   - its speaker, or the participant it is addressed to, has been dropped
//   - it was left out
func (d *Debate) absent(s *format.Speech) bool {
	return d.left(s) || len(d.SkippedCalls) > 0 && d.Skipped(turnID(d.Round, s.ID))
}

// left reports whether the speaker of a speech, or the participant it is addressed to, has been dropped.
func (d *Debate) left(s *format.Speech) bool {
	return len(d.Dropped()) > 0 && (d.IsDropped(s.Speaker) || s.Target != "" && d.IsDropped(s.Target))
}

// unasked returns the question that a speech would answer, if all that it would answer were left out. "": it has one to
// answer, or it is no answer.
func (d *Debate) unasked(s *format.Speech) string {
	if len(d.SkippedCalls) == 0 || s.Kind != format.KindAnswer {
		return ""
	}
	put, left := false, ""
	for i := range d.schedule[:s.Slot] {
		q := &d.schedule[i]
		switch id := turnID(d.Round, q.ID); {
		case q.Kind == format.KindAnswer && q.Speaker == s.Speaker && q.Target == s.Target: // to the questions before it
			put, left = false, ""
		case q.Speaker != s.Target || q.Seat >= 0 && (q.Kind != format.KindQuestion || q.Target != s.Speaker):
		case d.Skipped(id):
			left = id
		default:
			put = true
		}
	}
	if put {
		return ""
	}
	return left
}

// since returns the first round that speakers of the present phase may read.
func (d *Debate) since() int {
	if d.phase < 0 || d.format.Phases[d.phase].Back == 0 {
		return 0
	}
	return max(0, d.Round-d.format.Phases[d.phase].Back)
}

// instruction returns the last message of a speaker's request.
func (d *Debate) instruction(s *format.Speech) string {
	name := s.Text
	if d.varied {
		name = d.variant(s)
	}
	ask := d.Text(name)
	if d.rounds() == 1 {
		ask = cmp.Or(d.Text(name+onlySuffix), ask)
	}
	ask = prompt.Fill(ask, d.Round, d.rounds())
	if s.Target != "" {
		ask = filled(ask, targetHole, s.Target)
	}
	return ask
}

// variant returns the name of the instruction for this speaker, if there are several for a speech.
func (d *Debate) variant(s *format.Speech) string {
	name := s.Text
	if d.Round == 1 && d.Text(name+firstSuffix) != "" && d.begins(s) {
		name += firstSuffix
	}
	if d.freed && s.Seat >= 0 && d.bonds[s.Seat] != "" {
		if own := releasedText(name, d.bonds[s.Seat]); d.Text(own) != "" {
			name = own
		}
	}
	return name
}

// begins reports whether a speech is the first of its speaker in the present round. A chair begins only if it has heard nobody: else it
// leads on.
func (d *Debate) begins(s *format.Speech) bool {
	leads := s.Seat >= 0 && !d.format.Judged(d.config.Participants[s.Seat].Side)
	return !slices.ContainsFunc(d.schedule[:s.Slot], func(before format.Speech) bool {
		return before.Speaker == s.Speaker || leads && (before.Group == 0 || before.Group != s.Group)
	})
}

// questionCall lets a member of the audience ask.
func questionCall(d *Debate, s *format.Speech, id string) *flow.Call {
	for i := range d.config.Audience.Members {
		if m := &d.config.Audience.Members[i]; m.Name == s.Speaker {
			call := memberCall(d, m, id, s.Kind)
			call.Round, call.Slot, call.Target, call.Hidden = d.Round, s.Slot, s.Target, s.Group != 0
			call.Last = func(*flow.Record) string { return d.instruction(s) }
			call.MaxTokens = s.MaxTokens
			if call.Person != nil {
				call.Person.Ask = d.personTurn(s, joined(d.config.Audience.Instructions, m.Instructions))
				call.Person.Most = d.mostWritten(s.MaxTokens)
			}
			return call
		}
	}
	return &flow.Call{ID: id, Kind: s.Kind, By: s.Speaker, OnFail: flow.OnFail{Skip: flow.RuleToo}}
}

// estimateDebate counts the calls of a debate, round by round.
func estimateDebate(e *flow.Estimator, rounds int) error {
	d := of(e.Record())
	end := func() { e.Calls(verdictsAndVotes(d.Record)) }
	assign := assignCalls(d)
	e.Calls(assign)
	for _, call := range assign {
		e.Added(call)
	}
	e.Calls(ballotCalls(d, false))
	for round := 1; round <= rounds; round++ {
		if err := e.Round(round); err != nil {
			return err
		}
		for i := range d.schedule {
			if i > 0 && d.floored() { // the last one needs no decision
				e.Calls([]*flow.Call{d.floorCall(i)})
			}
			call := turnCall(d, &d.schedule[i])
			e.Calls([]*flow.Call{call})
			e.Said(call)
		}
		e.Calls(assessmentCalls(d.Record))
		if round == 1 {
			e.First(end)
		}
	}
	end()
	return nil
}

func allArgumentsReceived(r *flow.Record) bool {
	d := of(r)
	if d.format == nil || d.Round == 0 {
		return false
	}
	if d.Late() {
		return true
	}
	if d.asideCall() != nil {
		return false
	}
	for i := range d.schedule {
		if d.due(i) {
			return false
		}
	}
	return true
}

// due reports whether a speech of the present round is still to be held.
func (d *Debate) due(i int) bool { return !d.alone && d.unsaid(i) }

// unsaid reports whether a speech of the present round was not held, although nobody has left it out.
func (d *Debate) unsaid(i int) bool { return !d.said[i] && !d.absent(&d.schedule[i]) }

// cutShort reports whether the present round has not come to its end.
func (d *Debate) cutShort() bool {
	if !d.alone {
		return !allArgumentsReceived(d.Record)
	}
	for i := range d.schedule {
		if d.unsaid(i) {
			return true
		}
	}
	return false
}

// unspoken returns the names of those who are still to speak in the present round, each once. Once its time is over there is
// nobody.
func (d *Debate) unspoken() []string {
	var out []string
	for i := range d.schedule {
		if name := d.schedule[i].Speaker; !d.Late() && d.due(i) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func responded(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
	d := of(r)
	exit := flow.Exit{}
	if d.Late() && len(d.spoken(d.Round)) == 0 {
		err := fmt.Errorf("nobody has spoken within the round's time of %s", d.Settings().RoundTimeout)
		failure := &flow.Error{Kind: provider.KindTimeout, Op: "round", Field: "roundTimeout", Round: d.Round, Err: err}
		return flow.TriggerFail, flow.Exit{Reason: flow.EndFailed, Evidence: failure.Error(), Failure: failure}, true
	}
	if evidence, few := tooFew(d); few {
		exit.Reason, exit.Evidence, exit.By = flow.EndTooFew, evidence, flow.EndedByPerson // no rule leaves too few
	}
	return TriggerResponded, exit, true
}
