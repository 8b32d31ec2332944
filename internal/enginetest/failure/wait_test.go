package failure_test

import (
	"regexp"
	"slices"
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
)

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
			t.Run(name, stage.Bubbled(func(t *testing.T) {
				config := stage.Patient(attended)
				engine, _, _ := stage.Unreachable(t, config, tc.kind, tc.after, tc.lasting)
				record := stage.Run(t, engine, config)
				assert.Equal(t, flow.StateCompleted, record.State)
				assert.Len(t, record.Turns, 6)
				assert.NotNil(t, stage.View(record).Verdict)
				assert.Empty(t, record.Answers, "nobody was asked")
				if tc.lasting > 2*time.Minute || tc.after > 0 {
					outages := slices.DeleteFunc(slices.Clone(record.Warnings), func(w flow.Warning) bool { return w.Kind != flow.WarnOutage })
					require.Len(t, outages, 1, "it is told once")
					assert.Contains(t, outages[0].Evidence, string(tc.kind)+": test is waited for, for up to 10m0s, until ")
					degraded := stage.View(record).Outcome().Degraded
					require.Len(t, degraded, 1)
					said := regexp.MustCompile("^" + string(tc.kind) + ": test was waited for, for ([0-9hms]+)$").FindStringSubmatch(degraded[0])
					require.Len(t, said, 2, degraded[0])
					waited, err := time.ParseDuration(said[1])
					require.NoError(t, err)
					assert.GreaterOrEqual(t, waited, tc.lasting)
				}
			}))
		}
	}
}

// Beyond the patience, the debate stops; when the cause is gone, a retry continues it, however often that takes.
func TestAnOutageThatDoesNotPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.Patient(false)
		engine, _, gone := stage.Unreachable(t, config, provider.KindNetwork, 0, 0)
		session := stage.Started(t, engine, config)
		began := time.Now()
		for range 5 {
			record, err := session.Wait(t.Context())
			stage.RequireKind(t, err, provider.KindNetwork)
			assert.Equal(t, flow.StateError, record.State)
			assert.Len(t, record.Turns, 2, "what was said is there")
			assert.InDelta(t, 10*time.Minute, time.Since(began), float64(2*time.Minute))
			began = time.Now()
			require.NoError(t, session.Retry(t.Context()))
		}
		gone.Over.Store(true)
		stage.Ended(t, session)
	})
}

// A wait that a vendor asks for beyond the patience is not begun.
func TestAWaitBeyondThePatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.Patient(false)
		engine, p, _ := stage.Unreachable(t, config, provider.KindRateLimit, time.Hour, 0)
		began := time.Now()
		session := stage.Started(t, engine, config)
		_, err := session.Wait(t.Context())
		stage.RequireKind(t, err, provider.KindRateLimit)
		assert.Less(t, time.Since(began), time.Minute)
		assert.Equal(t, 4, p.Calls(), "two speeches, the assessment, and the attempt that failed")
	})
}

// A person sees that a call waits, and cuts the waiting short.
func TestAPersonCutsTheWaitShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.Patient(true)
		engine, _, gone := stage.Unreachable(t, config, provider.KindRateLimit, 5*time.Minute, 0)
		session := stage.Started(t, engine, config)
		stage.Pass(time.Minute)
		record := stage.SessionRecord(t, session)
		assert.Equal(t, flow.StatusWaiting, record.Participant("Ada").Status)
		assert.False(t, record.Participant("Ada").RetryAt.IsZero())
		gone.Over.Store(true)
		began := time.Now()
		require.NoError(t, session.Control(t.Context(), flow.Retry{Reason: "they are back"}))
		record = stage.Ended(t, session)
		assert.Less(t, time.Since(began), time.Minute)
		assert.Len(t, record.Turns, 6)
		assert.Equal(t, []flow.RetriedNow{{Reason: "they are back"}}, stage.Bodies[flow.RetriedNow](t, engine, session.ID()))
		stage.RequireKind(t, session.Retry(t.Context()), provider.KindState)
	})
}

// The time of a pause is no time of the outage.
func TestAPauseIsNoPartOfAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.Patient(false)
		engine, _, gone := stage.Unreachable(t, config, provider.KindNetwork, 0, 0)
		session := stage.Started(t, engine, config)
		stage.Pass(3 * time.Minute)
		require.NoError(t, session.Pause(t.Context()))
		stage.Pass(24 * time.Hour)
		require.NoError(t, session.Resume(t.Context()))
		stage.Pass(3 * time.Minute)
		gone.Over.Store(true)
		record := stage.Ended(t, session)
		assert.Len(t, record.Turns, 6)
	})
}

// Calls that fail for one cause at one provider share one question, which offers to drop each of the participants.
func TestOneQuestionForOneCause(t *testing.T) {
	wide := func() debate.Config {
		config := stage.Crew(4)
		config.Mode, config.Unattended = debate.Simultaneous, false
		return config
	}
	for _, kind := range []provider.Kind{provider.KindAuthentication, provider.KindQuota, provider.KindNetwork} {
		t.Run(string(kind), stage.Bubbled(func(t *testing.T) {
			config := wide()
			engine, p := stage.Engine(config)
			stage.Abiding(p)
			gone := stage.Befall(p, kind, func(req *provider.Request) bool { return req.Model == "debater" && strings.Contains(req.ID, "/r2.") })
			session := stage.Started(t, engine, config)
			record := stage.AwaitsInput(t, session)
			require.Len(t, record.Inquiries, 1)
			q := record.Inquiries[0]
			require.Len(t, q.About, 4)
			assert.Regexp(t, `^(\w{3}, ){3}\w{3}: `+string(kind)+": .+", q.Question)
			assert.Equal(t, []debate.Option{flow.OptionRetry, flow.OptionWait, flow.OptionModel, flow.OptionSkip, flow.OptionDrop, flow.OptionEnd}, q.Options)

			failure := stage.RequireKind(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionDrop}), provider.KindValidation)
			assert.Equal(t, "by", failure.Field, "it says whom to drop")
			require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionDrop, By: "Dan"}))
			record = stage.AwaitsInput(t, session)
			require.Len(t, record.Inquiries, 1)
			require.Len(t, record.Inquiries[0].About, 3, "the question about the others is open")

			gone.Over.Store(true)
			require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionRetry}))
			record = stage.Ended(t, session)
			assert.Len(t, record.Turns, 4+3+3)
			assert.Equal(t, []string{"Dan"}, record.Dropped())
			asksOnce(t, stage.Logged(t, engine, record.ID))
		}))
	}
}

// Another model for all, at once.
func TestAnotherModelForAll(t *testing.T) {
	config := stage.Crew(3)
	config.Mode, config.Unattended = debate.Simultaneous, false
	engine, p := stage.Engine(config)
	stage.Abiding(p)
	stage.Befall(p, provider.KindQuota, func(req *provider.Request) bool { return req.Model == "debater" && strings.Contains(req.ID, "/r2.") })
	session := stage.Started(t, engine, config)
	record := stage.AwaitsInput(t, session)
	require.Len(t, record.Inquiries, 1)
	require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionModel, Model: "test/spare"}))
	record = stage.Ended(t, session)
	for _, name := range []string{"Ada", "Ben", "Cyd"} {
		assert.Equal(t, "test/spare", record.Replacement(name))
	}
	assert.Len(t, record.Turns, 9)
}

// Waiting again is a choice too, whatever the kind of failure.
func TestWaitingIsAChoice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.Patient(true)
		engine, p := stage.Engine(config)
		stage.Abiding(p)
		gone := stage.Befall(p, provider.KindAuthentication, stage.Said("Ada", 2))
		session := stage.Started(t, engine, config)
		record := stage.AwaitsInput(t, session)
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionWait}))
		stage.Pass(4 * time.Minute)
		gone.Over.Store(true)
		record = stage.Ended(t, session)
		assert.Len(t, record.Turns, 6)
		assert.Len(t, record.Answers, 1)
	})
}
