package simulation_test

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// schedule yields the speeches of a round.
func (s *limitSim) schedule(round int) []format.Speech {
	if made, ok := s.books.schedules[round]; ok {
		return made
	}
	made := stage.View(s.core.Record()).Format().Schedule(s.config().Cast(), round)
	s.books.schedules[round] = made
	return made
}

func (s *limitSim) checkTurn(t *debate.Turn) {
	b, schedule := &s.books, s.schedule(t.Round)
	at := place{t.Round, t.Slot}
	if t.Slot >= len(schedule) || b.said[at] != nil {
		s.failf("%+v: there is no such speech, or it was held", at)
	}
	if want := schedule[t.Slot]; want.Speaker != t.Speaker || want.Kind != t.Kind || want.Target != t.Target || (want.Group != 0) != t.Hidden {
		s.failf("the turn %+v is not the speech %+v", t, want)
	}
	b.said[at] = t
	b.order = append(b.order, at)
	if b.concluding || b.dropped[t.Speaker] || b.dropped[t.Target] {
		b.overdue[at] = true
		s.seen.count("overdue turn")
	}
}

// seat yields the place of a participant; -1: it is none.
func (s *limitSim) seat(name string) int {
	return slices.IndexFunc(s.config().Participants, func(p debate.Participant) bool { return p.Name == name })
}

// group yields the bounds of the group of speeches that a speech is of.
func (s *limitSim) group(at place) (from, upto int) {
	all := s.schedule(at.round)
	number := all[at.slot].Group
	from, upto = at.slot, at.slot+1
	if number == 0 {
		return from, upto
	}
	for from > 0 && all[from-1].Group == number {
		from--
	}
	for upto < len(all) && all[upto].Group == number {
		upto++
	}
	return from, upto
}

// spoken reports whether everybody of a speech's group has spoken who will.
func (s *limitSim) spoken(at place) bool {
	b := &s.books
	if at.round < b.round || b.late || b.concluding {
		return true
	}
	from, upto := s.group(at)
	for slot := from; slot < upto; slot++ {
		speech, other := &s.schedule(at.round)[slot], place{at.round, slot}
		if b.said[other] == nil && !b.leftOut[other] && !b.dropped[speech.Speaker] && !b.dropped[speech.Target] {
			return false
		}
	}
	return true
}

// mayRead reports whether the format lets a participant read another.
func (s *limitSim) mayRead(reader, speaker int) bool {
	f, all := stage.View(s.core.Record()).Format(), s.config().Participants
	chair := func(seat int) bool { return f.Chair != "" && all[seat].Side == f.Chair }
	if reader < 0 || speaker < 0 || reader == speaker || chair(reader) || chair(speaker) {
		return true
	}
	switch f.Reads.Graph {
	case format.Ring:
		seat := reader
		for {
			if seat = (seat + len(all) - 1) % len(all); !chair(seat) {
				return seat == speaker
			}
		}
	case format.SideGroups:
		return all[reader].Side == all[speaker].Side
	case format.GivenEdges:
		return slices.Contains(f.Reads.Edges[all[reader].Name], all[speaker].Name)
	default:
		return true
	}
}

// asked looks at what somebody is sent, and yields the schema of the answer.
func (s *limitSim) asked(in *flow.Intent) []byte {
	s.t.Helper()
	c, err := s.core.Command(in.Call)
	if err != nil {
		s.failf("%v", err)
	}
	return s.checkCommand(in, c)
}

func (s *limitSim) checkCommand(in *flow.Intent, c *flow.Command) []byte {
	s.t.Helper()
	if c.Attempt != in.Attempt || c.By != in.By || c.Kind != in.Kind {
		s.failf("the command %+v is not what is intended: %+v", c, in)
	}
	var read []place
	if task, ok := c.Task.(*debate.JudgeTask); ok {
		for _, t := range task.Turns {
			read = append(read, place{t.Round, t.Slot})
		}
		s.checkNames(in, task.Instruction, string(task.Schema))
		for i := range task.Participants {
			s.checkNames(in, task.Participants[i].Name, task.Participants[i].Position)
		}
		for _, t := range task.Turns {
			s.checkNames(in, t.Speaker, t.Target, t.Text, t.Call)
		}
		s.checkRead(in, read, true)
		return task.Schema
	}
	return s.checkRequest(in, c)
}

func (s *limitSim) checkRequest(in *flow.Intent, c *flow.Command) []byte {
	q := c.Request
	if c.Provider+"/"+q.Model != in.Model || q.MaxTokens != in.Tokens {
		s.failf("%s is sent to %s/%s for %d tokens; intended was %+v", in.Call, c.Provider, q.Model, q.MaxTokens, in)
	}
	var read []place
	var schema []byte
	if q.Schema != nil {
		schema = q.Schema.JSON
	}
	if strings.ContainsAny(q.System+q.Last.Text, "\uE001\uE002") {
		s.failf("%s is sent a prompt with a hole: %.2000q", in.Call, q.System+q.Last.Text)
	}
	size := len(q.System) + len(q.Last.Text) + len(schema)
	s.checkNames(in, q.System, q.Last.Text, string(schema))
	for i := range q.Messages {
		m := &q.Messages[i]
		size += len(m.Text) + len(m.Speaker) + 2*len(m.Fence)
		s.checkNames(in, m.Speaker, m.Text)
		if at, ok := s.placeOf(m); ok {
			read = append(read, at)
		}
	}
	if size > in.Bound-in.Tokens {
		size = s.counted(q)
	}
	if size > in.Bound-in.Tokens {
		s.failf("%s has %d bytes, its bound is %d tokens", in.Call, size, in.Bound-in.Tokens)
	}
	if in.Input > 0 {
		s.checkWindow(in, q)
	}
	s.checkRead(in, read, in.Input == 0 && in.Kind != flow.KindSummary)
	return schema
}

// counted is the size of a request in tokens, if its provider vouches for a published vocabulary, and otherwise no bound holds it.
func (s *limitSim) counted(q *provider.Request) int {
	counter, exact := token.Named(token.Published(q.Model))
	if !exact {
		return math.MaxInt
	}
	s.seen.count("request within its tokens")
	size := 0
	for _, text := range q.Chat() {
		size += counter.Count(text)
	}
	if q.Schema != nil {
		size += counter.Count(string(q.Schema.JSON))
	}
	return size
}

// placeOf finds the speech that a message holds; of a summary there is none.
func (s *limitSim) placeOf(m *provider.Message) (place, bool) {
	var at place
	if n, _ := fmt.Sscanf(m.Text[:min(len(m.Text), 16)], "#%d.%d#", &at.round, &at.slot); n == 2 {
		return at, true
	}
	if strings.HasPrefix(m.Speaker, "(summary") {
		s.seen.count("request with a summary")
		return at, false
	}
	s.failf("nobody has said %.200q", m.Text)
	return at, false
}

// room is what a model can take, as far as that is known when a call is intended.
func (s *limitSim) room(in *flow.Intent) float64 {
	b := &s.books
	size := b.models[in.Model].Window
	if w := b.windows[in.Model]; w > 0 && (size == 0 || w < size) {
		size = w
	}
	if size == 0 {
		return math.Inf(1)
	}
	ratio := b.ratios[in.Model]
	if ratio == 0 || in.Input == 0 {
		ratio = 1
	}
	return float64(size-max(s.config().Reserve, in.Tokens))/ratio + 1
}

// checkWindow: what is sent has no more tokens than were counted.
func (s *limitSim) checkWindow(in *flow.Intent, q *provider.Request) {
	s.seen.count("request that was counted")
	if !chance(s.dice, 8) {
		return
	}
	counter := token.ForModel(q.Model)
	sent := counter.Count(q.System) + counter.Count(q.Last.Text)
	for i := range q.Messages {
		sent += counter.Count(q.Messages[i].Text)
	}
	if sent > in.Input && in.Kind != flow.KindSummary {
		s.failf("%s has %d tokens, and %d were counted", in.Call, sent, in.Input)
	}
}

// checkNames: a judge who is to know no names is shown none.
func (s *limitSim) checkNames(in *flow.Intent, texts ...string) {
	judging := s.config().Judging
	if judging == nil || !judging.Anonymous || in.Kind != debate.KindAssessment && in.Kind != debate.KindVerdict && in.View != "labels" {
		return
	}
	for _, text := range texts {
		for i := range s.config().Participants {
			if name := s.config().Participants[i].Name; strings.Contains(text, name) {
				s.failf("%s is shown the name %s in %.2000q", in.Call, name, text)
			}
		}
	}
}

// checkRead: whoever is asked reads what it may, and, if the whole fits, all of it.
func (s *limitSim) checkRead(in *flow.Intent, read []place, whole bool) {
	s.t.Helper()
	b := &s.books
	reader, since := -1, 0
	switch {
	case in.Kind == flow.KindSummary:
		if n, _ := fmt.Sscanf(in.View, "seat-%d", &reader); n == 1 {
			reader--
		}
	case in.Round > 0 && in.Schema == "":
		if reader = s.seat(in.By); reader >= 0 {
			if phase := stage.View(s.core.Record()).Format().Phase(in.Round, s.config().Rounds); phase.Back > 0 {
				since = in.Round - phase.Back
			}
		}
	case in.Kind == debate.KindAssign, in.Kind == debate.KindBallot && in.Tag != "after":
		since = math.MaxInt
	default:
	}
	for i, at := range read {
		t := b.said[at]
		switch {
		case t == nil:
			s.failf("%s reads the speech %+v, which was not held", in.Call, at)
		case !s.mayRead(reader, s.seat(t.Speaker)):
			s.failf("%s reads %s, who is not to be read", in.Call, t.Speaker)
		case at.round < since:
			s.failf("%s reads round %d, and is to read from round %d on", in.Call, at.round, since)
		case t.Hidden && !s.spoken(at):
			s.failf("%s reads the speech %+v before all of its group have spoken", in.Call, at)
		case b.overdue[at]:
		case i > 0 && in.Tag != "swapped" && !b.overdue[read[i-1]] && (at.round < read[i-1].round || at.round == read[i-1].round && at.slot <= read[i-1].slot):
			s.failf("%s reads %+v after %+v", in.Call, at, read[i-1])
		}
		if from, upto := s.group(at); in.Schema == "" && in.Kind != flow.KindSummary && in.Round == at.round && in.Slot >= from && in.Slot < upto && t.Hidden {
			s.failf("%s reads the speech %+v of its own group", in.Call, at)
		}
	}
	if !whole {
		return
	}
	for _, at := range b.order {
		t := b.said[at]
		if b.overdue[at] || t.Hidden && (!s.spoken(at) || len(b.dropped)+len(b.leftOut) > 0 && at.round == b.round && !b.concluding) {
			continue // of a group that others have left it is not said when it ends
		}
		if at.round >= since && s.mayRead(reader, s.seat(t.Speaker)) && !slices.Contains(read, at) {
			s.failf("%s does not read the speech %+v of %s", in.Call, at, t.Speaker)
		}
	}
}
