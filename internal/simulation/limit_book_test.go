package simulation_test

import (
	"maps"
	"math"
	"slices"

	"github.com/agonist-dev/debate"
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
	cost, atMost  debate.Money
	tokens, calls int
	broken        map[string]*flow.Intent // in flight, and counted as broken off
	aborted       map[string]bool         // of them, those that a control has aborted
	open          map[string]*flow.Intent // in flight
	people        map[string]bool         // calls that a person performs
	latest        map[string]*flow.Intent
	models        map[string]debate.Model
	windows       map[string]int
	asked         map[string]*flow.Inquiry
	ratios        map[string]float64
	schedules     map[int][]format.Speech
	said          map[place]*debate.Turn
	order         []place        // in which they were held
	overdue       map[place]bool // those that came after a stop, or after their speaker or who they address had left
	dropped       map[string]bool
	leftOut       map[place]bool // speeches that were left out
	round         int
	late          bool           // the round's time is over
	concluding    bool           // the rounds are over
	chosen        bool           // a person's choice was recorded in this step
	withdrawn     string         // a call of somebody who is left
	skips         bool           // somebody has chosen in this step to skip a call
	replaced      bool           // a person has named another model, which may be dearer than what was kept back for
	soft          bool           // a soft limit has ended the rounds
	pondered      bool           // a model has thought for as long as it may: far longer than what was kept back for the verdicts
	setbacks      map[string]int // attempts without a result, by the call that was asked first
	last          *flow.Transition
}

func newLimitBooks() limitBooks {
	return limitBooks{
		broken: make(map[string]*flow.Intent), aborted: make(map[string]bool),
		open: make(map[string]*flow.Intent), people: make(map[string]bool), latest: make(map[string]*flow.Intent), windows: make(map[string]int),
		asked:  make(map[string]*flow.Inquiry),
		ratios: make(map[string]float64), schedules: make(map[int][]format.Speech), said: make(map[place]*debate.Turn),
		dropped: make(map[string]bool), leftOut: make(map[place]bool), overdue: make(map[place]bool), setbacks: make(map[string]int), state: flow.StateReady,
	}
}

// follow checks what a step gave, and does it.
func (s *limitSim) follow(out flow.Output) {
	s.t.Helper()
	b := &s.books
	b.chosen, b.skips = false, false
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
	bound, atMost, calls, open := 0, b.atMost, b.calls, 0
	for id, in := range b.open {
		bound += in.Bound
		if b.broken[id] == in {
			atMost, calls = atMost+in.Reserve, calls+1
			continue
		}
		reserved, open = reserved+in.Reserve, open+1
	}
	switch {
	case spent.Cost != b.cost || spent.AtMost != atMost || spent.Requests != calls:
		s.failf("the record says %v in %d calls, the books %v, and up to %v, in %d", spent, spent.Requests, b.cost, atMost, calls)
	case r.Reserved() != reserved || r.InFlight() != len(b.open):
		s.failf("%d calls have reserved %v, the record says %d and %v", len(b.open), reserved, r.InFlight(), r.Reserved())
	case r.Settings() == nil || r.Settings().Budget == nil:
		return
	}
	hard := r.Settings().Budget
	s.within("cost", int64(b.cost+atMost), int64(reserved), int64(hard.Hard))
	s.within("tokens", int64(b.tokens), int64(bound), int64(hard.HardTokens))
	s.within("calls", int64(calls), int64(open), int64(hard.HardCalls))
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
		if t := body.As[flow.Transition](*e); t.On == flow.TriggerRetry {
			clear(b.windows)                                         // the cause of an overflow may be gone
			b.late = b.late && t.To != debate.StateAwaitingResponses // the round has all of its time again
		}
	case flow.EventRound:
		b.round, b.late = body.As[flow.Round](*e).N, false
	case flow.EventIntent:
		s.checkIntent(body.As[flow.Intent](*e))
		delete(b.people, body.As[flow.Intent](*e).Call)
	case flow.EventInquiry:
		s.seen.count("inquiry")
		if len(body.As[flow.Inquiry](*e).Options) == 0 {
			delete(b.open, body.As[flow.Inquiry](*e).ID)
			b.people[body.As[flow.Inquiry](*e).ID] = true
		}
		b.asked[body.As[flow.Inquiry](*e).ID] = body.As[flow.Inquiry](*e)
	case flow.EventAnswer:
		s.checkAnswer(body.As[flow.Answer](*e))
		b.forget(body.As[flow.Answer](*e))
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
	case flow.EventSkipped:
		s.checkSkipped(body.As[flow.Skipped](*e))
	case flow.EventRetriedNow:
		s.seen.count("waiting that was cut short")
	case flow.EventWithdrawn:
		if w := body.As[flow.Withdrawn](*e); !b.dropped[w.By] {
			b.withdrawn = w.Call
		}
		s.seen.count("withdrawn call")
	case flow.EventQuestions:
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
	ends := false
	switch t.On {
	case flow.TriggerPause, flow.TriggerStop, flow.TriggerCancel, flow.TriggerLimit:
		ends = !t.Drain
	}
	for id, in := range b.open {
		switch {
		case in.Model == "":
		case ends || t.To != flow.StateAwaitingInput && atRest(t.To):
			b.broken[id] = in
			b.aborted[id] = b.aborted[id] || ends
		case !b.aborted[id]:
			delete(b.broken, id)
		}
	}
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
	if in.Reask {
		s.seen.count("re-ask")
	}
}

// forget forgets the windows that were assumed for calls that a person tries again: the cause of an overflow may be gone.
func (b *limitBooks) forget(a *flow.Answer) {
	q := b.asked[a.Inquiry]
	if q == nil || a.Option != flow.OptionRetry && a.Option != flow.OptionWait || q.Failure == nil || q.Failure.Kind != provider.KindContextOverflow {
		return
	}
	for _, about := range q.About {
		if in := b.latest[about.Call]; in != nil {
			delete(b.windows, in.Model)
		}
	}
}

// checkAnswer: a rule only does what the settings have a rule for. The end at a verdict is that of its judge.
func (s *limitSim) checkAnswer(a *flow.Answer) {
	b := &s.books
	b.chosen = b.chosen || a.Option != "" && !a.Rule
	b.skips = b.skips || a.Option == flow.OptionSkip
	if !a.Rule {
		return
	}
	s.seen.count("rule")
	done := func(rule flow.FailureRule) bool {
		q := b.asked[a.Inquiry]
		ends := rule.Do == flow.OptionEnd && a.Option == flow.OptionDrop && q != nil && q.Kind == debate.KindVerdict
		return (rule.Do == a.Option || ends) && rule.Model == a.Model
	}
	if !slices.ContainsFunc(s.core.Record().Settings().OnFailure, done) {
		s.failf("a rule has answered %+v, and there is no such rule", a)
	}
}

// checkSkipped: a call is left out only because somebody has decided so, or because its time was over.
func (s *limitSim) checkSkipped(k *flow.Skipped) {
	b := &s.books
	switch {
	case b.open[k.Call] != nil:
		s.failf("%s is left out while it is in flight", k.Call)
	case k.Kind == debate.KindVerdict || k.Kind == debate.KindAssign:
		s.failf("%s is left out, which nobody can do without", k.Call)
	case k.Cause == "" && (s.config().RoundTimeout == 0 || k.Round != b.round):
		s.failf("the time of %s is over, and it had none", k.Call)
	case k.Cause != "" && !b.skips:
		s.failf("%s is left out, and nobody has decided so", k.Call)
	case k.Cause == "":
		s.seen.count("out of time")
	default:
		s.seen.count("skipped")
	}
	if k.Kind != debate.KindAssessment && k.Kind != debate.KindBallot {
		b.leftOut[place{k.Round, k.Slot}] = true
	}
}

// checkDropped: a panel loses what its quorum needs only if a person has decided so.
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
	delete(b.broken, spend.Call)
	delete(b.aborted, spend.Call)
	model := b.models[in.Model]
	b.cost, b.atMost = b.cost+spend.Cost, b.atMost+spend.AtMost
	if !b.people[spend.Call] && (in.Model == "" || in.Bound > 0) { // else it could not be sent
		b.calls++
	}
	unknown := spend.BrokenOff || spend.Unreported
	if unknown {
		b.tokens += in.Bound
	} else {
		b.tokens += spend.Usage.Input + spend.Usage.Output
	}
	switch {
	case spend.Cost+spend.AtMost > in.Reserve:
		s.failf("%s has cost %v, and up to %v; %v was reserved", spend.Call, spend.Cost, spend.AtMost, in.Reserve)
	case unknown && (spend.Cost != 0 || spend.AtMost != in.Reserve),
		!unknown && (spend.AtMost != 0 || spend.Cost != 0 && spend.Cost != model.Cost(spend.Usage)):
		s.failf("%s has cost %v, and up to %v, with %+v", spend.Call, spend.Cost, spend.AtMost, spend.Usage)
	}
	b.pondered = b.pondered || in.Thinking > 0 && spend.Usage.Output >= in.Tokens
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
		b.setbacks[in.Call] += outside(in)
	default:
	}
}

// outside counts an attempt whose reply was of no use, unless the budget itself had lowered the cap on it.
func outside(in *flow.Intent) int {
	if in.Lowered > 0 {
		return 0
	}
	return 1
}

func (s *limitSim) checkFailure(f *flow.Failure, in *flow.Intent) {
	b := &s.books
	s.seen.count("failed " + string(f.Error.Kind))
	if f.Error.Kind == provider.KindInvalidResponse {
		b.setbacks[in.Call] += outside(in)
	} else {
		b.setbacks[in.Call]++
	}
	if f.Next != "" {
		s.seen.count("fallback")
	}
	if w := b.windows[in.Model]; f.Window > 0 && (w == 0 || f.Window < w) {
		b.windows[in.Model] = f.Window
	}
}
