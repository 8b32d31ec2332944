package debate

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/prompt"
)

// turnCalls returns the turns of the round that are still missing: the next one, or all of a group that speaks at
// once. A group begins when all turns before it can be read.
func turnCalls(r *Record) []Call {
	d := of(r)
	if d.Late() {
		return nil
	}
	_, few := tooFew(d)
	var calls []Call
	group, waiting := 0, d.Waiting()
	for i := range d.schedule {
		s := &d.schedule[i]
		if i < len(d.said) && d.said[i] || d.absent(s) {
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
		calls, group = append(calls, turnCall(d, s)), s.Group
		if group == 0 {
			break
		}
	}
	return calls
}

func turnCall(d *Debate, s *Speech) Call {
	id := turnID(d.Round, s.ID)
	if s.Seat < 0 {
		return questionCall(d, s, id)
	}
	p := &d.config.Participants[s.Seat]
	call := Call{
		ID: id, Kind: s.Kind, By: p.Name, Model: p.Model, Fallbacks: p.Fallbacks, Target: s.Target, Round: d.Round, Slot: s.Slot,
		Hidden: s.Group != 0, System: d.systems[s.Seat], Last: func(*Record) string { return d.instruction(s) },
		View:      View{Reader: s.Speaker, From: d.since()},
		MaxTokens: p.MaxTokens, Temperature: p.Temperature, Timeout: d.config.TurnTimeout,
	}
	if d.Failed(id) {
		call.OnFail = failingSpeaker(d, p.Name)
	}
	if call.MaxTokens == 0 && s.MaxTokens > 0 && !d.thinks(p) {
		call.MaxTokens = min(s.MaxTokens, d.config.MaxTokens)
	}
	if call.Temperature == nil {
		call.Temperature = d.config.Temperature
	}
	if d.Round > 1 && d.config.RoundDelay > 0 {
		call.NotBefore = d.EnteredAt().Add(d.config.RoundDelay)
	}
	return call
}

func turnID(round int, speech string) string { return "r" + strconv.Itoa(round) + "." + speech }

// groupOf returns the group of a turn, or 0 if the turn is not in the present schedule.
func (d *Debate) groupOf(t *Turn) int {
	if t.Round != d.Round || t.Slot >= len(d.schedule) {
		return 0
	}
	return d.schedule[t.Slot].Group
}

// speaking reports whether the call of a speech is in flight.
func (d *Debate) speaking(s *Speech) bool {
	return d.Asking(turnID(d.Round, s.ID))
}

// absent reports whether a speech cannot be held:
//   - its speaker, or the participant it is addressed to, has been dropped
//   - it is a question from the audience, and its call has failed
//   - it would answer such a question
func (d *Debate) absent(s *Speech) bool {
	if s.Seat < 0 && d.Failed(turnID(d.Round, s.ID)) || d.unasked(s) {
		return true
	}
	return len(d.Dropped()) > 0 && (d.IsDropped(s.Speaker) || s.Target != "" && d.IsDropped(s.Target))
}

// unasked reports whether a speech would answer a question of a member of the audience that was never put.
func (d *Debate) unasked(s *Speech) bool {
	if d.config.Audience == nil || s.Kind != KindAnswer {
		return false
	}
	for i := range d.schedule {
		q := &d.schedule[i]
		if q.Seat < 0 && q.Speaker == s.Target && q.Slot < s.Slot && d.Failed(turnID(d.Round, q.ID)) {
			return true
		}
	}
	return false
}

// thinks reports whether one of a participant's models counts its thoughts as output. A cap that is meant for the
// speech would then cut the thoughts.
func (d *Debate) thinks(p *Participant) bool {
	reasons := func(name string) bool {
		m, _ := d.Model(name)
		return m.Reasoning
	}
	return reasons(p.Model) || slices.ContainsFunc(p.Fallbacks, reasons) || reasons(d.Replacement(p.Name))
}

// since returns the first round that speakers of the present phase may read.
func (d *Debate) since() int {
	if d.phase < 0 || d.format.Phases[d.phase].Back == 0 {
		return 0
	}
	return max(0, d.Round-d.format.Phases[d.phase].Back)
}

// instruction returns the last message of a speaker's request.
func (d *Debate) instruction(s *Speech) string {
	text := prompt.Fill(d.Text(s.Text), d.Round)
	if s.Target != "" && strings.Contains(text, targetHole) {
		text = strings.ReplaceAll(text, targetHole, s.Target)
	}
	return text
}

// questionCall lets a member of the audience ask.
func questionCall(d *Debate, s *Speech, id string) Call {
	for i := range d.config.Audience.Members {
		if m := &d.config.Audience.Members[i]; m.Name == s.Speaker {
			call := memberCall(d, m, id, s.Kind)
			call.Round, call.Slot, call.Target, call.Hidden = d.Round, s.Slot, s.Target, s.Group != 0
			call.Last = func(*Record) string { return d.instruction(s) }
			call.MaxTokens = s.MaxTokens
			return call
		}
	}
	return Call{ID: id, Kind: s.Kind, By: s.Speaker, OnFail: OnFail{Skip: true}}
}
