package simulation_test

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
)

// fewer divides the numbers of seeds.
var fewer = longform.Fewer()

var simSeeds = flag.Uint64("sim.seeds", longform.Sized[uint64](2_000, 40, 12), "how many seeds TestSimulation plays")

// TestSimulation plays each seed's debate twice: once undisturbed, and once with pauses, failures,
// duplicates, late and overtaken results, rejected answers, crashes and refused inputs, on a core
// that is made anew from JSON before every step. Both must end in the same canonical record.
func TestSimulation(t *testing.T) {
	const shards = 4
	var seen [shards]troubles
	t.Run("seeds", func(t *testing.T) {
		for shard := range uint64(shards) {
			t.Run(fmt.Sprintf("%d of %d", shard+1, shards), func(t *testing.T) {
				t.Parallel()
				engine := kernel.Of(t, simEngine())
				for seed := shard; seed < *simSeeds; seed += shards {
					add(&seen[shard], simulate(t, engine, seed))
				}
			})
		}
	})
	if t.Failed() {
		return
	}
	for i := range seen[1:] {
		add(&seen[0], seen[i+1])
	}
	t.Logf("runs %d/%d, through %+v", *simSeeds, *simSeeds, seen[0])
	if *simSeeds < 2_000 {
		return // too few to meet everything
	}
	for name, n := range map[string]int{
		"failure": seen[0].Failed, "rejected answer": seen[0].Rejected, "voided attempt": seen[0].Void,
		"pause": seen[0].Paused, "error": seen[0].Errors, "warning to be acknowledged": seen[0].Warned,
		"question about a failure": seen[0].Asked, "dropped participant": seen[0].Dropped, "shortened request": seen[0].Shortened,
		"fallback": seen[0].Fallbacks, "late result": seen[0].Late,
		"position": seen[0].Assigned, "summary": seen[0].Summaries, "answer of a person": seen[0].Answers,
		"answer of a rule": seen[0].Rules, "skipped call": seen[0].Skipped, "outage": seen[0].Outages, "waiting that was cut short": seen[0].RetriedNow,
	} {
		assert.Positive(t, n, "%s: the simulation no longer meets one", name)
	}
}

// troubles count what the debates went through.
type troubles struct {
	Events, Failed, Void, Rejected, Paused, Errors, Warned, Asked, Dropped, Shortened, Fallbacks, Late int
	Assigned, Summaries, Answers, Rules, Skipped, Outages, RetriedNow                                  int
}

// note counts one event.
func (n *troubles) note(e *debate.Event) {
	n.Events++
	switch {
	case body.As[flow.Failure](*e) != nil && body.As[flow.Failure](*e).Void:
		n.Void++
	case body.As[flow.Failure](*e) != nil:
		n.Failed++
		if body.As[flow.Failure](*e).Next != "" {
			n.Fallbacks++
		}
	case body.As[flow.Rejection](*e) != nil:
		n.Rejected++
	case e.Kind() == flow.EventSpend:
		n.Late++
	case body.As[debate.Assignment](*e) != nil:
		n.Assigned++
	case body.As[flow.Summarized](*e) != nil:
		n.Summaries++
	case body.As[flow.Answer](*e) != nil && body.As[flow.Answer](*e).Rule:
		n.Rules++
	case body.As[flow.Answer](*e) != nil:
		n.Answers++
	case body.As[flow.Skipped](*e) != nil:
		n.Skipped++
	case e.Kind() == flow.EventRetriedNow:
		n.RetriedNow++
	case body.As[flow.Warning](*e) != nil && body.As[flow.Warning](*e).Kind == flow.WarnOutage:
		n.Outages++
	case body.As[flow.Inquiry](*e) != nil && len(body.As[flow.Inquiry](*e).Options) > 0:
		n.Asked++
	case body.As[flow.Dropped](*e) != nil:
		n.Dropped++
	case body.As[flow.Warning](*e) != nil && body.As[flow.Warning](*e).Kind == flow.WarnShort:
		n.Shortened++
	case body.As[flow.Transition](*e) == nil:
	case body.As[flow.Transition](*e).To == flow.StatePaused:
		n.Paused++
	case body.As[flow.Transition](*e).To == flow.StateError:
		n.Errors++
	case body.As[flow.Transition](*e).On == flow.TriggerWarn:
		n.Warned++
	}
}

// simulate plays one seed.
func simulate(t *testing.T, engine *kernel.Engine, seed uint64) troubles {
	t.Helper()
	plain := newSim(t, engine, seed)
	plain.play()
	disturbed := newSim(t, engine, seed)
	disturbed.trouble, disturbed.start, disturbed.told = true, plain.start, plain.told
	disturbed.play()
	want, got := stage.Canonical(t, plain.live.Record()), stage.Canonical(t, disturbed.core.Record())
	switch {
	case !plain.core.Record().Final() || plain.core.Record().State != flow.StateCompleted:
		plain.failf("the undisturbed debate ended in state %s", plain.core.Record().State)
	case disturbed.cutShort:
		disturbed.checkCutShort(plain)
	case disturbed.thinned():
		disturbed.checkThinned(plain)
	case got != want:
		disturbed.failf("the record is\n%s\nand undisturbed\n%s", got, want)
	}
	disturbed.checkEnd()
	var seen troubles
	for i := range disturbed.log {
		seen.note(&disturbed.log[i])
	}
	return seen
}

// play goes on until the debate is over and nothing is on its way.
func (s *sim) play() {
	s.begin()
	for range 5_000 {
		if s.core.Record().Final() && len(s.flights) == 0 {
			return
		}
		s.now = s.now.Add(time.Duration(s.dice.IntN(2_000)) * time.Millisecond)
		if s.trouble {
			s.disturb()
		} else {
			s.proceed(0)
		}
	}
	s.failf("the debate does not end: it stands in state %s with %d calls in flight", s.core.Record().State, len(s.flights))
}

// proceed does what a runtime does: it brings the i-th result that is on its way, or lets time pass.
func (s *sim) proceed(i int) {
	r := s.core.Record()
	switch {
	case len(s.flights) > 0:
		s.land(i)
	case r.State == flow.StatePaused:
		s.accepted(flow.Resume{})
	case r.State == flow.StateAwaitingInput && len(r.Inquiries) > 0:
		s.accepted(s.asked(&r.Inquiries[0]))
	case r.State == flow.StateError:
		s.accepted(flow.Retry{})
	case !s.wait.IsZero():
		s.now = later(s.now, s.wait)
		s.accepted(flow.Tick{})
	default:
		s.failf("nothing is due in state %s", r.State)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// disturb does one thing at random.
func (s *sim) disturb() {
	r := s.core.Record()
	switch s.dice.IntN(24) {
	case 0:
		s.control(flow.Pause{Drain: s.dice.IntN(2) == 0, Reason: s.reason()}, s.pausable())
	case 1:
		s.control(flow.Resume{Reason: s.reason()}, r.State == flow.StatePaused)
	case 2:
		s.repeat()
	case 3:
		s.outdated()
	case 4:
		s.accepted(flow.Tick{}) // early, late or needless
	case 5:
		s.crash()
	case 6:
		s.refused(s.nonsense())
	case 7:
		s.control(flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionContinue}, s.confirms && !r.Final())
	case 8:
		s.retry()
	case 9:
		s.cut()
	default:
		if n := len(s.flights); n > 0 {
			s.proceed(s.dice.IntN(n))
			return
		}
		if !r.Final() {
			s.proceed(0)
		}
	}
}

// control sends an input that is refused unless it is possible.
func (s *sim) control(signal flow.Signal, possible bool) {
	if possible {
		s.accepted(signal)
	} else {
		s.refused(signal)
	}
}

// reason is why the host asks for a control: often it does not say. It follows from the log, so that it draws nothing.
func (s *sim) reason() string {
	return []string{"", "it is late", strings.Repeat("é", flow.MaxReason/2)}[len(s.log)%3]
}

func (s *sim) pausable() bool {
	switch s.core.Record().State {
	case flow.StatePaused, flow.StateError, flow.StateCompleted, flow.StateCanceled:
		return false
	default:
		return true
	}
}

// retry cuts the waiting short, or leaves the error state. It is refused where nothing waits.
func (s *sim) retry() {
	waits := slices.ContainsFunc(slices.Collect(maps.Values(s.waits)), s.now.Before)
	switch {
	case s.state == flow.StateError, waits && !atRest(s.state):
		s.accepted(flow.Retry{Reason: s.reason()})
	case atRest(s.state), len(s.waits) == 0 && !slices.ContainsFunc(s.core.Record().Answers, isWait):
		s.refused(flow.Retry{})
	default: // it may just have begun, or a call that was chosen to be waited for waits as long as its vendor asks
	}
}

func isWait(a flow.Answer) bool { return a.Option == flow.OptionWait }

// cut ends some of the debates before their time.
func (s *sim) cut() {
	if !s.short || s.core.Record().Final() || s.dice.IntN(4) > 0 {
		return
	}
	s.cutShort = true
	if s.dice.IntN(2) == 0 {
		s.accepted(flow.Cancel{Reason: s.reason()})
		return
	}
	s.control(flow.Stop{Reason: s.reason()}, s.core.Record().State != flow.StateCompleting)
}

// repeat brings once more what has been brought before.
func (s *sim) repeat() {
	if len(s.past) > 0 {
		s.ignored(s.past[s.dice.IntN(len(s.past))])
	}
}

// outdated brings the reply to an attempt that is not outstanding.
func (s *sim) outdated() {
	if len(s.intents) == 0 {
		return
	}
	in := s.intents[s.dice.IntN(len(s.intents))]
	attempt := in.Attempt - 1
	if s.dice.IntN(2) == 0 {
		attempt = in.Attempt + 1_000
	}
	s.ignored(flow.Result{Call: in.Call, Attempt: attempt, Text: "This must not be recorded."})
}

// crash loses the process: whoever opens the log gives up the calls in flight. Some of their
// results come late, from nowhere.
func (s *sim) crash() {
	for _, f := range s.flights {
		if s.dice.IntN(2) == 0 {
			s.past = append(s.past, flow.Result{Call: f.command.Call, Attempt: f.command.Attempt, Text: "This must not be recorded."})
		}
	}
	lost := s.flights
	s.flights = nil
	for _, f := range lost {
		s.accepted(flow.Lost{Call: f.command.Call, Attempt: f.command.Attempt})
	}
}

// nonsense is an input that is refused in every state of a debate that runs.
func (s *sim) nonsense() flow.Signal {
	r := s.core.Record()
	all := []flow.Signal{
		flow.Validate{},
		flow.Validated{OK: true},
		flow.Edit{Config: debate.Config{Topic: "Another topic"}},
		*s.start,
		flow.Answer{Inquiry: "nobody.asked", Text: "This."},
		flow.Answer{Inquiry: s.intents[0].Call, Text: "This."},
		flow.Sent{Trigger: "dance"},
		flow.Sent{Trigger: flow.TriggerCompleted, Reason: "it is late"},
		nil,
	}
	if r.State != flow.StatePaused {
		all = append(all, flow.Resume{})
	}
	if r.Final() {
		all = append(all, flow.Stop{}, flow.Cancel{}, flow.Pause{}, flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionContinue})
	}
	return all[s.dice.IntN(len(all))]
}
