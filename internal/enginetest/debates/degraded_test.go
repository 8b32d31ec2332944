package debates_test

import (
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

// A hard limit that was raised since has ended nothing: a debate that has played all its rounds is not degraded by it.
func TestALimitThatWasRaisedHasEndedNothing(t *testing.T) {
	config := stage.TwoDebaters()
	config.Budget = &debate.Budget{HardCalls: 4}
	engine, _ := stage.Engine(config)
	session := stage.Started(t, engine, config)
	record, err := session.Wait(t.Context())
	stage.RequireKind(t, err, provider.KindCostLimit)
	degraded := stage.View(record).Outcome().Degraded
	require.NotEmpty(t, degraded)
	assert.Equal(t, "stopped after 1 of 3 rounds by the hard limit of 4 calls: raise it to about 13 calls", degraded[0])
	assert.Contains(t, degraded, "missing: the verdict of judge")
	for _, calls := range []int{4, 2} { // another warning, or a lower limit, raises nothing
		require.NoError(t, session.Control(t.Context(), flow.Amendment{Budget: &debate.Budget{HardCalls: calls, Warn: debate.USD}}))
		record = stage.SessionRecord(t, session)
		assert.Equal(t, degraded, stage.View(record).Outcome().Degraded)
		stage.RequireKind(t, session.Retry(t.Context()), provider.KindState)
	}
	require.NoError(t, session.Control(t.Context(), flow.Amendment{Budget: &debate.Budget{HardCalls: 100}}))
	require.NoError(t, session.Retry(t.Context()))
	record = stage.Ended(t, session)
	assert.NotNil(t, stage.View(record).Verdict)
	assert.Empty(t, stage.View(record).Outcome().Degraded)
}

// A soft limit has ended the rounds, whatever becomes of the verdict.
func TestASoftLimitHasEndedTheRounds(t *testing.T) {
	config := stage.TwoDebaters()
	config.Budget = &debate.Budget{SoftCalls: 4}
	engine, p := stage.Engine(config)
	cut := stage.Befall(p, provider.KindQuota, stage.Requested("judge", "verdict"))
	session := stage.Started(t, engine, config)
	record, err := session.Wait(t.Context())
	stage.RequireKind(t, err, provider.KindQuota)
	const ended = "ended after 1 of 3 rounds by the soft limit of 4 calls: raise it to about 13 calls"
	assert.Contains(t, stage.View(record).Outcome().Degraded, ended)
	assert.Contains(t, stage.View(record).Outcome().Degraded, "missing: the verdict of judge")
	cut.Over.Store(true)
	require.NoError(t, session.Control(t.Context(), flow.Amendment{Budget: &debate.Budget{SoftCalls: 100}}))
	require.NoError(t, session.Retry(t.Context()))
	record = stage.Ended(t, session)
	assert.Contains(t, stage.View(record).Outcome().Degraded, ended, "by the limit that was in force then")
	assert.NotContains(t, stage.View(record).Outcome().Degraded, "missing: the verdict of judge")
}

// An outage that is waited for is told as such, one that has not passed as waited for in vain, and one that has passed with
// the time that it took.
func TestAnOutageInThePastIsToldAsSuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.Patient(false)
		engine, _, gone := stage.Unreachable(t, config, provider.KindNetwork, 0, 0)
		session := stage.Started(t, engine, config)
		stage.Pass(5 * time.Minute)
		record := stage.StoredRecord(t, engine, session.ID())
		assert.Contains(t, stage.View(record).Outcome().Degraded[0], "network: test is waited for, for up to 10m0s, until ")
		record, err := session.Wait(t.Context())
		stage.RequireKind(t, err, provider.KindNetwork)
		assert.Contains(t, stage.View(record).Outcome().Degraded, "network: test was waited for in vain")
		gone.Over.Store(true)
		require.NoError(t, session.Retry(t.Context()))
		record = stage.Ended(t, session)
		assert.Equal(t, []string{"network: test was waited for in vain"}, stage.View(record).Outcome().Degraded)
	})
}

// In the error state the outcome names what the debate lacks.
func TestAnErrorNamesWhatIsMissing(t *testing.T) {
	for name, tc := range map[string]struct {
		hits    string
		missing []string
	}{
		"in round two":   {"r2.rebuttal.Ben", []string{"missing: in round 2 the speeches of Ben", "missing: round 3", "missing: the verdict of judge"}},
		"in the verdict": {"verdict", []string{"missing: the verdict of judge"}},
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.TwoDebaters()
			engine, p := stage.Engine(config)
			stage.Befall(p, provider.KindQuota, stage.Requested("debater", tc.hits))
			stage.Befall(p, provider.KindQuota, stage.Requested("judge", tc.hits))
			session := stage.Started(t, engine, config)
			record, err := session.Wait(t.Context())
			stage.RequireKind(t, err, provider.KindQuota)
			assert.Equal(t, tc.missing, stage.View(record).Outcome().Degraded)
		})
	}
}
