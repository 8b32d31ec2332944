package simulation_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// sim is a world of one debate, which is played undisturbed and then disturbed.
type sim struct {
	world

	start   *flow.Start // the same for both debates of a seed
	names   []string
	live    *flow.Core // never restarted: it must do what core does, which is made anew from the log before every step
	flights []flight

	trouble  bool // disturb it
	short    bool // it may be stopped or canceled
	cutShort bool // it was
	policy   policy
	dropped  []string
	skipped  []string        // calls
	faults   int             // failures left
	faulty   map[string]bool // calls that have failed
	chosen   map[flow.Option]bool
	state    debate.State
	intents  []*flow.Intent
	open     map[string]debate.Money // reserved, by call
	told     map[string]uint64       // what each call was asked
	waits    map[string]time.Time    // when calls are made again that have failed
	confirms bool                    // the cost warning waits to be confirmed
}

// flight is a call that somebody is working on.
type flight struct {
	command *flow.Command
	aborted bool
}

func newSim(t *testing.T, engine *kernel.Engine, seed uint64) *sim {
	t.Helper()
	return &sim{
		world: newWorld(t, engine, "sim", seed, 1), faults: 6, open: make(map[string]debate.Money), told: make(map[string]uint64),
		faulty: make(map[string]bool), chosen: make(map[flow.Option]bool), waits: make(map[string]time.Time),
	}
}

// begin draws the debate and starts it.
func (s *sim) begin() {
	config := simConfig(s.dice, s.id)
	s.short = s.dice.IntN(8) == 0
	s.drawPolicy(&config)
	for _, p := range config.Participants {
		s.names = append(s.names, p.Name)
	}
	if s.start == nil {
		if err := s.engine.Validate(s.t.Context(), config); err != nil {
			s.failf("%v", err)
		}
		start, err := s.engine.Freeze(config)
		if err != nil {
			s.failf("%v", err)
		}
		s.start = &start
	}
	s.live = s.reload()
	s.core = s.live
	for _, signal := range []flow.Signal{flow.Edit{Config: config}, flow.Validate{}, flow.Validated{OK: true}} {
		if _, err := s.live.Step(flow.Input{At: s.now, Signal: signal}); err != nil {
			s.failf("%v", err)
		}
	}
	s.state = flow.StateReady
	out, err := s.live.Step(flow.Input{At: s.now, Signal: *s.start})
	if err != nil {
		s.failf("%v", err)
	}
	s.follow(out, s.throughJSON(out.Events))
}

// reload makes a core of the log.
func (s *sim) reload() *flow.Core { return s.load(s.log) }

// accepted steps an input that must be taken.
func (s *sim) accepted(signal flow.Signal) flow.Output {
	s.t.Helper()
	in := flow.Input{At: s.now, Bits: s.dice.Uint64(), Signal: signal}
	if !s.trouble {
		out, err := s.live.Step(in)
		if err != nil {
			s.failf("%T: %v", signal, err)
		}
		s.follow(out, slices.Clone(out.Events))
		return out
	}
	s.core = s.reload()
	s.checkReload()
	want, err := s.live.Step(in)
	if err != nil {
		s.failf("%T: %v", signal, err)
	}
	out, err := s.core.Step(in)
	if err != nil {
		s.failf("%T after a restart: %v", signal, err)
	}
	switch got, live := stage.JSON(out.Events), stage.JSON(want.Events); {
	case len(out.Events)+len(want.Events) > 0 && got != live:
		s.failf("%T gave other events after a restart:\n%s\nnot\n%s", signal, got, live)
	case !slices.Equal(out.Start, want.Start) || !slices.Equal(out.Abort, want.Abort) || !out.Wait.Equal(want.Wait):
		s.failf("%T gave other commands after a restart: %+v, not %+v", signal, out, want)
	}
	s.follow(out, s.throughJSON(out.Events))
	return out
}

// ignored steps an input that must leave no trace, though time may have brought something due.
func (s *sim) ignored(signal flow.Signal) {
	s.t.Helper()
	for _, e := range s.accepted(signal).Events {
		if e.Kind() == flow.EventFailed || slices.Contains(results(), e.Kind()) {
			s.failf("%+v was recorded", signal)
		}
	}
}

// refused steps an input that must change nothing.
func (s *sim) refused(signal flow.Signal) {
	s.t.Helper()
	for _, core := range []*flow.Core{s.reload(), s.live} {
		before := outline(core)
		out, err := core.Step(flow.Input{At: s.now, Bits: s.dice.Uint64(), Signal: signal})
		kind := provider.KindState
		if signal == nil { // what is no signal is wrong in every state
			kind = provider.KindValidation
		}
		var failure *debate.Error
		switch {
		case err == nil:
			s.failf("%T was taken in state %s", signal, s.state)
		case !errors.As(err, &failure) || failure.Kind != kind:
			s.failf("%T was refused with %v", signal, err)
		case len(out.Events)+len(out.Start)+len(out.Abort) > 0 || !out.Wait.IsZero():
			s.failf("the refused %T gave %+v", signal, out)
		default:
			s.same(fmt.Sprintf("the refused %T", signal), outline(core), before)
		}
	}
}

// follow checks what a step gave, and does it.
func (s *sim) follow(out flow.Output, events []debate.Event) {
	var intended []string
	for i := range events {
		if events[i].Seq != int64(len(s.log)+1) {
			s.failf("event %d has the number %d", len(s.log)+1, events[i].Seq)
		}
		if in := body.As[flow.Intent](events[i]); in != nil {
			intended = append(intended, in.Call)
		}
		if q := body.As[flow.Inquiry](events[i]); q != nil { // nobody but a person performs it
			intended = slices.DeleteFunc(intended, func(call string) bool { return call == q.ID })
		}
		s.log = append(s.log, events[i])
		s.checkEvent(&events[i])
	}
	r := s.live.Record()
	var reserved debate.Money
	switch s.state {
	case flow.StatePaused, flow.StateError, flow.StateCompleted, flow.StateCanceled: // all count as broken off until they go on
	default:
		for _, reserve := range s.open {
			reserved += reserve
		}
	}
	switch {
	case !slices.Equal(intended, out.Start):
		s.failf("the intents of %q are recorded, and %q are to be started", intended, out.Start)
	case len(out.Start) > 0 && atRest(s.state):
		s.failf("%q are to be started in state %s", out.Start, s.state)
	case r.Reserved() != reserved || r.InFlight() != len(s.open):
		s.failf("%d calls have reserved %v, the record says %d and %v", len(s.open), reserved, r.InFlight(), r.Reserved())
	case r.State != s.state:
		s.failf("the events lead to state %s, the record is in %s", s.state, r.State)
	}
	for i := range s.flights {
		s.flights[i].aborted = s.flights[i].aborted || slices.Contains(out.Abort, s.flights[i].command.Call)
	}
	for _, call := range out.Start {
		s.flights = append(s.flights, flight{command: s.command(s.live, call)})
	}
	s.wait = out.Wait
}

// checkEvent keeps the books that the record is checked against.
func (s *sim) checkEvent(e *debate.Event) {
	switch e.Kind() {
	case flow.EventTransition:
		if body.As[flow.Transition](*e).From != s.state {
			s.failf("a transition leaves %s in state %s", body.As[flow.Transition](*e).From, s.state)
		}
		s.state = body.As[flow.Transition](*e).To
		switch t := body.As[flow.Transition](*e); t.On {
		case flow.TriggerPause, flow.TriggerStop, flow.TriggerCancel, flow.TriggerLimit:
			for call := range s.open {
				if !t.Drain {
					s.open[call] = 0 // it counts as broken off
				}
			}
		}
	case flow.EventIntent:
		if atRest(s.state) {
			s.failf("%s is intended in state %s", body.As[flow.Intent](*e).Call, s.state)
		}
		if _, twice := s.open[body.As[flow.Intent](*e).Call]; twice {
			s.failf("%s is intended twice", body.As[flow.Intent](*e).Call)
		}
		if slices.Contains(s.dropped, body.As[flow.Intent](*e).By) {
			s.failf("%s is intended of one who takes no further part", body.As[flow.Intent](*e).Call)
		}
		delete(s.waits, body.As[flow.Intent](*e).Call)
		s.open[body.As[flow.Intent](*e).Call] = body.As[flow.Intent](*e).Reserve
		s.intents = append(s.intents, body.As[flow.Intent](*e))
	case flow.EventInquiry:
		q := body.As[flow.Inquiry](*e)
		s.confirms = s.confirms || q.ID == flow.InquiryCost
		if len(q.Options) == 0 {
			delete(s.open, q.ID)
		}
	case flow.EventAnswer:
		s.checkAnswer(body.As[flow.Answer](*e))
	case flow.EventSkipped:
		s.checkSkipped(body.As[flow.Skipped](*e))
	case flow.EventDropped:
		if !s.chosen[flow.OptionDrop] {
			s.failf("%s is dropped: %s", body.As[flow.Dropped](*e).Participant, body.As[flow.Dropped](*e).Reason)
		}
		s.dropped = append(s.dropped, body.As[flow.Dropped](*e).Participant)
	case flow.EventRetriedNow:
		clear(s.waits)
	default:
		if spend := flow.SpendOf(e.Body); spend != nil {
			delete(s.open, spend.Call)
		}
		if f := body.As[flow.Failure](*e); f != nil && !f.RetryAt.IsZero() {
			s.waits[f.Call] = f.RetryAt
		}
		if r := body.As[flow.Rejection](*e); r != nil && !s.latest(r.Call).Reask {
			s.waits[r.Call] = e.At.Add(2 * time.Second)
		}
	}
}

// atRest holds in the states in which no call may start.
func atRest(state debate.State) bool {
	switch state {
	case flow.StatePaused, flow.StateAwaitingInput, flow.StateError, flow.StateCompleted, flow.StateCanceled,
		flow.StateConfiguring, flow.StateValidating, flow.StateReady:
		return true
	default:
		return false
	}
}

// command asks a core what a call is, and compares it with what the undisturbed debate asked.
func (s *sim) command(core *flow.Core, call string) *flow.Command {
	c, err := core.Command(call)
	if err != nil {
		s.failf("%v", err)
	}
	if s.latest(call).Reask || s.cutShort || s.thinned() {
		return c
	}
	told, ok := s.told[call]
	switch {
	case !s.trouble:
		s.told[call] = digest(c)
	case !ok:
		s.failf("%s was not asked in the undisturbed debate", call)
	case told != digest(c):
		s.failf("%s is asked something else than in the undisturbed debate: %+v", call, c.Request)
	}
	return c
}

// land brings the outcome of a call: of a disturbed one that may be a failure, or a late success.
func (s *sim) land(i int) {
	f := s.flights[i]
	if s.trouble && !s.cutShort && !s.thinned() {
		s.command(s.reload(), f.command.Call)
	}
	s.flights = slices.Delete(s.flights, i, i+1)
	var signal flow.Signal = flow.Result{
		Call: f.command.Call, Attempt: f.command.Attempt, Text: s.reply(f.command), Usage: s.usage(f), Took: time.Second,
	}
	switch {
	case !s.trouble:
	case f.aborted && s.dice.IntN(4) > 0:
		signal = flow.Failed{Call: f.command.Call, Attempt: f.command.Attempt, Error: &debate.Error{Kind: provider.KindCanceled}}
	case s.faults > 0 && s.dice.IntN(5) == 0 && s.mayFail(f):
		signal = s.fault(f)
		s.faults--
		s.faulty[f.command.Call] = true
	}
	s.past = append(s.past, signal)
	s.accepted(signal)
	if s.live.Record().State == flow.StateError && s.faults > 0 {
		s.faults -= 2 // so that a host's retries suffice
	}
}

// checkReload compares the core of the log with the one that wrote it; the whole of it now and then.
func (s *sim) checkReload() {
	if s.dice.IntN(8) > 0 {
		return
	}
	s.same("the log", outline(s.core), outline(s.live))
}

// checkEnd looks at what is left when all is over.
func (s *sim) checkEnd() {
	r := s.core.Record()
	if !r.Final() || r.InFlight() != 0 || r.Reserved() != 0 {
		s.failf("in state %s, %d calls in flight reserve %v", r.State, r.InFlight(), r.Reserved())
	}
	s.log = s.throughJSON(s.log)
	s.same("the log", outline(s.reload()), outline(s.live))
	if lost := silentLoss(r, s.log); lost != "" {
		s.failf("in state %s: %s", r.State, lost)
	}
}

// checkThinned: those who are left have said what they would have said, and the debate came to its end.
func (s *sim) checkThinned(plain *sim) {
	r := s.core.Record()
	if r.State != flow.StateCompleted || r.Reason == "" {
		s.failf("without %q and %q the debate ended in state %s (%s)", s.dropped, s.skipped, r.State, r.Reason)
	}
	for _, name := range s.dropped {
		if slices.Contains(r.Active(), name) {
			s.failf("%s takes part again", name)
		}
	}
	said := plain.core.Record().Turns
	for _, turn := range r.Turns {
		if slices.ContainsFunc(said, func(o *debate.Turn) bool { return o.Call == turn.Call && o.Text != turn.Text }) {
			s.failf("%s was not said so", turn.Call)
		}
	}
	if len(stage.View(r).Outcome().Degraded) < len(s.dropped)+len(s.skipped) {
		s.failf("the outcome does not tell of %q and %q", s.dropped, s.skipped)
	}
}

// checkCutShort: what was said before a debate was ended is what would have been said.
func (s *sim) checkCutShort(plain *sim) {
	said := plain.core.Record().Turns
	for _, turn := range s.core.Record().Turns {
		if !slices.ContainsFunc(said, func(o *debate.Turn) bool { return o.Call == turn.Call && o.Text == turn.Text }) {
			s.failf("%s was said, and would not have been", turn.Call)
		}
	}
}
