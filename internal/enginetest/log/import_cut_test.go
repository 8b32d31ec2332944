package log_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// A log may be cut at any event, also within a commit. Whoever imports and opens it gets the debate that it was,
// and no event twice.
func TestALogCutAtAnyEventGoesOn(t *testing.T) {
	t.Parallel()
	config := stage.TwoDebaters()
	config.ID = "cut"
	l := stage.PlayedLog(t, config)
	for n := 2; n < len(l.Events); n += longform.Sized(1, 1, 5) {
		engine, _ := stage.Engine(config)
		id, err := engine.Import(t.Context(), bytes.NewReader(stage.Snapshot(t, l.ID, l.Copied(t)[:n])))
		require.NoError(t, err)
		session := stage.Reopen(t, engine, id)
		record, err := session.Wait(t.Context())
		require.NoError(t, err, "cut behind event %d", n)
		require.NoError(t, session.Close())
		rounds := map[int]int{}
		for _, e := range stage.LogOf(t, engine, id).Events {
			if round := body.As[flow.Round](e); round != nil {
				rounds[round.N]++
			}
		}
		for round, times := range rounds {
			assert.Equal(t, 1, times, "round %d, cut behind event %d", round, n)
		}
		assert.Len(t, rounds, config.Rounds)
		assert.LessOrEqual(t, len(stage.LogOf(t, engine, id).Events), len(l.Events)+2, "a call that was in flight is made again")
		assert.Equal(t, stage.Undisturbed(t, config), stage.Canonical(t, record), "cut behind event %d", n)
	}
}

// A flow that goes in a circle is told so before it fills the store.
func TestACircleIsShort(t *testing.T) {
	f := stage.OneState(nil)
	f.Steps[stage.Asks] = flow.Step{Next: turning(stage.Lost)}
	f.Steps[stage.Rests] = flow.Step{Next: turning("back")}
	f.Rules = append(f.Rules, flow.Rule{From: stage.Rests, On: "back", To: stage.Asks})
	engine, _, config := stage.WithFlow(f)
	session, err := engine.Start(t.Context(), stage.InFlow(engine, config))
	require.NoError(t, err)
	record, err := session.Wait(t.Context())
	stage.RequireKind(t, err, provider.KindState)
	require.NoError(t, session.Close())
	assert.Less(t, record.Seq, int64(1100))
}

// turning always fires the same trigger.
func turning(on flow.Trigger) func(*flow.Record) (flow.Trigger, flow.Exit, bool) {
	return func(*flow.Record) (flow.Trigger, flow.Exit, bool) { return on, flow.Exit{}, true }
}
