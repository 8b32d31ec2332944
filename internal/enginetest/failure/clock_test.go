package failure_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// failing makes the first so many attempts at Ada's first turn fail.
func failing(attempts int, failure *provider.Error) func(*debate.Engine, *scripted.Provider) {
	return func(_ *debate.Engine, p *scripted.Provider) {
		stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
			call, attempt := stage.CutAttempt(req.ID)
			if n, err := strconv.Atoi(attempt); err == nil && strings.HasSuffix(call, "/r1.opening.Ada") && n <= attempts {
				r.Err = failure
			}
		})
	}
}

// openings yields the attempts at Ada's first turn, and how long after the failure before it each was made.
func openings(events []debate.Event) (attempts []*flow.Intent, waits []time.Duration) {
	var failed time.Time
	for i := range events {
		e := &events[i]
		switch {
		case e.Kind() == flow.EventFailed && body.As[flow.Failure](*e).Call == stage.AdasOpening:
			failed = e.At
		case e.Kind() == flow.EventIntent && body.As[flow.Intent](*e).Call == stage.AdasOpening:
			attempts = append(attempts, body.As[flow.Intent](*e))
			if !failed.IsZero() {
				waits = append(waits, e.At.Sub(failed))
			}
		}
	}
	return attempts, waits
}

// halted yields why Ada's opening has halted a debate: the error that it has stopped with if nobody is there, or else what
// a person is asked about.
func halted(t *testing.T, unattended bool, events []debate.Event, err error) *debate.Error {
	t.Helper()
	var failure *debate.Error
	for i := range events {
		if q := body.As[flow.Inquiry](events[i]); q != nil {
			require.Nil(t, failure, "one question")
			require.Len(t, q.About, 1)
			require.Equal(t, stage.AdasOpening, q.About[0].Call)
			without := []debate.Option{flow.OptionRetry, flow.OptionWait, flow.OptionModel, flow.OptionSkip, flow.OptionEnd}
			require.Equal(t, without, q.Options, "one of two is not dropped in the first round")
			failure = q.Failure
		}
	}
	if unattended {
		require.Nil(t, failure, "nobody is asked")
		require.ErrorAs(t, err, &failure)
		return failure
	}
	require.ErrorIs(t, err, debate.ErrAwaitingInput)
	require.NotNil(t, failure)
	return failure
}

func TestRetriesWait(t *testing.T) {
	s := time.Second
	for name, test := range map[string]struct {
		failure provider.Error
		policy  *debate.RetryPolicy
		fails   int
		waits   []time.Duration // without the jitter
	}{
		"a network failure backs off":           {provider.Error{Kind: provider.KindNetwork}, nil, 3, []time.Duration{s, 2 * s, 4 * s}},
		"a vendor's failure is tried twice":     {provider.Error{Kind: provider.KindAPI}, nil, 2, []time.Duration{s, 2 * s}},
		"an unusable reply is tried once":       {provider.Error{Kind: provider.KindInvalidResponse}, nil, 1, []time.Duration{s}},
		"a rate limit with a hint waits for it": {provider.Error{Kind: provider.KindRateLimit, RetryAfter: 7 * s}, nil, 2, []time.Duration{7 * s, 7 * s}},
		"a hint as long as the cap is kept":     {provider.Error{Kind: provider.KindRateLimit, RetryAfter: 60 * s}, nil, 1, []time.Duration{60 * s}},
		"a rate limit without one waits 60 s":   {provider.Error{Kind: provider.KindRateLimit}, nil, 2, []time.Duration{60 * s, 60 * s}},
		// Moonshot's limit on calls side by side: MoneyPrinterTurbo#339 (2024-05-06), read 2026-11-29. It lasts as long as the other call.
		"a short hint is the least":         {provider.Error{Kind: provider.KindRateLimit, RetryAfter: s}, nil, 5, []time.Duration{s, 2 * s, 4 * s, 8 * s, 16 * s}},
		"a hint of milliseconds":            {provider.Error{Kind: provider.KindRateLimit, RetryAfter: 28 * time.Millisecond}, nil, 2, []time.Duration{s, 2 * s}},
		"a long hint is no longer for that": {provider.Error{Kind: provider.KindRateLimit, RetryAfter: 9 * s}, nil, 5, []time.Duration{9 * s, 9 * s, 9 * s, 9 * s, 16 * s}},
		"a hint counts for every kind":      {provider.Error{Kind: provider.KindAPI, RetryAfter: 9 * s}, nil, 1, []time.Duration{9 * s}},
		"a policy of the host's own": {
			provider.Error{Kind: provider.KindNetwork},
			&debate.RetryPolicy{Max: map[debate.Kind]int{provider.KindNetwork: 5}, Base: 3 * s, Cap: 10 * s, Jitter: 2 * s},
			5,
			[]time.Duration{3 * s, 6 * s, 10 * s, 10 * s, 10 * s},
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Retry = test.policy
			jitter := s
			if test.policy != nil {
				jitter = test.policy.Jitter
			}
			events, err := stage.OnClock(t, config, failing(test.fails, &test.failure))
			require.NoError(t, err)
			attempts, waits := openings(events)
			require.Len(t, attempts, test.fails+1)
			require.Len(t, waits, len(test.waits))
			for i, wait := range waits {
				assert.GreaterOrEqual(t, wait, test.waits[i], "wait %d", i+1)
				assert.LessOrEqual(t, wait, test.waits[i]+jitter, "wait %d", i+1)
			}
		})
	}
}

// TestAShortHintLeavesTimeInAnOutage: where a limit outlasts the retries, the waits go on growing.
func TestAShortHintLeavesTimeInAnOutage(t *testing.T) {
	events, err := stage.OnClock(t, stage.Patient(false), failing(1_000, &provider.Error{Kind: provider.KindRateLimit, RetryAfter: time.Second}))
	require.ErrorIs(t, err, &debate.Error{Kind: provider.KindRateLimit})
	attempts, waits := openings(events)
	assert.Less(t, len(attempts), 20)
	assert.GreaterOrEqual(t, waits[len(waits)-1], time.Minute)
}

// TestJitter: waits differ, and fill the span that they are drawn from.
func TestJitter(t *testing.T) {
	config := stage.TwoDebaters()
	config.Retry = &debate.RetryPolicy{Max: map[debate.Kind]int{provider.KindNetwork: 100}, Base: time.Second, Cap: time.Second, Jitter: time.Second}
	events, err := stage.OnClock(t, config, failing(100, &provider.Error{Kind: provider.KindNetwork}))
	require.NoError(t, err)
	_, waits := openings(events)
	require.Len(t, waits, 100)
	var low, high int
	for _, wait := range waits {
		require.GreaterOrEqual(t, wait, time.Second)
		require.LessOrEqual(t, wait, 2*time.Second)
		if wait < 1500*time.Millisecond {
			low++
		} else {
			high++
		}
	}
	assert.Greater(t, low, 10)
	assert.Greater(t, high, 10)
}

// TestTriesEnd: each kind has its number of retries, after which the debate asks about it, or stops with that kind if
// nobody is there.
func TestTriesEnd(t *testing.T) {
	for kind, requests := range map[provider.Kind]int{
		provider.KindNetwork: 4, provider.KindRateLimit: 6, provider.KindAPI: 3, provider.KindTimeout: 3, provider.KindInvalidResponse: 2,
		provider.KindQuota: 1, provider.KindAuthentication: 1, provider.KindRefusal: 1, provider.KindContentFilter: 1, provider.KindValidation: 1,
	} {
		for _, config := range []debate.Config{stage.TwoDebaters(), stage.Attended()} {
			t.Run(fmt.Sprintf("%s/unattended: %t", kind, config.Unattended), func(t *testing.T) {
				var p *scripted.Provider
				events, err := stage.OnClock(t, config, func(e *debate.Engine, made *scripted.Provider) {
					p = made
					failing(1_000, &provider.Error{Kind: kind, Message: "no luck"})(e, made)
				})
				failure := halted(t, config.Unattended, events, err)
				assert.Equal(t, kind, failure.Kind)
				assert.Equal(t, "Ada", failure.Participant)
				assert.Equal(t, 1, failure.Round)
				assert.Equal(t, requests, failure.Attempt)
				assert.Equal(t, requests, p.Calls())
				attempts, _ := openings(events)
				assert.Len(t, attempts, requests)
			})
		}
	}
}

// TestSomeKindsAreNeverRetried: not even if the policy says so.
func TestSomeKindsAreNeverRetried(t *testing.T) {
	kinds := []debate.Kind{provider.KindQuota, provider.KindAuthentication, provider.KindRefusal, provider.KindContentFilter}
	config := stage.TwoDebaters()
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			events, err := stage.OnClock(t, config, failing(1, &provider.Error{Kind: kind}))
			assert.Equal(t, kind, halted(t, config.Unattended, events, err).Kind)
			attempts, _ := openings(events)
			assert.Len(t, attempts, 1)
		})
	}
	for stop, kind := range map[provider.StopReason]debate.Kind{
		provider.StopRefusal: provider.KindRefusal, provider.StopFilter: provider.KindContentFilter,
	} {
		t.Run("a reply that stops with "+string(stop), func(t *testing.T) {
			events, err := stage.OnClock(t, config, func(_ *debate.Engine, p *scripted.Provider) {
				p.Reply = func(*provider.Request) scripted.Reply { return scripted.Reply{Text: "I will not.", Stop: stop} }
			})
			require.ErrorIs(t, err, &debate.Error{Kind: kind})
			attempts, _ := openings(events)
			assert.Len(t, attempts, 1)
		})
	}
}

// TestAHintBeyondTheCapFails: nobody waits for hours unasked, but everybody is told how long.
func TestAHintBeyondTheCapFails(t *testing.T) {
	events, err := stage.OnClock(t, stage.TwoDebaters(), failing(1, &provider.Error{Kind: provider.KindRateLimit, RetryAfter: 61 * time.Second}))
	var failure *debate.Error
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, provider.KindRateLimit, failure.Kind)
	assert.Equal(t, 61*time.Second, failure.RetryAfter)
	assert.Contains(t, failure.Hint(), "1m1s")
	attempts, _ := openings(events)
	assert.Len(t, attempts, 1)
}

// TestFallbacksComeAfterRetries: a model is given its retries, then the next takes over at once.
func TestFallbacksComeAfterRetries(t *testing.T) {
	config := stage.TwoDebaters()
	config.Participants[0].Fallbacks = []string{"test/second", "test/third"}
	for name, test := range map[string]struct {
		kind   provider.Kind
		fails  int
		models []string
	}{
		"api_error": {provider.KindAPI, 6, []string{
			"test/debater", "test/debater", "test/debater", "test/second", "test/second", "test/second", "test/third",
		}},
		"refusal": {provider.KindRefusal, 1, []string{"test/debater", "test/second"}},
	} {
		t.Run(name, func(t *testing.T) {
			events, err := stage.OnClock(t, config, func(e *debate.Engine, p *scripted.Provider) {
				e.Models["test/second"], e.Models["test/third"] = e.Models["test/debater"], e.Models["test/debater"]
				failing(test.fails, &provider.Error{Kind: test.kind})(e, p)
			})
			require.NoError(t, err)
			attempts, waits := openings(events)
			var models []string
			for i, attempt := range attempts {
				models = append(models, attempt.Model)
				if i > 0 && attempt.Model != attempts[i-1].Model {
					assert.Zero(t, waits[i-1], "a fallback takes over at once")
				}
			}
			assert.Equal(t, test.models, models)
		})
	}
	t.Run("none is left", func(t *testing.T) {
		events, err := stage.OnClock(t, config, failing(1_000, &provider.Error{Kind: provider.KindAPI}))
		require.ErrorIs(t, err, &debate.Error{Kind: provider.KindAPI})
		attempts, _ := openings(events)
		assert.Len(t, attempts, 9)
	})
}

// TestAJudgeIsAskedAgain: two seconds later, as another attempt of the same call.
func TestAJudgeIsAskedAgain(t *testing.T) {
	events, err := stage.OnClock(t, stage.TwoDebaters(), func(_ *debate.Engine, p *scripted.Provider) { p.Reply = stage.Flaky(p.Reply) })
	require.NoError(t, err)
	var rejected time.Time
	for i := range events {
		switch e := &events[i]; {
		case e.Kind() == flow.EventRejected:
			assert.Equal(t, "r2.assessment.judge", body.As[flow.Rejection](*e).Call)
			rejected = e.At
		case e.Kind() == flow.EventIntent && body.As[flow.Intent](*e).Reask:
			assert.Equal(t, "r2.assessment.judge", body.As[flow.Intent](*e).Call)
			assert.Equal(t, 2, body.As[flow.Intent](*e).Attempt)
			assert.Equal(t, 2*time.Second, e.At.Sub(rejected))
			return
		}
	}
	t.Fatal("the judge was not asked again")
}

// TestQueueingIsNoTimeout: with one call at a time, a turn waits longer for its place than its
// timeout allows it to take.
func TestQueueingIsNoTimeout(t *testing.T) {
	config := stage.TwoDebaters()
	config.Mode, config.Rounds = debate.Simultaneous, 1
	config.TurnTimeout = 10 * time.Second
	config.Participants[0].Side, config.Participants[1].Side = "", "" // nobody is the last of a side
	for _, name := range []string{"Cem", "Dee", "Eve"} {
		config.Participants = append(config.Participants, debate.Participant{Name: name, Model: "test/debater"})
	}
	slow := func(e *debate.Engine, p *scripted.Provider, delay time.Duration) {
		e.MaxCalls = 1
		stage.Altered(p, func(_ *provider.Request, r *scripted.Reply) {
			r.Delay = delay
		})
	}
	t.Run("in time", func(t *testing.T) {
		events, err := stage.OnClock(t, config, func(e *debate.Engine, p *scripted.Provider) { slow(e, p, 9*time.Second) })
		require.NoError(t, err)
		for i := range events {
			assert.NotEqual(t, flow.EventFailed, events[i].Kind())
		}
		assert.Equal(t, 7*9*time.Second, events[len(events)-1].At.Sub(events[0].At), "one call after the other")
	})
	t.Run("too slow", func(t *testing.T) {
		config := config
		config.OnFailure = stage.Rules(debate.FailureRule{Do: flow.OptionDrop})
		events, err := stage.OnClock(t, config, func(e *debate.Engine, p *scripted.Provider) { slow(e, p, 11*time.Second) })
		require.ErrorIs(t, err, &debate.Error{Kind: provider.KindTimeout})
		dropped := 0
		for i := range events {
			if events[i].Kind() == flow.EventDropped {
				dropped++
				assert.Contains(t, body.As[flow.Dropped](events[i]).Reason, "no reply in time")
			}
		}
		assert.Equal(t, 3, dropped, "of five, until the failure of one of the last two stops the debate")
	})
}

func TestAHugeBaseWaitsForTheCap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.Retry = &debate.RetryPolicy{
			Base: 1 << 62, Cap: time.Minute, Jitter: time.Nanosecond, Max: map[debate.Kind]int{provider.KindNetwork: 4},
		}
		engine, p := stage.Engine(config)
		p.Reply = func(*provider.Request) scripted.Reply {
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindNetwork}}
		}
		began := time.Now()
		session := stage.Started(t, engine, config)
		_, err := session.Wait(t.Context())
		require.ErrorIs(t, err, &debate.Error{Kind: provider.KindNetwork})
		assert.InDelta(t, 4*time.Minute, time.Since(began), float64(time.Second))
		assert.Equal(t, 5, p.Calls())
	})
}
