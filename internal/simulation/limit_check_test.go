package simulation_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// place is where a speech stands in a debate.
type place struct{ round, slot int }

// limitBooks are kept from the events alone, beside the record, and by other code.
type limitBooks struct {
	state         debate.State
	cost          debate.Money
	tokens, calls int
	open          map[string]*flow.Intent // in flight
	people        map[string]bool         // calls that a person performs
	latest        map[string]*flow.Intent
	models        map[string]debate.Model
	windows       map[string]int
	ratios        map[string]float64
	schedules     map[int][]format.Speech
	said          map[place]*debate.Turn
	order         []place        // in which they were held
	overdue       map[place]bool // those that came after a stop, or after their speaker or who they address had left
	dropped       map[string]bool
	unheard       map[place]bool // questions of the audience that have failed
	round         int
	late          bool           // the round's time is over
	concluding    bool           // the rounds are over
	chosen        bool           // a choice was recorded in this step
	replaced      bool           // a person has named another model, which may be dearer than what was kept back for
	soft          bool           // a soft limit has ended the rounds
	setbacks      map[string]int // attempts without a result, by the call that was asked first
	last          *flow.Transition
}

func newLimitBooks() limitBooks {
	return limitBooks{
		open: make(map[string]*flow.Intent), people: make(map[string]bool), latest: make(map[string]*flow.Intent), windows: make(map[string]int),
		ratios: make(map[string]float64), schedules: make(map[int][]format.Speech), said: make(map[place]*debate.Turn),
		dropped: make(map[string]bool), unheard: make(map[place]bool), overdue: make(map[place]bool), setbacks: make(map[string]int), state: flow.StateReady,
	}
}

// follow checks what a step gave, and does it.
func (s *limitSim) follow(out flow.Output) {
	s.t.Helper()
	b := &s.books
	b.chosen = false
	from := len(s.log)
	s.log = append(s.log, out.Events...)
	for i := range out.Events {
		e := &s.log[from+i]
		if e.Seq != int64(from+i+1) {
			s.failf("event %d has the number %d", from+i+1, e.Seq)
		}
		s.checkEvent(e)
	}
	r := s.core.Record()
	if r.State != b.state && len(s.log) > 0 {
		s.failf("the events lead to state %s, the record is in %s", b.state, r.State)
	}
	s.checkUse(r)
	for i := range s.flights {
		s.flights[i].aborted = s.flights[i].aborted || slices.Contains(out.Abort, s.flights[i].intent.Call)
	}
	s.flights = slices.DeleteFunc(s.flights, func(f *limitFlight) bool { // some have been given up
		in := b.open[f.intent.Call]
		return in == nil || in.Attempt != f.intent.Attempt
	})
	for _, call := range out.Start {
		in := b.open[call]
		if in == nil {
			s.failf("%s is to be started, and is not intended", call)
		}
		s.flights = append(s.flights, &limitFlight{intent: in, schema: s.asked(in)})
	}
	if len(s.flights) != len(b.open) {
		s.failf("%d calls are being made, %d are intended", len(s.flights), len(b.open))
	}
	s.wait = out.Wait
}

// checkUse compares the accounts, and holds them against the hard limits.
func (s *limitSim) checkUse(r *debate.Record) {
	s.t.Helper()
	b, spent := &s.books, r.Spent()
	var reserved debate.Money
	bound := 0
	for _, in := range b.open {
		reserved += in.Reserve
		bound += in.Bound
	}
	switch {
	case spent.Cost != b.cost || spent.Requests != b.calls:
		s.failf("the record says %v in %d calls, the books %v in %d", spent.Cost, spent.Requests, b.cost, b.calls)
	case r.Reserved() != reserved || r.InFlight() != len(b.open):
		s.failf("%d calls have reserved %v, the record says %d and %v", len(b.open), reserved, r.InFlight(), r.Reserved())
	case r.Terms() == nil || r.Terms().Budget == nil:
		return
	}
	hard := r.Terms().Budget
	s.within("cost", int64(b.cost), int64(reserved), int64(hard.Hard))
	s.within("tokens", int64(b.tokens), int64(bound), int64(hard.HardTokens))
	s.within("calls", int64(b.calls), int64(len(b.open)), int64(hard.HardCalls))
}

func (s *limitSim) within(what string, settled, reserved, limit int64) {
	s.t.Helper()
	if limit == 0 {
		return
	}
	if settled+reserved > limit {
		s.failf("%s: %d settled and %d reserved are above the hard limit of %d", what, settled, reserved, limit)
	}
	s.seen.worst[what] = max(s.seen.worst[what], float64(settled+reserved)/float64(limit))
	s.seen.settled[what] = max(s.seen.settled[what], float64(settled)/float64(limit))
}

// checkEvent writes the books.
func (s *limitSim) checkEvent(e *debate.Event) {
	s.t.Helper()
	b := &s.books
	switch e.Kind() {
	case flow.EventStart:
		b.models = maps.Clone(body.As[flow.Start](*e).Models)
	case flow.EventTransition:
		s.checkTransition(body.As[flow.Transition](*e))
	case flow.EventRound:
		b.round, b.late = body.As[flow.Round](*e).N, false
	case flow.EventIntent:
		s.checkIntent(body.As[flow.Intent](*e))
		delete(b.people, body.As[flow.Intent](*e).Call)
	case flow.EventInquiry:
		s.seen.count("inquiry")
		if body.As[flow.Inquiry](*e).About == "" {
			delete(b.open, body.As[flow.Inquiry](*e).ID)
			b.people[body.As[flow.Inquiry](*e).ID] = true
		}
	case flow.EventAnswer:
		b.chosen = b.chosen || body.As[flow.Answer](*e).Option != ""
		b.replaced = b.replaced || body.As[flow.Answer](*e).Model != ""
		if body.As[flow.Answer](*e).Row != nil {
			if _, known := b.models[body.As[flow.Answer](*e).Model]; !known {
				b.models[body.As[flow.Answer](*e).Model] = *body.As[flow.Answer](*e).Row
			}
		}
	case flow.EventDropped:
		s.checkDropped(body.As[flow.Dropped](*e).Participant)
	case flow.EventWarning:
		s.seen.count("warning " + string(body.As[flow.Warning](*e).Kind))
		b.late = b.late || body.As[flow.Warning](*e).Kind == flow.WarnLate
	case flow.EventAck:
	default:
		s.checkOutcome(e)
	}
}

func (s *limitSim) checkTransition(t *flow.Transition) {
	b := &s.books
	if t.From != b.state {
		s.failf("a transition leaves %s in state %s", t.From, b.state)
	}
	b.state, b.last = t.To, t
	b.concluding = b.concluding || t.To == flow.StateCompleting
	if t.To == flow.StateCompleting && t.On == flow.TriggerLimit {
		b.soft = true
	}
	if t.To == flow.StateError && (t.Reason == "" || t.Evidence == "") {
		s.failf("the transition %+v has no reason", t)
	}
}

func (s *limitSim) checkIntent(in *flow.Intent) {
	b := &s.books
	last := b.latest[in.Call]
	switch {
	case atRest(b.state):
		s.failf("%s is intended in state %s", in.Call, b.state)
	case b.open[in.Call] != nil:
		s.failf("%s is intended twice", in.Call)
	case last == nil && in.Attempt != 1 || last != nil && in.Attempt != last.Attempt+1:
		s.failf("attempt %d at %s follows on %+v", in.Attempt, in.Call, last)
	case b.dropped[in.By] || b.dropped[in.Target]:
		s.failf("%s is asked, or spoken to, and takes no further part", in.Call)
	}
	size := in.Input
	if size == 0 {
		size = in.Bound - in.Tokens // it was small enough not to be counted
	}
	if room := s.room(in); in.Bound > 0 && float64(size) > room {
		s.failf("%s has %d tokens, the window leaves %.0f", in.Call, size, room)
	}
	b.open[in.Call], b.latest[in.Call] = in, in
	if in.Again != "" {
		s.seen.count("re-ask")
	}
}

// checkDropped: a panel goes on without one of its judges only if nobody is to be asked first.
func (s *limitSim) checkDropped(who string) {
	b, r := &s.books, s.core.Record()
	if b.dropped[who] {
		s.failf("%s is dropped twice", who)
	}
	b.dropped[who] = true
	s.seen.count("dropped")
	judging := stage.View(r).Config().Judging
	if judging == nil || b.chosen {
		return
	}
	left, is := 0, false
	for i := range judging.Judges {
		name := judging.Judges[i].Name
		is = is || name == who
		if !b.dropped[name] && !slices.Contains(stage.View(r).Recused(), name) {
			left++
		}
	}
	if is && left < max(1, s.quorum()) {
		s.failf("%s is dropped, %d judges are left, and nobody was asked", who, left)
	}
}

// quorum is how many judges must judge.
func (s *limitSim) quorum() int {
	r := s.core.Record()
	return min(stage.View(r).Config().Judging.Quorum, len(stage.View(r).Config().Judging.Judges)-len(stage.View(r).Recused()))
}

// checkOutcome settles an attempt.
func (s *limitSim) checkOutcome(e *debate.Event) {
	b, spend := &s.books, flow.SpendOf(e.Body)
	in := b.latest[spend.Call]
	if in == nil || in.Attempt != spend.Attempt {
		s.failf("%s, attempt %d, has come to an end, and was not outstanding", spend.Call, spend.Attempt)
	}
	delete(b.open, spend.Call)
	model := b.models[in.Model]
	b.cost += spend.Cost
	if !b.people[spend.Call] && (in.Model == "" || in.Bound > 0) { // else it could not be sent
		b.calls++
	}
	if spend.Estimated {
		b.tokens += in.Bound
	} else {
		b.tokens += spend.Usage.Input + spend.Usage.Output
	}
	switch {
	case spend.Cost > in.Reserve:
		s.failf("%s has cost %v, and %v was reserved", spend.Call, spend.Cost, in.Reserve)
	case spend.Estimated && spend.Cost != in.Reserve, !spend.Estimated && spend.Cost != 0 && spend.Cost != model.Cost(spend.Usage):
		s.failf("%s has cost %v with %+v", spend.Call, spend.Cost, spend.Usage)
	}
	if in.Input > 0 && spend.Usage.Input > 0 {
		b.ratios[in.Model] = min(2, max(0.5, math.Ceil(10*float64(spend.Usage.Input)/float64(in.Input))/10))
	}
	switch e.Kind() {
	case flow.EventTurn:
		s.checkTurn(body.As[debate.Turn](*e))
	case flow.EventSummary:
		s.seen.count("summary")
	case flow.EventFailed:
		s.checkFailure(body.As[flow.Failure](*e), in)
	case flow.EventRejected:
		s.seen.count("rejected")
		b.setbacks[strings.TrimSuffix(in.Call, ".again")]++
	default:
	}
}

func (s *limitSim) checkFailure(f *flow.Failure, in *flow.Intent) {
	b := &s.books
	s.seen.count("failed " + string(f.Error.Kind))
	b.setbacks[strings.TrimSuffix(in.Call, ".again")]++
	if f.Next != "" {
		s.seen.count("fallback")
	}
	if w := b.windows[in.Model]; f.Window > 0 && (w == 0 || f.Window < w) {
		b.windows[in.Model] = f.Window
	}
	if f.Final && in.Round > 0 && s.seat(in.By) < 0 {
		b.unheard[place{in.Round, in.Slot}] = true
	}
}

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
		if b.said[other] == nil && !b.unheard[other] && !b.dropped[speech.Speaker] && !b.dropped[speech.Target] {
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
		s.failf("%s has %d bytes, its bound is %d tokens", in.Call, size, in.Bound-in.Tokens)
	}
	if in.Input > 0 {
		s.checkWindow(in, q)
	}
	s.checkRead(in, read, in.Input == 0 && in.Kind != flow.KindSummary)
	return schema
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
	size := b.models[in.Model].Context
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
		if b.overdue[at] || t.Hidden && (!s.spoken(at) || len(b.dropped)+len(b.unheard) > 0 && at.round == b.round && !b.concluding) {
			continue // of a group that others have left it is not said when it ends
		}
		if at.round >= since && s.mayRead(reader, s.seat(t.Speaker)) && !slices.Contains(read, at) {
			s.failf("%s does not read the speech %+v of %s", in.Call, at, t.Speaker)
		}
	}
}

// outline is what shows of a record.
func (s *limitSim) outline(core *flow.Core) string {
	r := core.Record()
	data, err := stage.View(r).Canonical()
	if err != nil {
		s.failf("%v", err)
	}
	return string(data) + stage.JSON([]any{
		core.InFlight(), r.Seq, r.Round, r.State, r.Working(), r.Reserved(), r.Spent(), len(r.Rejections), len(r.Warnings),
		r.Inquiries, len(r.Answers), len(r.Summaries), r.Failure, r.Reason, r.Evidence, r.EnteredAt(), r.LastAt, r.SpentByModel(),
		r.SpentByParticipant(), r.Participants(), stage.View(r).Outcome(), stage.View(r).Judges(), stage.View(r).Contestants(), stage.View(r).Recused(),
	})
}

// same holds two outlines against each other.
func (s *limitSim) same(what, got, want string) {
	s.t.Helper()
	if got == want {
		return
	}
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	i = max(0, i-80)
	s.failf("%s makes\n…%.400s\nof what was\n…%.400s", what, got[i:], want[i:])
}

// checkEnd looks at what is left when all is over.
func (s *limitSim) checkEnd() {
	s.t.Helper()
	b, r := &s.books, s.core.Record()
	if r.InFlight() != 0 || r.Reserved() != 0 {
		s.failf("in state %s, %d calls in flight reserve %v", r.State, r.InFlight(), r.Reserved())
	}
	reason := string(r.Reason)
	switch {
	case r.Final() && (r.Reason == "" || r.Evidence == ""):
		s.failf("the debate has ended in state %s without a reason, or evidence for it: %q, %q", r.State, r.Reason, r.Evidence)
	case r.State == flow.StateError:
		if r.Failure == nil || r.Failure.Kind == "" {
			s.failf("the error has no kind: %v", r.Failure)
		}
		reason = string(b.last.Reason) + ": " + string(r.Failure.Kind)
	case r.State == flow.StateAwaitingInput:
		if len(r.Inquiries) == 0 && r.Terms().Budget == nil {
			s.failf("nothing is awaited")
		}
		reason = "nobody answers"
	default:
	}
	s.seen.ended(string(r.State), reason)
	s.checkSoft(r)
	s.checkOutcomeOf(r)
	want := s.outline(s.core)
	s.same("the log", s.outline(s.reload()), want)
	if chance(s.dice, 8) {
		s.same("the log, the second time,", s.outline(s.reload()), want)
	}
	s.seen.events += len(s.log)
	s.seen.turns += len(r.Turns)
	s.seen.verdicts += len(stage.View(r).Verdicts)
}

// checkSoft: a soft limit leads to a verdict, for which there is enough as long as nothing fails twice.
func (s *limitSim) checkSoft(r *debate.Record) {
	b := &s.books
	if !b.soft || stage.View(r).Config().Judging == nil {
		return
	}
	if len(r.Turns) == 0 { // there is nothing to judge
		if budget := r.Terms().Budget; len(b.setbacks) == 0 && !budget.Confirm && budget.SoftTime == 0 {
			s.failf("nothing has failed, and no turn was within the limits that were accepted: %s", r.Evidence)
		}
		s.seen.count("soft limit before any turn")
		return
	}
	unlucky := b.replaced
	for call, n := range b.setbacks {
		unlucky = unlucky || n > 1 && (strings.HasPrefix(call, "verdict.") || strings.HasPrefix(call, "vote.after."))
	}
	if r.State == flow.StateError && r.Failure.Kind == provider.KindCostLimit && !unlucky && r.Terms().Budget.HardTime == 0 {
		s.failf("a soft limit has ended the rounds, and not enough was left for the verdict: %s", b.last.Evidence)
	}
	if r.State != flow.StateCompleted || r.Reason != flow.EndSoftLimit {
		return
	}
	for _, judge := range stage.View(r).Config().Judging.Judges {
		if b.dropped[judge.Name] || slices.Contains(stage.View(r).Recused(), judge.Name) {
			continue
		}
		given := 0
		for _, v := range stage.View(r).Verdicts {
			if v.Judge == judge.Name {
				given++
			}
		}
		if want := map[bool]int{false: 1, true: 2}[stage.View(r).Config().Judging.BothOrders]; given != want {
			s.failf("a soft limit has ended the debate, and %s has given %d of %d verdicts", judge.Name, given, want)
		}
	}
	if stage.View(r).Verdict != nil {
		s.seen.count("verdict after a soft limit")
	} else {
		s.seen.count("soft limit, and all judges dropped")
	}
}

// checkOutcomeOf: a panel decides if, and only if, enough of it have judged.
func (s *limitSim) checkOutcomeOf(r *debate.Record) {
	judging, outcome := stage.View(r).Config().Judging, stage.View(r).Outcome()
	if judging == nil || outcome.Decision != format.ByJudges {
		return
	}
	complete, winners := 0, make(map[string]bool)
	for _, judge := range judging.Judges {
		given := 0
		for _, v := range stage.View(r).Verdicts {
			if v.Judge != judge.Name {
				continue
			}
			given++
			if v.Winner == nil {
				winners[""] = true
			} else {
				winners[v.Winner.Participant] = true
			}
		}
		if given > 1 || given == 1 && !judging.BothOrders {
			complete++
		}
	}
	if complete != outcome.Verdicts {
		s.failf("%d judges have judged, the outcome says %d", complete, outcome.Verdicts)
	}
	enough := complete >= max(1, s.quorum())
	switch {
	case !enough && (outcome.Winner != "" || outcome.Tie):
		s.failf("%d judges decide, the quorum is %d", complete, s.quorum())
	case !enough && r.Final() && len(outcome.Degraded) == 0:
		s.failf("%d judges of a quorum of %d have judged, and nothing says so", complete, s.quorum())
	case enough && len(winners) == 1 && !winners[""] && judging.Protocol != debate.Borda && !winners[outcome.Winner]:
		s.failf("all judges name %v, the outcome %q", winners, outcome.Winner)
	default:
	}
	if outcome.Winner != "" {
		s.seen.count("winner")
	}
}
