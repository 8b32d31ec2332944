package session_test

import (
	"context"
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
	"github.com/agonist-dev/debate/store"
)

func TestRunEndsWithTheReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the bubble fails if anything is left running
		config := stage.TwoDebaters()
		config.ID = "left"
		engine, p := stage.Engine(config)
		stage.Slowly(p)
		for event, err := range engine.Run(t.Context(), config) {
			require.NoError(t, err)
			if event.Kind() == flow.EventChunk {
				break
			}
		}
		record := stage.StoredRecord(t, engine, "left")
		assert.Equal(t, flow.StateCanceled, record.State)
		assert.Equal(t, 1, p.Calls())
		assert.Zero(t, record.InFlight())
		assert.Equal(t, 1, record.Spent().Requests)
		assert.Zero(t, record.Spent().Cost)
		assert.Positive(t, int64(record.Spent().AtMost), "what the call that was broken off may have cost is recorded")
		events := stage.Logged(t, engine, "left")
		last := events[len(events)-2:]
		require.Equal(t, []flow.EventKind{flow.EventTransition, flow.EventSpend}, stage.KindsOf(last))
		assert.Equal(t, flow.StateCanceled, body.As[flow.Transition](last[0]).To)
		assert.Equal(t, stage.AdasOpening, body.As[flow.Charge](last[1]).Call)
	})
}

func TestRunEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.ID = "detached"
		engine, p := stage.Engine(config)
		stage.Slowly(p)
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		var last error
		for _, err := range engine.Run(ctx, config) {
			last = err
		}
		require.ErrorIs(t, last, context.DeadlineExceeded)
		session := stage.Reopen(t, engine, "detached")
		record := stage.Ended(t, session)
		assert.Equal(t, stage.Undisturbed(t, config), stage.Canonical(t, record))
	})
}

// The events of a Run are those of one debate. Whoever ranges over them again gets an error, and nobody pays for a second debate.
func TestTheEventsOfARunAreRangedOverOnce(t *testing.T) {
	for name, id := range map[string]string{"with an ID": "once", "without": ""} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.TwoDebaters()
			config.ID = id
			engine, p := stage.Engine(config)
			stage.Slowly(p)
			events := engine.Run(t.Context(), config)
			assert.Zero(t, p.Calls(), "nothing is begun before the first range")
			refused := func() {
				seen := 0
				for _, err := range events {
					failure := stage.RequireKind(t, err, provider.KindState)
					assert.ErrorContains(t, failure, "ranged over once")
					seen++
				}
				assert.Equal(t, 1, seen)
			}
			first := true
			for _, err := range events {
				require.NoError(t, err)
				if first {
					refused() // while the debate runs
					first = false
				}
			}
			calls := p.Calls()
			refused()
			assert.Equal(t, calls, p.Calls())
			stored := 0
			for _, err := range engine.List(t.Context(), store.Filter{}) {
				require.NoError(t, err)
				stored++
			}
			assert.Equal(t, 1, stored)
		}))
	}
}

func TestRunYieldsTheErrorOfADebateThatStops(t *testing.T) {
	config := stage.TwoDebaters()
	engine, p := stage.Engine(config)
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
