package debate_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

const bensOpening = "r1.opening.Ben"

// little is what a short reply uses.
var little = provider.Usage{Input: 10, Output: 10}

// stepper steps a core by hand, on a clock of its own and without jitter unless a test says so.
type stepper struct {
	*flow.Core
	t    *testing.T
	at   time.Time
	bits uint64
}

// begun is the core of a debate that has just started.
func begun(t *testing.T, config debate.Config) *stepper {
	t.Helper()
	engine, _ := engineFor(config)
	return begunBy(t, engine, config)
}

func begunBy(t *testing.T, engine *debate.Engine, config debate.Config) *stepper {
	t.Helper()
	start, err := engine.Freeze(config)
	require.NoError(t, err)
	core, err := engine.NewCore("stepped", nil)
	require.NoError(t, err)
	s := &stepper{Core: core, t: t, at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	for _, signal := range []flow.Signal{flow.Edit{Config: config}, flow.Validate{}, flow.Validated{OK: true}, start} {
		s.step(signal)
	}
	return s
}

func (s *stepper) step(signal flow.Signal) flow.Output {
	s.t.Helper()
	out, err := s.Step(flow.Input{At: s.at, Bits: s.bits, Signal: signal})
	require.NoError(s.t, err)
	return out
}

// says brings a short reply to a call's attempt.
func (s *stepper) says(call string, attempt int) flow.Output {
	s.t.Helper()
	return s.step(flow.Result{Call: call, Attempt: attempt, Text: "A word.", Usage: little})
}

// fails brings the failure of a call's attempt, for which nothing was paid.
func (s *stepper) fails(call string, attempt int, failure debate.Error) flow.Output {
	s.t.Helper()
	return s.step(flow.Failed{Call: call, Attempt: attempt, Error: &failure, Free: true})
}

// brief is a debate of one round in which everybody speaks at once, and nobody judges.
func brief() debate.Config {
	config := twoDebaters()
	config.Mode, config.Rounds, config.MaxTokens, config.Judging = debate.Simultaneous, 1, 300, nil
	return config
}

// worstCases is the most that the calls of a debate's first step can cost.
func worstCases(t *testing.T, config debate.Config) debate.Money {
	t.Helper()
	return begun(t, config).Record().Reserved()
}

// unmoved does not hear that it is broken off.
type unmoved struct{ *scripted.Provider }

func (p unmoved) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	return p.Provider.Generate(context.WithoutCancel(ctx), req, emit)
}

func TestAReplyAfterTheEndIsPaidAndNotHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := twoDebaters()
		engine, p := engineFor(config)
		slowly(p)
		engine.Providers["test"] = unmoved{p}
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		defer session.Close()
		pass(500 * time.Millisecond)
		require.NoError(t, session.Cancel(t.Context()))
		record, err := session.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, flow.StateCanceled, record.State)
		assert.Empty(t, record.Turns)
		assert.Zero(t, record.InFlight())
		assert.Equal(t, 100, record.Spent().Usage.Input, "the reply did come")
	})
}

func TestAfterTheEndOnlyTheSpendIsRecorded(t *testing.T) {
	failure := &debate.Error{Kind: provider.KindNetwork}
	for name, signal := range map[string]flow.Signal{
		"a reply":         flow.Result{Call: adasOpening, Attempt: 1, Text: "A word.", Usage: little},
		"a blank reply":   flow.Result{Call: adasOpening, Attempt: 1, Usage: little},
		"a failure":       flow.Failed{Call: adasOpening, Attempt: 1, Error: failure, Usage: little},
		"a lost attempt":  flow.Lost{Call: adasOpening, Attempt: 1},
		"being cut short": flow.Failed{Call: adasOpening, Attempt: 1, Error: &debate.Error{Kind: provider.KindCanceled}},
	} {
		t.Run(name, func(t *testing.T) {
			s := begun(t, twoDebaters())
			assert.Equal(t, []string{adasOpening}, s.step(flow.Cancel{}).Abort)
			out := s.step(signal)
			require.Equal(t, []flow.EventKind{flow.EventSpend}, told(out.Events))
			assert.Positive(t, int64(as[flow.Charge](out.Events[0]).Cost))
			assert.Empty(t, out.Start)
			assert.Empty(t, s.Record().Turns)
			assert.Empty(t, s.step(flow.Tick{}).Events)
		})
	}
}

func TestACallIsOnlyVoidIfAControlBrokeItOff(t *testing.T) {
	canceled := debate.Error{Kind: provider.KindCanceled}
	t.Run("no control did", func(t *testing.T) {
		s := begun(t, twoDebaters())
		out := s.fails(adasOpening, 1, canceled)
		require.Equal(t, []flow.EventKind{flow.EventFailed, flow.EventTransition}, told(out.Events))
		assert.False(t, as[flow.Failure](out.Events[0]).Void)
		assert.True(t, as[flow.Failure](out.Events[0]).Final)
		assert.Empty(t, out.Start, "it is not repeated")
		assert.Equal(t, flow.StateError, s.Record().State)
	})
	t.Run("a draining pause did not", func(t *testing.T) {
		s := begun(t, twoDebaters())
		s.step(flow.Pause{Drain: true})
		assert.False(t, as[flow.Failure](s.fails(adasOpening, 1, canceled).Events[0]).Void)
	})
	t.Run("a pause did", func(t *testing.T) {
		s := begun(t, twoDebaters())
		s.step(flow.Pause{})
		assert.True(t, as[flow.Failure](s.fails(adasOpening, 1, canceled).Events[0]).Void)
		assert.Equal(t, []string{adasOpening}, s.step(flow.Resume{}).Start)
	})
	t.Run("a pause did, but it had failed by itself", func(t *testing.T) {
		s := begun(t, twoDebaters())
		for attempt := 1; attempt <= 2; attempt++ { // an unusable reply is tried once more, and no further
			s.step(flow.Pause{})
			failure := as[flow.Failure](s.fails(adasOpening, attempt, debate.Error{Kind: provider.KindInvalidResponse}).Events[0])
			assert.False(t, failure.Void)
			assert.Equal(t, attempt == 2, failure.Final, "both attempts count")
			out := s.step(flow.Resume{})
			if attempt == 1 {
				assert.Empty(t, out.Start)
				require.Equal(t, failure.RetryAt, out.Wait)
				s.at = out.Wait
				assert.Equal(t, []string{adasOpening}, s.step(flow.Tick{}).Start)
			}
		}
		assert.Equal(t, flow.StateError, s.Record().State)

		s = begun(t, twoDebaters())
		s.step(flow.Pause{})
		failure := as[flow.Failure](s.fails(adasOpening, 1, debate.Error{Kind: provider.KindRateLimit, RetryAfter: 30 * time.Second}).Events[0])
		assert.False(t, failure.Void)
		assert.Equal(t, s.at.Add(30*time.Second), failure.RetryAt, "the vendor is not asked again before it said so")
		out := s.step(flow.Resume{})
		assert.Empty(t, out.Start)
		assert.Equal(t, failure.RetryAt, out.Wait)
	})
}

func TestAHostRetriesThreeTimesBetweenTwoResults(t *testing.T) {
	s := begun(t, twoDebaters())
	noQuota := debate.Error{Kind: provider.KindQuota}
	for _, call := range []string{adasOpening, bensOpening} {
		for attempt := range 3 {
			s.fails(call, attempt+1, noQuota)
			assert.Equal(t, []string{call}, s.step(flow.Retry{}).Start, "retry %d", attempt+1)
		}
		if call == adasOpening {
			s.says(call, 4) // progress: there are three more
		}
	}
	s.fails(bensOpening, 4, noQuota)
	_, err := s.Step(flow.Input{At: s.at, Signal: flow.Retry{}})
	requireKind(t, err, provider.KindState)
	assert.Equal(t, flow.StateError, s.Record().State)
}

func TestAReaderWhoHasHeardAFalseStartEndsWithTheTurnsText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := twoDebaters()
		engine, p := engineFor(config)
		slowly(p)
		engine.Providers["test"] = trimming{p}
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		defer session.Close()
		tr, heard := newTranscript(t), 0
		tr.follow(session, func(e debate.Event) {
			if e.Kind() == flow.EventChunk && strings.Contains(as[flow.Chunk](e).Text, "a false start") {
				heard++
			}
		})
		assert.Equal(t, 6, heard, "every false start was shown")
		assert.Len(t, tr.turns, 6)
	})
}

func TestTheEarliestOfSeveralWaitsCounts(t *testing.T) {
	for name, waits := range map[string][2]time.Duration{
		"the first's":  {7 * time.Second, 30 * time.Second},
		"the second's": {30 * time.Second, 7 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			s := begun(t, brief())
			began, early, late := s.at, adasOpening, bensOpening
			if waits[1] < waits[0] {
				early, late = late, early
			}
			s.fails(adasOpening, 1, debate.Error{Kind: provider.KindAPI, RetryAfter: waits[0]})
			out := s.fails(bensOpening, 1, debate.Error{Kind: provider.KindAPI, RetryAfter: waits[1]})
			assert.Empty(t, out.Start)
			assert.Equal(t, began.Add(7*time.Second), out.Wait)
			s.at = out.Wait
			out = s.step(flow.Tick{})
			assert.Equal(t, []string{early}, out.Start)
			assert.Equal(t, began.Add(30*time.Second), out.Wait, "then the other's is the earliest")
			s.at = out.Wait
			assert.Equal(t, []string{late}, s.step(flow.Tick{}).Start)
		})
	}
}

func TestTurnsFromBeforeTheSessionComeWithoutChunks(t *testing.T) {
	for name, reopen := range map[string]func(*debate.Engine, context.Context, flow.Config) (*debate.Session, error){
		"opened": func(e *debate.Engine, ctx context.Context, config flow.Config) (*debate.Session, error) {
			return e.Open(ctx, config.Terms().ID)
		},
		"started again": (*debate.Engine).Start,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config := twoDebaters()
				config.ID = "before"
				engine, p := engineFor(config)
				slowly(p)
				first, err := engine.Start(t.Context(), config)
				require.NoError(t, err)
				pass(2500 * time.Millisecond) // the judge is at work
				require.NoError(t, first.Close())
				session, err := reopen(engine, t.Context(), config)
				require.NoError(t, err)
				defer session.Close()
				spoken := map[string]bool{}
				tr := newTranscript(t)
				tr.follow(session, func(e debate.Event) {
					if e.Kind() == flow.EventChunk {
						spoken[as[flow.Chunk](e).Call] = true
					}
				})
				assert.NotContains(t, spoken, adasOpening)
				assert.NotContains(t, spoken, bensOpening)
				assert.Len(t, spoken, 4, "the turns of this session do")
				assert.Len(t, tr.done, 6)
			})
		})
	}
}

func TestNoChunkComesBeforeItsCallsIntent(t *testing.T) {
	inBubble(t, twoDebaters(), func(t *testing.T, s *debate.Session, _ *scripted.Provider) {
		intended := map[string]bool{}
		chunks := 0
		for event, err := range s.Events(t.Context(), 0) {
			require.NoError(t, err)
			switch event.Kind() {
			case flow.EventIntent:
				intended[as[flow.Intent](event).Call] = true
			case flow.EventChunk:
				chunks++
				assert.True(t, intended[as[flow.Chunk](event).Call], "%s", as[flow.Chunk](event).Call)
			}
			pass(330 * time.Millisecond) // so slow a reader is always behind
		}
		assert.Positive(t, chunks)
	})
}

func TestNoWaitIsLongerThanItsCap(t *testing.T) {
	const tries, most = 80, 10 * time.Second
	for name, tc := range map[string]struct {
		kind      debate.Kind
		base      time.Duration
		rateLimit time.Duration
	}{
		"doubled many times":          {provider.KindNetwork, time.Second, 0},
		"a first wait beyond the cap": {provider.KindNetwork, time.Minute, 0},
		"a rate limit's own wait":     {provider.KindRateLimit, time.Second, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			config := twoDebaters()
			config.Retry = &debate.RetryPolicy{
				Max: map[debate.Kind]int{tc.kind: tries}, Base: tc.base, Cap: most, Jitter: time.Second, RateLimit: tc.rateLimit,
			}
			s := begun(t, config)
			s.bits = uint64(time.Second) // the most that the jitter can be
			var waits []time.Duration
			for attempt := range tries {
				out := s.fails(adasOpening, attempt+1, debate.Error{Kind: tc.kind})
				require.False(t, out.Wait.IsZero(), "attempt %d", attempt+1)
				waits = append(waits, out.Wait.Sub(s.at))
				s.at = out.Wait
				require.Equal(t, []string{adasOpening}, s.step(flow.Tick{}).Start)
			}
			assert.Equal(t, most+time.Second, slices.Max(waits))
			assert.Equal(t, most+time.Second, waits[tries-1])
		})
	}
}

// counting is a context manager that sends all, and notes how much was asked about.
type counting struct{ lengths *[]int }

func (c counting) Plan(p window.Problem) window.Plan {
	*c.lengths = append(*c.lengths, p.Len())
	return window.Plan{Fits: true, TooBig: -1}
}

func TestACallIsPlannedOnTheMessagesThatItReads(t *testing.T) {
	f := reflecting()
	step := f.Steps["reflecting"]
	f.Steps["reflecting"] = flow.Step{Next: step.Next, Calls: func(r *debate.Record) []flow.Call {
		calls := step.Calls(r)
		for i := range calls {
			calls[i].Model, calls[i].View = "test/small", flow.View{From: r.Round}
		}
		return calls
	}}
	config := twoDebaters()
	config.Context = "counting"
	config.Participants[0].Fallbacks = []string{"test/small"}
	engine, p := engineFor(config)
	engine.Flows = map[string]*debate.Flow{f.Name: f}
	engine.Models["test/small"] = debate.Model{Priced: true, Context: 4300}
	var planned, sent []int
	engine.Contexts = map[string]debate.ContextManager{"counting": counting{&planned}}
	run(t, engine, inFlow(engine, config))
	for _, req := range p.Requests() {
		if strings.Contains(req.ID, ".reflection.") {
			sent = append(sent, len(req.Messages))
		}
	}
	assert.Equal(t, []int{2, 2}, planned, "in the second round too it is two messages, not five")
	assert.Equal(t, planned, sent)
}
