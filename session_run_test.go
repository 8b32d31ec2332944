package debate_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

func TestRunEndsWithTheReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the bubble fails if anything is left running
		config := twoDebaters()
		config.ID = "left"
		engine, p := engineFor(config)
		slowly(p)
		for event, err := range engine.Run(t.Context(), config) {
			require.NoError(t, err)
			if event.Kind() == flow.EventChunk {
				break
			}
		}
		record, err := engine.Record(t.Context(), "left")
		require.NoError(t, err)
		assert.Equal(t, flow.StateCanceled, record.State)
		assert.Equal(t, 1, p.Calls())
		assert.Zero(t, record.InFlight())
		assert.Equal(t, 1, record.Spent().Requests)
		assert.Positive(t, int64(record.Spent().Cost), "what the call that was broken off has cost is recorded")
		events := logged(t, engine, "left")
		last := events[len(events)-2:]
		require.Equal(t, []flow.EventKind{flow.EventTransition, flow.EventSpend}, told(last))
		assert.Equal(t, flow.StateCanceled, as[flow.Transition](last[0]).To)
		assert.Equal(t, adasOpening, as[flow.Charge](last[1]).Call)
	})
}

func TestRunEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := twoDebaters()
		config.ID = "detached"
		engine, p := engineFor(config)
		slowly(p)
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		var last error
		for _, err := range engine.Run(ctx, config) {
			last = err
		}
		require.ErrorIs(t, last, context.DeadlineExceeded)
		session, err := engine.Open(t.Context(), "detached")
		require.NoError(t, err)
		record, err := session.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, undisturbed(t, config), canonical(t, record))
	})
}

func TestRunYieldsTheErrorOfADebateThatStops(t *testing.T) {
	config := twoDebaters()
	engine, p := engineFor(config)
	p.Reply = func(*provider.Request) scripted.Reply {
		return scripted.Reply{Err: &provider.Error{Kind: provider.KindQuota, Status: 429}}
	}
	var last error
	for _, err := range engine.Run(t.Context(), config) {
		last = err
	}
	var failure *debate.Error
	require.ErrorAs(t, last, &failure)
	assert.Equal(t, provider.KindQuota, failure.Kind)
	assert.Equal(t, 1, p.Calls())
}
