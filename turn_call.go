package debate

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/prompt"
)

// turnCalls yields the turns of the round that are still missing: the next one, or all of a group that
// speaks at once. A group begins when all turns before it can be read.
func turnCalls(r *Record) []Call {
	if r.late {
		return nil
	}
	_, few := tooFew(r)
	var calls []Call
	group := 0
	for i := range r.schedule {
		s := &r.schedule[i]
		if i < len(r.said) && r.said[i] || r.absent(s) {
			continue
		}
		if few && !r.speaking(s) { // who speaks already is heard to the end
			continue
		}
		if len(r.hidden) > 0 && r.groupOf(r.Turns[r.hidden[0]]) != s.Group {
			break
		}
		if len(calls) > 0 && s.Group != group {
			break
		}
		calls, group = append(calls, turnCall(r, s)), s.Group
		if group == 0 {
			break
		}
	}
	return calls
}

func turnCall(r *Record, s *Speech) Call {
	id := turnID(r.Round, s.id)
	if s.seat < 0 {
		return questionCall(r, s, id)
	}
	p := &r.config.Participants[s.seat]
	call := Call{
		ID: id, Kind: s.Kind, By: p.Name, Model: p.Model, Fallbacks: p.Fallbacks, Target: s.Target, Round: r.Round, Slot: s.Slot,
		Hidden: s.Group != 0, System: r.systems[s.seat], Last: s.instruction, View: View{Reader: s.Speaker, From: r.since()},
		MaxTokens: p.MaxTokens, Temperature: p.Temperature, Timeout: r.config.TurnTimeout,
	}
	if r.Failed(id) {
		call.OnFail = failingSpeaker(r, p.Name)
	}
	if call.MaxTokens == 0 && s.MaxTokens > 0 && !r.thinks(p) {
		call.MaxTokens = min(s.MaxTokens, r.config.MaxTokens)
	}
	if call.Temperature == nil {
		call.Temperature = r.config.Temperature
	}
	if r.Round > 1 && r.config.RoundDelay > 0 {
		call.NotBefore = r.EnteredAt().Add(r.config.RoundDelay)
	}
	return call
}

func turnID(round int, speech string) string { return "r" + strconv.Itoa(round) + "." + speech }

// groupOf yields the group of a turn; 0 if it is none of the present schedule's.
func (r *Record) groupOf(t *Turn) int {
	if t.Round != r.Round || t.Slot >= len(r.schedule) {
		return 0
	}
	return r.schedule[t.Slot].Group
}

// speaking reports whether a speech is being made.
func (r *Record) speaking(s *Speech) bool {
	call := r.calls[turnID(r.Round, s.id)]
	return call != nil && call.status == callOpen
}

// absent reports whether a speech cannot be held: its speaker, or the one it is addressed to, takes no
// further part.
func (r *Record) absent(s *Speech) bool {
	if s.seat < 0 && r.Failed(turnID(r.Round, s.id)) || r.unasked(s) {
		return true
	}
	return len(r.dropped) > 0 && (r.isDropped(s.Speaker) || s.Target != "" && r.isDropped(s.Target))
}

// unasked reports whether a speech would answer a question that one of the audience was to put and has not.
func (r *Record) unasked(s *Speech) bool {
	if r.config.Audience == nil || s.Kind != KindAnswer {
		return false
	}
	for i := range r.schedule {
		q := &r.schedule[i]
		if q.seat < 0 && q.Speaker == s.Target && q.Slot < s.Slot && r.Failed(turnID(r.Round, q.id)) {
			return true
		}
	}
	return false
}

// thinks reports whether the thoughts of one of a participant's models count as output: a cap made for
// what is said would cut them.
func (r *Record) thinks(p *Participant) bool {
	reasons := func(name string) bool {
		m := r.model(name)
		return m != nil && m.Reasoning
	}
	return reasons(p.Model) || slices.ContainsFunc(p.Fallbacks, reasons) || reasons(r.replaced(p.Name))
}

// since is the first round that the present phase lets its speakers read.
func (r *Record) since() int {
	if r.phase < 0 || r.start.Format.Phases[r.phase].Back == 0 {
		return 0
	}
	return max(0, r.Round-r.start.Format.Phases[r.phase].Back)
}

// instruction is what a speaker is told last.
func (s *Speech) instruction(r *Record) string {
	text := prompt.Fill(r.Text(s.text), r.Round)
	if s.Target != "" && strings.Contains(text, targetHole) {
		text = strings.ReplaceAll(text, targetHole, s.Target)
	}
	return text
}

// questionCall lets one of the audience ask.
func questionCall(r *Record, s *Speech, id string) Call {
	for i := range r.config.Audience.Members {
		if m := &r.config.Audience.Members[i]; m.Name == s.Speaker {
			call := memberCall(r, m, id, s.Kind)
			call.Round, call.Slot, call.Target, call.Hidden, call.Last = r.Round, s.Slot, s.Target, s.Group != 0, s.instruction
			call.MaxTokens = s.MaxTokens
			return call
		}
	}
	return Call{ID: id, Kind: s.Kind, By: s.Speaker, OnFail: OnFail{Skip: true}}
}
