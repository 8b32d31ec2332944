package debate_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// unreachable is a debate whose provider cannot be reached from round 2 on, for as long as it says. 0: for ever.
func unreachable(
	t *testing.T, config debate.Config, kind provider.Kind, after, lasting time.Duration,
) (*debate.Engine, *scripted.Provider, *outage) {
	t.Helper()
	engine, p := engineFor(config)
	engine.Store = &store.Memory{}
	gone := &outage{}
	var began time.Time
	reply := p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		r := reply(req)
		if began.IsZero() && strings.Contains(req.ID, "/r2.") {
			began = time.Now()
		}
		if !gone.over.Load() && !began.IsZero() && (lasting == 0 || time.Since(began) < lasting) {
			return scripted.Reply{Err: &provider.Error{Kind: kind, Message: "nobody is there", RetryAfter: after}}
		}
		return r
	}
	return engine, p, gone
}

// patient is a debate with the default patience.
func patient(attended bool) debate.Config {
	config := twoDebaters()
	config.Patience, config.Unattended = 0, !attended
	return config
}

func TestWhatPassesIsWaitedFor(t *testing.T) {
	for name, tc := range map[string]struct {
		kind           provider.Kind
		after, lasting time.Duration
	}{
		"half a minute without a network": {provider.KindNetwork, 0, 30 * time.Second},
		"nine minutes without a network":  {provider.KindNetwork, 0, 9 * time.Minute},
		"a server that is down":           {provider.KindAPI, 0, 5 * time.Minute},
		"a vendor who asks for 90 s":      {provider.KindRateLimit, 90 * time.Second, 80 * time.Second},
		"a vendor who names no time":      {provider.KindRateLimit, 0, 9 * time.Minute},
	} {
		for _, attended := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					config := patient(attended)
					engine, _, _ := unreachable(t, config, tc.kind, tc.after, tc.lasting)
					record := run(t, engine, config)
					assert.Equal(t, flow.StateCompleted, record.State)
					assert.Len(t, record.Turns, 6)
					assert.NotNil(t, view(record).Verdict)
					assert.Empty(t, record.Answers, "nobody was asked")
					if tc.lasting > 2*time.Minute || tc.after > 0 {
						outages := slices.DeleteFunc(slices.Clone(record.Warnings), func(w flow.Warning) bool { return w.Kind != flow.WarnOutage })
						require.Len(t, outages, 1, "it is told once")
						assert.Contains(t, outages[0].Evidence, string(tc.kind)+": test is waited for, for up to 10m0s, until ")
						degraded := view(record).Outcome().Degraded
						require.Len(t, degraded, 1)
						assert.Regexp(t, "^"+string(tc.kind)+": test was waited for, for [0-9ms]+$", degraded[0])
						outlasted := record.Outages()
						require.Len(t, outlasted, 1)
						assert.True(t, outlasted[0].Passed)
						assert.GreaterOrEqual(t, outlasted[0].Waited, tc.lasting)
					}
				})
			})
		}
	}
}

// Beyond the patience, the debate stops; when the cause is gone, a retry continues it, however often that takes.
func TestAnOutageThatDoesNotPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := patient(false)
		engine, _, gone := unreachable(t, config, provider.KindNetwork, 0, 0)
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		defer session.Close()
		began := time.Now()
		for range 5 {
			record, err := session.Wait(t.Context())
			requireKind(t, err, provider.KindNetwork)
			assert.Equal(t, flow.StateError, record.State)
			assert.Len(t, record.Turns, 2, "what was said is there")
			assert.InDelta(t, 10*time.Minute, time.Since(began), float64(2*time.Minute))
			began = time.Now()
			require.NoError(t, session.Retry(t.Context()))
		}
		gone.over.Store(true)
		_, err = session.Wait(t.Context())
		require.NoError(t, err)
	})
}

// A wait that a vendor asks for beyond the patience is not begun.
func TestAWaitBeyondThePatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := patient(false)
		engine, p, _ := unreachable(t, config, provider.KindRateLimit, time.Hour, 0)
		began := time.Now()
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		defer session.Close()
		_, err = session.Wait(t.Context())
		requireKind(t, err, provider.KindRateLimit)
		assert.Less(t, time.Since(began), time.Minute)
		assert.Equal(t, 4, p.Calls(), "two speeches, the assessment, and the attempt that failed")
	})
}

// A person sees that a call waits, and cuts the waiting short.
func TestAPersonCutsTheWaitShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := patient(true)
		engine, _, gone := unreachable(t, config, provider.KindRateLimit, 5*time.Minute, 0)
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		defer session.Close()
		pass(time.Minute)
		record, err := session.Record(t.Context())
		require.NoError(t, err)
		assert.Equal(t, flow.StatusWaiting, record.Participant("Ada").Status)
		assert.False(t, record.Participant("Ada").RetryAt.IsZero())
		gone.over.Store(true)
		began := time.Now()
		require.NoError(t, session.Control(t.Context(), flow.Retry{Reason: "they are back"}))
		record, err = session.Wait(t.Context())
		require.NoError(t, err)
		assert.Less(t, time.Since(began), time.Minute)
		assert.Len(t, record.Turns, 6)
		assert.Equal(t, []flow.Hastened{{Reason: "they are back"}}, bodies[flow.Hastened](t, engine, session.ID()))
		requireKind(t, session.Retry(t.Context()), provider.KindState)
	})
}

// The time of a pause is no time of the outage.
func TestAPauseIsNoPartOfAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := patient(false)
		engine, _, gone := unreachable(t, config, provider.KindNetwork, 0, 0)
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		defer session.Close()
		pass(3 * time.Minute)
		require.NoError(t, session.Pause(t.Context()))
		pass(24 * time.Hour)
		require.NoError(t, session.Resume(t.Context()))
		pass(3 * time.Minute)
		gone.over.Store(true)
		record, err := session.Wait(t.Context())
		require.NoError(t, err)
		assert.Len(t, record.Turns, 6)
	})
}

// reachable answers everything again.
func reachable() func(*provider.Request) scripted.Reply {
	_, fresh := engineFor(twoDebaters())
	return fresh.Reply
}

// Calls that fail for one cause at one provider share one question, which offers to drop each of the participants.
func TestOneQuestionForOneCause(t *testing.T) {
	wide := func() debate.Config {
		config := crew(4)
		config.Mode, config.Unattended = debate.Simultaneous, false
		return config
	}
	for _, kind := range []provider.Kind{provider.KindAuthentication, provider.KindQuota, provider.KindNetwork} {
		t.Run(string(kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config := wide()
				engine, p := engineFor(config)
				abiding(p)
				gone := befall(p, kind, func(req *provider.Request) bool { return req.Model == "debater" && strings.Contains(req.ID, "/r2.") })
				session, err := engine.Start(t.Context(), config)
				require.NoError(t, err)
				defer session.Close()
				record, err := session.Wait(t.Context())
				require.ErrorIs(t, err, debate.ErrAwaitingInput)
				require.Len(t, record.Inquiries, 1)
				q := record.Inquiries[0]
				require.Len(t, q.About, 4)
				assert.Regexp(t, `^(\w{3}, ){3}\w{3}: `+string(kind)+": .+", q.Question)
				assert.Equal(t, []debate.Option{flow.OptionRetry, flow.OptionWait, flow.OptionModel, flow.OptionSkip, flow.OptionDrop, flow.OptionEnd}, q.Options)

				failure := requireKind(t, session.Choose(t.Context(), q.ID, flow.OptionDrop), provider.KindValidation)
				assert.Equal(t, "by", failure.Field, "it says whom to drop")
				require.NoError(t, session.Choose(t.Context(), q.ID, flow.OptionDrop, "Dan"))
				record, err = session.Wait(t.Context())
				require.ErrorIs(t, err, debate.ErrAwaitingInput)
				require.Len(t, record.Inquiries, 1)
				require.Len(t, record.Inquiries[0].About, 3, "the question about the others is open")

				gone.over.Store(true)
				require.NoError(t, session.Choose(t.Context(), q.ID, flow.OptionRetry))
				record, err = session.Wait(t.Context())
				require.NoError(t, err)
				assert.Len(t, record.Turns, 4+3+3)
				assert.Equal(t, []string{"Dan"}, record.Dropped())
				asksOnce(t, logged(t, engine, record.ID))
			})
		})
	}
}

// Another model for all, at once.
func TestAnotherModelForAll(t *testing.T) {
	config := crew(3)
	config.Mode, config.Unattended = debate.Simultaneous, false
	engine, p := engineFor(config)
	abiding(p)
	befall(p, provider.KindQuota, func(req *provider.Request) bool { return req.Model == "debater" && strings.Contains(req.ID, "/r2.") })
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	defer session.Close()
	record, err := session.Wait(t.Context())
	require.ErrorIs(t, err, debate.ErrAwaitingInput)
	require.Len(t, record.Inquiries, 1)
	require.NoError(t, session.Choose(t.Context(), record.Inquiries[0].ID, flow.OptionModel, "test/spare"))
	record, err = session.Wait(t.Context())
	require.NoError(t, err)
	for _, name := range []string{"Ada", "Ben", "Cyd"} {
		assert.Equal(t, "test/spare", record.Replacement(name))
	}
	assert.Len(t, record.Turns, 9)
}

// Waiting again is a choice too, whatever the kind of failure.
func TestWaitingIsAChoice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := patient(true)
		engine, p := engineFor(config)
		abiding(p)
		gone := befall(p, provider.KindAuthentication, said("Ada", 2))
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		defer session.Close()
		record, err := session.Wait(t.Context())
		require.ErrorIs(t, err, debate.ErrAwaitingInput)
		require.NoError(t, session.Choose(t.Context(), record.Inquiries[0].ID, flow.OptionWait))
		pass(4 * time.Minute)
		gone.over.Store(true)
		record, err = session.Wait(t.Context())
		require.NoError(t, err)
		assert.Len(t, record.Turns, 6)
		assert.Len(t, record.Answers, 1)
	})
}
