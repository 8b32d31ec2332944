package simulation_test

import (
	"errors"
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

var (
	limitSeeds = flag.Uint64("sim.limits", longform.Sized[uint64](10_000, 300, 60), "how many seeds TestSimulationOfLimits plays")
	oneSeed    = flag.Int64("seed", -1, "the only seed that TestSimulationOfLimits plays")
)

// TestSimulationOfLimits plays debates of every sort with calls side by side, failures of every kind,
// people who answer as they please, and limits of every dimension. After every step its own books must
// agree with the record, and no hard limit may be passed, not even by what is in flight. Nobody is sent
// what they must not read. Every debate ends in a state with a reason; one that a soft limit has ended
// has its verdict.
//
// The runs are one after the other: only so is the secret of each debate drawn from its seed.
func TestSimulationOfLimits(t *testing.T) {
	engine, seen := kernel.Of(t, limitEngine()), newLimitFigures()
	first, last := uint64(0), *limitSeeds
	if *oneSeed >= 0 {
		first, last = uint64(*oneSeed), uint64(*oneSeed)+1
	}
	for seed := first; seed < last; seed++ {
		s := newLimitSim(t, engine, seed, seen)
		s.play()
	}
	t.Logf("seeds %d..%d\n%s", first, last-1, seen)
	if last-first < 10_000 {
		return // too few to meet everything
	}
	for _, name := range []string{
		"crash", "restart", "duplicate", "pause", "host's retry", "inquiry", "person's answer", "re-ask", "rejected", "dropped", "fallback",
		"request that was counted", "request with a summary", "summary", "verdict after a soft limit", "winner", "overdue turn",
		"warning context", "warning cost", "warning hard-limit", "warning round-time", "warning soft-limit", "warning outage",
		"rule", "skipped", "out of time", "waiting that was cut short",
		"failed network", "failed rate_limit", "failed authentication", "failed context_overflow", "failed refusal", "failed quota",
	} {
		assert.Positive(t, seen.met[name], "%s: the simulation no longer meets one", name)
	}
}

// limitSim is a world of one debate.
type limitSim struct {
	world

	seen    *limitFigures
	flights []*limitFlight
	faulty  float64 // share of attempts that fail
	restful bool    // nobody pauses, stops or cancels it
	answers int     // of people
	absent  bool    // no person ever answers
	retries int     // of the host
	gone    bool    // the host has given up
	books   limitBooks
}

// limitFlight is a call that somebody is working on.
type limitFlight struct {
	intent  *flow.Intent
	schema  []byte
	aborted bool
}

func newLimitSim(t *testing.T, engine *kernel.Engine, seed uint64, seen *limitFigures) *limitSim {
	t.Helper()
	s := &limitSim{world: newWorld(t, engine, "limit", seed, 2), seen: seen, books: newLimitBooks()}
	s.faulty = oneOf(s.dice, 0, 0, 0.05, 0.15, 0.4)
	s.restful, s.absent, s.retries = !chance(s.dice, 4), chance(s.dice, 20), s.dice.IntN(4)
	return s
}

// config is as it was frozen.
func (s *limitSim) config() *debate.Config { return stage.View(s.core.Record()).Config() }

// reload makes a core of the log, now and then of the log as a store gives it back.
func (s *limitSim) reload() *flow.Core {
	s.t.Helper()
	if chance(s.dice, 16) {
		return s.load(s.throughJSON(s.log))
	}
	return s.load(s.log)
}

// play plays the seed's debate to its end.
func (s *limitSim) play() {
	done := false
	defer func() {
		if !done && !s.t.Failed() {
			s.t.Errorf("-seed %d: a panic after event %d", s.seed, len(s.log))
		}
	}()
	s.begin()
	for range 4_000 {
		if s.over() {
			s.checkEnd()
			done = true
			return
		}
		s.now = s.now.Add(time.Duration(s.dice.IntN(2_000)) * time.Millisecond)
		s.proceed()
	}
	s.failf("the debate does not end: it stands in state %s with %d calls in flight", s.core.Record().State, len(s.flights))
}

func (s *limitSim) begin() {
	config := s.drawn()
	s.secret()
	start, err := s.engine.Freeze(config)
	if err != nil {
		s.failf("%v", err)
	}
	s.core = s.reload()
	for _, signal := range []flow.Signal{flow.Edit{Config: config}, flow.Validate{}, flow.Validated{OK: true}, start} {
		s.step(signal)
	}
}

// over: nothing is on its way, and nobody will do anything.
func (s *limitSim) over() bool {
	r := s.core.Record()
	switch {
	case len(s.flights) > 0:
		return false
	case r.Final():
		return true
	case r.State == flow.StateError:
		return s.gone
	case r.State == flow.StateAwaitingInput:
		return s.absent
	default:
		return false
	}
}

// step takes an input that must be accepted.
func (s *limitSim) step(signal flow.Signal) {
	s.t.Helper()
	out, err := s.core.Step(flow.Input{At: s.now, Bits: s.dice.Uint64(), Signal: signal})
	if err != nil {
		s.log = append(s.log, slices.Clone(out.Events)...)
		s.failf("%T %+v: %v", signal, signal, err)
	}
	s.follow(out)
}

// proceed does one thing that may happen now.
func (s *limitSim) proceed() {
	r := s.core.Record()
	switch n := s.dice.IntN(60); {
	case n == 0:
		s.crash()
		return
	case n < 2:
		s.restart()
		return
	case n < 6 && len(s.past) > 0:
		s.ignored(oneOf(s.dice, s.past...))
		return
	case n < 8 && !s.restful && !r.Final():
		s.control()
		return
	case n < 10 && len(s.flights) > 0 && !s.wait.IsZero():
		s.tick()
		return
	default:
	}
	switch {
	case len(r.Inquiries) > 0 && !s.absent && !r.Final() && chance(s.dice, 2):
		s.answer()
	case len(s.flights) > 0:
		s.land(s.dice.IntN(len(s.flights)))
	case r.State == flow.StatePaused:
		s.step(flow.Resume{})
	case r.State == flow.StateAwaitingInput:
		s.answer()
	case r.State == flow.StateError:
		s.mend()
	case !s.wait.IsZero():
		s.tick()
	default:
		s.failf("nothing is due in state %s", r.State)
	}
}

func (s *limitSim) tick() {
	if chance(s.dice, 8) && s.waits() { // somebody does not want to wait
		s.step(flow.Retry{})
		return
	}
	s.now = later(s.now, s.wait)
	s.step(flow.Tick{})
}

// waits reports whether a participant waits for its next attempt.
func (s *limitSim) waits() bool {
	r := s.core.Record()
	if r.State == flow.StateCompleting {
		return false // what the rounds still waited for is no longer wanted
	}
	return !r.Working().Idle() && slices.ContainsFunc(r.Participants(), func(p flow.ParticipantState) bool {
		return !p.RetryAt.IsZero() && p.Status != flow.StatusSpeaking && p.Status != flow.StatusDropped && p.Status != flow.StatusFailed
	}) && r.State == r.Working()
}

// mend is what a host does about an error: it retries, ends the debate, or leaves it.
func (s *limitSim) mend() {
	if failure := s.core.Record().Failure; s.retries > 0 && failure.Retryable() && failure.Kind != provider.KindCostLimit {
		s.retries--
		s.step(flow.Retry{})
		s.seen.count("host's retry")
		return
	}
	switch s.dice.IntN(9) {
	case 0, 1, 2:
		s.step(flow.Stop{})
	case 3, 4:
		s.step(flow.Cancel{})
	default:
		s.gone = true
	}
}

// control pauses, stops or cancels.
func (s *limitSim) control() {
	r := s.core.Record()
	switch s.dice.IntN(8) {
	case 0:
		s.step(flow.Cancel{})
	case 1:
		if r.State != flow.StateCompleting {
			s.step(flow.Stop{})
		}
	default:
		if r.State != flow.StatePaused && r.State != flow.StateError {
			s.step(flow.Pause{Drain: chance(s.dice, 2)})
			s.seen.count("pause")
		}
	}
}

// land brings the outcome of a call.
func (s *limitSim) land(i int) {
	f := s.flights[i]
	s.flights = slices.Delete(s.flights, i, i+1)
	signal := s.outcome(f)
	s.past = append(s.past, signal)
	s.step(signal)
}

// ignored brings what was brought before: it leaves no trace, though time may have brought something due.
func (s *limitSim) ignored(signal flow.Signal) {
	from := len(s.log)
	s.step(signal)
	for _, e := range s.log[from:] {
		if slices.Contains(results(), e.Kind()) {
			s.failf("%+v was recorded again", signal)
		}
	}
	s.seen.count("duplicate")
}

// restart makes the core anew; who works on a call goes on.
func (s *limitSim) restart() {
	before := outline(s.core)
	s.core = s.reload()
	s.same("the log", outline(s.core), before)
	for _, f := range slices.Clone(s.flights) {
		if s.books.open[f.intent.Call] != f.intent {
			continue // another that was lost has changed what is asked
		}
		c, err := s.core.Command(f.intent.Call)
		if err == nil {
			s.checkCommand(f.intent, c)
			continue
		}
		if failure := (&debate.Error{}); !errors.As(err, &failure) || failure.Kind != provider.KindState {
			s.failf("%v", err)
		}
		s.step(flow.Lost{Call: f.intent.Call, Attempt: f.intent.Attempt})
		s.seen.count("call that is no longer wanted")
	}
	s.seen.count("restart")
}

// crash loses the process with all that it was working on. What it had asked for may still come, from nowhere.
func (s *limitSim) crash() {
	s.core = s.reload()
	for _, f := range s.flights {
		if chance(s.dice, 2) {
			s.past = append(s.past, flow.Result{Call: f.intent.Call, Attempt: f.intent.Attempt, Text: "This must not be recorded."})
		}
	}
	for _, lost := range s.core.InFlight() { // each takes a flight away, and may begin another
		s.step(lost)
	}
	s.seen.count("crash")
}

// answer is a person's, who does not always do what is asked.
func (s *limitSim) answer() {
	r := s.core.Record()
	q := oneOf(s.dice, r.Inquiries...)
	s.answers++
	s.seen.count("person's answer")
	if len(q.Options) > 0 {
		s.step(s.choice(&q))
		return
	}
	in := s.books.latest[q.ID]
	text := s.say(in, q.Schema)
	if s.dice.Float64() < s.faulty && in.Schema != "" && s.answers < 30 {
		if _, err := s.core.Step(flow.Input{At: s.now, Signal: flow.Answer{Inquiry: q.ID, Text: "{}"}}); err == nil {
			s.failf("a malformed answer of a person is accepted")
		}
	}
	if len(r.Dropped()) > 0 {
		text = nobodyWins(text) // whoever has left cannot win
	}
	if q.Max > 0 && len(text) > q.Max { // it would be refused
		text = strings.ToValidUTF8(text[:q.Max], "")
	}
	s.step(flow.Answer{Inquiry: q.ID, Text: text})
}
