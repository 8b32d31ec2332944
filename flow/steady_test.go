package flow_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// many is how many calls the flow of atOnce makes at once.
const many = 100

// atOnce is a flow that makes many calls at once, and one more when all of them are done. It counts how often it is asked.
func atOnce(asked *atomic.Int64, steady ...flow.CallKind) *flow.Flow {
	f := stage.OneState(flow.Missing(func(r *flow.Record) []flow.Call {
		asked.Add(1)
		calls := make([]flow.Call, many+1)
		done := 0
		for i := range calls {
			name := r.Active()[i%len(r.Active())]
			calls[i] = flow.Call{ID: fmt.Sprintf("say.%d", i), Kind: "word", By: name, Model: stage.ModelOf(r, name), Slot: i}
			if r.Done(calls[i].ID) {
				done++
			}
		}
		if done < many {
			calls = calls[:many]
		}
		return calls
	}))
	step := f.Steps[stage.Asks]
	step.Steady = steady
	f.Steps[stage.Asks] = step
	return f
}

// A flow whose calls change nothing about each other is asked what it wants when they begin and when they are over, however many
// there are, also if some of them are made again. Any other flow is asked after each of them.
func TestASteadyFlowIsNotAskedAfterEachResult(t *testing.T) {
	play := func(t *testing.T, steady ...flow.CallKind) int64 {
		t.Helper()
		var asked, failed atomic.Int64
		synctest.Test(t, func(t *testing.T) {
			engine, p, config := stage.WithFlow(atOnce(&asked, steady...))
			reply := p.Reply
			p.Reply = func(req *provider.Request) scripted.Reply {
				if stage.CallOf(req) == "say.7" && failed.Add(1) == 1 {
					return scripted.Reply{Err: &provider.Error{Kind: provider.KindNetwork}}
				}
				r, at := reply(req), 0
				_, _ = fmt.Sscanf(stage.CallOf(req), "say.%d", &at)
				r.Delay = time.Duration(1+at) * time.Second // each result comes by itself
				return r
			}
			session, err := engine.Start(t.Context(), stage.InFlow(engine, config))
			require.NoError(t, err)
			defer session.Close()
			record := stage.Ends(t, session)
			assert.Len(t, record.Turns, many+1, "before it leads on, the flow is asked in any case")
			assert.Len(t, record.Failures, 1)
		})
		return asked.Load()
	}
	assert.Less(t, play(t, "word"), int64(12))
	assert.Greater(t, play(t), int64(many))
	assert.Greater(t, play(t, "another"), int64(many))
}
