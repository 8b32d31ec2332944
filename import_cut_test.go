package debate_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// A log may be cut at any event, also within a commit. Whoever imports and opens it gets the debate that it was,
// and no event twice.
func TestALogCutAtAnyEventGoesOn(t *testing.T) {
	t.Parallel()
	config := twoDebaters()
	config.ID = "cut"
	l := playedLog(t, config)
	for n := 2; n < len(l.events); n++ {
		engine, _ := engineFor(config)
		id, err := engine.Import(t.Context(), bytes.NewReader(snapshot(t, l.id, l.copied(t)[:n])))
		require.NoError(t, err)
		session, err := engine.Open(t.Context(), id)
		require.NoError(t, err)
		record, err := session.Wait(t.Context())
		require.NoError(t, err, "cut behind event %d", n)
		require.NoError(t, session.Close())
		rounds := map[int]int{}
		for _, e := range logOf(t, engine, id).events {
			if round := as[flow.Round](e); round != nil {
				rounds[round.N]++
			}
		}
		for round, times := range rounds {
			assert.Equal(t, 1, times, "round %d, cut behind event %d", round, n)
		}
		assert.Len(t, rounds, config.Rounds)
		assert.LessOrEqual(t, len(logOf(t, engine, id).events), len(l.events)+2, "a call that was in flight is made again")
		assert.Equal(t, undisturbed(t, config), canonical(t, record), "cut behind event %d", n)
	}
}

// A flow that goes in a circle is told so before it fills the store.
func TestACircleIsShort(t *testing.T) {
	f := oneState(nil)
	f.Steps[asks] = flow.Step{Next: turning(lost)}
	f.Steps[rests] = flow.Step{Next: turning("back")}
	f.Rules = append(f.Rules, flow.Rule{From: rests, On: "back", To: asks})
	engine, _, config := withFlow(f)
	session, err := engine.Start(t.Context(), inFlow(engine, config))
	require.NoError(t, err)
	record, err := session.Wait(t.Context())
	requireKind(t, err, provider.KindState)
	require.NoError(t, session.Close())
	assert.Less(t, record.Seq, int64(1100))
}

// turning always fires the same trigger.
func turning(on flow.Trigger) func(*flow.Record) (flow.Trigger, flow.Exit, bool) {
	return func(*flow.Record) (flow.Trigger, flow.Exit, bool) { return on, flow.Exit{}, true }
}
