package failure_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// To wait is to wait as long as the vendor asks, also beyond the patience, whether a person chooses it or a rule.
func TestWaitingIsAsLongAsTheVendorAsks(t *testing.T) {
	t.Parallel()
	wait := stage.Rules(debate.FailureRule{Do: flow.OptionWait})
	for name, tc := range map[string]struct {
		rules   []debate.FailureRule // nil: a person chooses
		thinks  time.Duration        // how long the person thinks before
		after   func(request int) time.Duration
		lasting time.Duration
		waits   time.Duration // how long it takes in all
		asked   int           // how often the provider is asked for the call
		fails   bool          // in the end
	}{
		"a person; the vendor asks for an hour":        {nil, 0, hours(1), 50 * time.Minute, time.Hour, 2, false},
		"a person who has thought for half an hour":    {nil, 30 * time.Minute, hours(1), 50 * time.Minute, time.Hour, 2, false},
		"a person who has thought for longer":          {nil, 2 * time.Hour, hours(1), 50 * time.Minute, 2 * time.Hour, 2, false},
		"a rule; the vendor asks for an hour":          {wait, 0, hours(1), 50 * time.Minute, time.Hour, 2, false},
		"a rule; the hour was not enough":              {wait, 0, hours(1, 1), 24 * time.Hour, time.Hour, 2, true},
		"a rule; then the vendor asks for two minutes": {wait, 0, hours(1, 0), 62 * time.Minute, time.Hour + 2*time.Minute, 3, false},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.Patient(tc.rules == nil)
			config.OnFailure = tc.rules
			engine, p := stage.Engine(config)
			var began time.Time
			requests, reply := 0, p.Reply
			p.Reply = func(req *provider.Request) scripted.Reply {
				if !strings.Contains(req.ID, "/r2.rebuttal.Ada/") {
					return reply(req)
				}
				if requests++; requests == 1 {
					began = time.Now()
				}
				if time.Since(began) < tc.lasting {
					return scripted.Reply{Err: &provider.Error{Kind: provider.KindRateLimit, RetryAfter: tc.after(requests), Message: "later"}}
				}
				return reply(req)
			}
			session := stage.Started(t, engine, config)
			r, err := session.Wait(t.Context())
			if tc.rules == nil {
				require.ErrorIs(t, err, debate.ErrAwaitingInput)
				stage.Pass(tc.thinks)
				require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: r.Inquiries[0].ID, Option: flow.OptionWait}))
				r, err = session.Wait(t.Context())
			}
			took := r.LastAt.Sub(began)
			if tc.fails {
				stage.RequireKind(t, err, provider.KindRateLimit)
			} else {
				require.NoError(t, err)
				assert.Len(t, r.Turns, 6)
			}
			assert.InDelta(t, tc.waits, took, float64(time.Minute))
			assert.Equal(t, tc.asked, requests, "nobody asks before the time that the vendor has named")
			if tc.thinks < time.Hour {
				require.NotEmpty(t, r.Warnings)
				assert.Equal(t, flow.WarnOutage, r.Warnings[0].Kind)
				assert.Contains(t, r.Warnings[0].Evidence, "rate_limit: test is waited for, until ")
			}
		}))
	}
}

// hours names a wait for each request, in hours; 0 and the later ones: two minutes.
func hours(each ...int) func(request int) time.Duration {
	return func(request int) time.Duration {
		if request > len(each) || each[request-1] == 0 {
			return 2 * time.Minute
		}
		return time.Duration(each[request-1]) * time.Hour
	}
}

// A vendor who names a long time only when the call is made again is waited for too.
func TestTheFirstWaitAfterTheChoiceIsAsLongAsTheVendorAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.Patient(true)
		engine, p := stage.Engine(config)
		gone := stage.Befall(p, provider.KindAuthentication, stage.Said("Ada", 2))
		session := stage.Started(t, engine, config)
		r := stage.AwaitsInput(t, session)
		gone.Over.Store(true)
		reply, requests := p.Reply, 0
		p.Reply = func(req *provider.Request) scripted.Reply {
			if requests++; requests == 1 {
				return scripted.Reply{Err: &provider.Error{Kind: provider.KindRateLimit, RetryAfter: time.Hour, Message: "later"}}
			}
			return reply(req)
		}
		began := time.Now()
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: r.Inquiries[0].ID, Option: flow.OptionWait}))
		r = stage.Ended(t, session)
		assert.Len(t, r.Turns, 6)
		assert.InDelta(t, time.Hour, time.Since(began), float64(time.Minute))
	})
}
