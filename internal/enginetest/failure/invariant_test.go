package failure_test

import (
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
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

func TestAReplyAfterTheEndIsPaidAndNotHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		engine, p := stage.Engine(config)
		stage.Slowly(p)
		engine.Providers["test"] = stage.Unmoved{Provider: p}
		session := stage.Started(t, engine, config)
		stage.Pass(500 * time.Millisecond)
		require.NoError(t, session.Cancel(t.Context()))
		record := stage.Ended(t, session)
		assert.Equal(t, flow.StateCanceled, record.State)
		assert.Empty(t, record.Turns)
		assert.Zero(t, record.InFlight())
		assert.Equal(t, 100, record.Spent().Usage.Input, "the reply did come")
	})
}

func TestAfterTheEndOnlyTheSpendIsRecorded(t *testing.T) {
	failure := &debate.Error{Kind: provider.KindNetwork}
	for name, signal := range map[string]flow.Signal{
		"a reply":         flow.Result{Call: stage.AdasOpening, Attempt: 1, Text: "A word.", Usage: stage.LittleUsage},
		"a blank reply":   flow.Result{Call: stage.AdasOpening, Attempt: 1, Usage: stage.LittleUsage},
		"a failure":       flow.Failed{Call: stage.AdasOpening, Attempt: 1, Error: failure, Usage: stage.LittleUsage},
		"a lost attempt":  flow.Lost{Call: stage.AdasOpening, Attempt: 1},
		"being cut short": flow.Failed{Call: stage.AdasOpening, Attempt: 1, Error: &debate.Error{Kind: provider.KindCanceled}},
	} {
		t.Run(name, func(t *testing.T) {
			s := stage.Begun(t, stage.TwoDebaters())
			assert.Equal(t, []string{stage.AdasOpening}, s.Feed(flow.Cancel{}).Abort)
			out := s.Feed(signal)
			require.Equal(t, []flow.EventKind{flow.EventSpend}, stage.KindsOf(out.Events))
			charge := body.As[flow.Charge](out.Events[0])
			assert.Positive(t, int64(charge.Cost+charge.AtMost))
			assert.NotEqual(t, charge.BrokenOff, charge.Cost > 0)
			assert.Empty(t, out.Start)
			assert.Empty(t, s.Record().Turns)
			assert.Empty(t, s.Feed(flow.Tick{}).Events)
		})
	}
}

func TestACallIsOnlyVoidIfAControlBrokeItOff(t *testing.T) {
	canceled := debate.Error{Kind: provider.KindCanceled}
	t.Run("no control did", func(t *testing.T) {
		s := stage.Begun(t, stage.TwoDebaters())
		out := s.Fails(stage.AdasOpening, 1, canceled)
		require.Equal(t, []flow.EventKind{flow.EventFailed, flow.EventTransition}, stage.KindsOf(out.Events))
		assert.False(t, body.As[flow.Failure](out.Events[0]).Void)
		assert.True(t, body.As[flow.Failure](out.Events[0]).Final)
		assert.Empty(t, out.Start, "it is not repeated")
		assert.Equal(t, flow.StateError, s.Record().State)
	})
	t.Run("a draining pause did not", func(t *testing.T) {
		s := stage.Begun(t, stage.TwoDebaters())
		s.Feed(flow.Pause{Drain: true})
		assert.False(t, body.As[flow.Failure](s.Fails(stage.AdasOpening, 1, canceled).Events[0]).Void)
	})
	t.Run("a pause did", func(t *testing.T) {
		s := stage.Begun(t, stage.TwoDebaters())
		s.Feed(flow.Pause{})
		assert.True(t, body.As[flow.Failure](s.Fails(stage.AdasOpening, 1, canceled).Events[0]).Void)
		assert.Equal(t, []string{stage.AdasOpening}, s.Feed(flow.Resume{}).Start)
	})
	t.Run("a pause did, but it had failed by itself", func(t *testing.T) {
		s := stage.Begun(t, stage.TwoDebaters())
		for attempt := 1; attempt <= 2; attempt++ { // an unusable reply is tried once more, and no further
			s.Feed(flow.Pause{})
			failure := body.As[flow.Failure](s.Fails(stage.AdasOpening, attempt, debate.Error{Kind: provider.KindInvalidResponse}).Events[0])
			assert.False(t, failure.Void)
			assert.Equal(t, attempt == 2, failure.Final, "both attempts count")
			out := s.Feed(flow.Resume{})
			if attempt == 1 {
				assert.Empty(t, out.Start)
				require.Equal(t, failure.RetryAt, out.Wait)
				s.At = out.Wait
				assert.Equal(t, []string{stage.AdasOpening}, s.Feed(flow.Tick{}).Start)
			}
		}
		assert.Equal(t, flow.StateError, s.Record().State)

		s = stage.Begun(t, stage.TwoDebaters())
		s.Feed(flow.Pause{})
		failure := body.As[flow.Failure](s.Fails(stage.AdasOpening, 1, debate.Error{Kind: provider.KindRateLimit, RetryAfter: 30 * time.Second}).Events[0])
		assert.False(t, failure.Void)
		assert.Equal(t, s.At.Add(30*time.Second), failure.RetryAt, "the vendor is not asked again before it said so")
		out := s.Feed(flow.Resume{})
		assert.Empty(t, out.Start)
		assert.Equal(t, failure.RetryAt, out.Wait)
	})
}

func TestAHostRetriesAsOftenAsItLikes(t *testing.T) {
	s := stage.Begun(t, stage.TwoDebaters())
	noQuota := debate.Error{Kind: provider.KindQuota}
	for _, call := range []string{stage.AdasOpening, stage.BensOpening} {
		for attempt := range 9 {
			s.Fails(call, attempt+1, noQuota)
			assert.Equal(t, []string{call}, s.Feed(flow.Retry{}).Start, "retry %d", attempt+1)
		}
		s.Says(call, 10)
	}
	assert.Len(t, s.Record().Turns, 2)
}

func TestTheEarliestOfSeveralWaitsCounts(t *testing.T) {
	for name, waits := range map[string][2]time.Duration{
		"the first's":  {7 * time.Second, 30 * time.Second},
		"the second's": {30 * time.Second, 7 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			s := stage.Begun(t, stage.Brief())
			began, early, late := s.At, stage.AdasOpening, stage.BensOpening
			if waits[1] < waits[0] {
				early, late = late, early
			}
			s.Fails(stage.AdasOpening, 1, debate.Error{Kind: provider.KindAPI, RetryAfter: waits[0]})
			out := s.Fails(stage.BensOpening, 1, debate.Error{Kind: provider.KindAPI, RetryAfter: waits[1]})
			assert.Empty(t, out.Start)
			assert.Equal(t, began.Add(7*time.Second), out.Wait)
			s.At = out.Wait
			out = s.Feed(flow.Tick{})
			assert.Equal(t, []string{early}, out.Start)
			assert.Equal(t, began.Add(30*time.Second), out.Wait, "then the other's is the earliest")
			s.At = out.Wait
			assert.Equal(t, []string{late}, s.Feed(flow.Tick{}).Start)
		})
	}
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
			config := stage.TwoDebaters()
			config.Retry = &debate.RetryPolicy{
				Max: map[debate.Kind]int{tc.kind: tries}, Base: tc.base, Cap: most, Jitter: time.Second, RateLimit: tc.rateLimit,
			}
			s := stage.Begun(t, config)
			s.Bits = uint64(time.Second) // the most that the jitter can be
			var waits []time.Duration
			for attempt := range tries {
				out := s.Fails(stage.AdasOpening, attempt+1, debate.Error{Kind: tc.kind})
				require.False(t, out.Wait.IsZero(), "attempt %d", attempt+1)
				waits = append(waits, out.Wait.Sub(s.At))
				s.At = out.Wait
				require.Equal(t, []string{stage.AdasOpening}, s.Feed(flow.Tick{}).Start)
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
	f := stage.Reflecting()
	step := f.Steps["reflecting"]
	f.Steps["reflecting"] = flow.Step{Next: step.Next, Calls: func(r *debate.Record) []*flow.Call {
		calls := step.Calls(r)
		for i := range calls {
			calls[i].Model, calls[i].View = "test/small", flow.View{From: r.Round}
		}
		return calls
	}}
	config := stage.TwoDebaters()
	config.Context = "counting"
	config.Participants[0].Fallbacks = []string{"test/small"}
	engine, p := stage.Engine(config)
	engine.Flows = map[string]*debate.Flow{f.Name: f}
	engine.Models["test/small"] = debate.Model{Priced: true, Window: 4300}
	var planned, sent []int
	engine.Contexts = map[string]debate.ContextManager{"counting": counting{&planned}}
	stage.Run(t, engine, stage.InFlow(engine, config))
	for _, req := range p.Requests() {
		if strings.Contains(req.ID, ".reflection.") {
			sent = append(sent, len(req.Messages))
		}
	}
	assert.Equal(t, []int{2, 2}, sent, "in the second round too it is two messages, not five")
	assert.Subset(t, planned, sent)
}
