package river_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/provider"
	worker "github.com/agonist-dev/debate/worker/river"
)

// nomad is another runtime on the store: a loop around Engine.Advance and Engine.Call that knows nothing of jobs.
type nomad struct {
	t      *testing.T
	engine *debate.Engine
}

// begin acquires a debate, and returns what is to be done in it.
func (n *nomad) begin(id string) (flow.Next, error) {
	return n.engine.Advance(n.t.Context(), id, "nomad", flow.Opened{})
}

// run works on a debate that it has acquired, until that rests or is over.
func (n *nomad) run(id string, next flow.Next) (err error) {
	for err == nil && !next.Over && !next.Idle {
		if len(next.Calls) > 0 {
			next, err = n.engine.Call(n.t.Context(), id, "nomad", next.Calls[0], nil)
			continue
		}
		timer := time.NewTimer(next.Wait)
		<-timer.C
		next, err = n.engine.Advance(n.t.Context(), id, "nomad", flow.Tick{Seq: next.Seq})
	}
	return err
}

// gate holds calls up until it is opened, and counts requests by their ids.
type gate struct {
	opened chan struct{}

	mu   sync.Mutex
	asks map[string]int // by the request
}

func newGate(t *testing.T) *gate {
	t.Helper()
	g := &gate{opened: make(chan struct{}), asks: make(map[string]int)}
	t.Cleanup(g.open)
	return g
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-g.opened:
	default:
		close(g.opened)
	}
}

func (g *gate) pass(ctx context.Context, req *provider.Request) error {
	g.mu.Lock()
	g.asks[req.ID]++
	g.mu.Unlock()
	select {
	case <-g.opened:
		return slowly(10*time.Millisecond)(ctx, req)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g *gate) asked() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.asks)
}

// River's worker and another runtime share a store by the leases of debates. Who finds a debate held is told so, and does nothing.
// Debates that are paused and resumed meanwhile go to whoever comes first. Nothing is lost, and nothing is asked twice.
func TestAnotherRuntimeBesideRiver(t *testing.T) {
	const debates = 6
	p := newPlace(t)
	host := p.opened(t, worker.Options{})
	engine := engineOn(host.store, nil)
	ids := make([]string, debates)
	for i := range ids {
		ids[i] = fmt.Sprint("d", i)
		submit(t, engine, debating(ids[i]))
	}
	foreign, own := newGate(t), newGate(t)
	n := &nomad{t, engineOn(p.opened(t, worker.Options{}).store, foreign.pass)}
	next, err := n.begin(ids[0])
	require.NoError(t, err)
	ran := make(chan error, 1)
	go func() { ran <- n.run(ids[0], next) }()

	b := p.opened(t, worker.Options{})
	working(t, b, engineOn(b.store, own.pass), worker.Config{})
	eventually(t, "the worker leaves the one that is held, and works on the others", func() bool {
		return host.state(t, ids[0]) == rivertype.JobStateScheduled && own.asked() == debates-1
	})
	for _, id := range ids[1:] {
		_, err := n.begin(id)
		require.ErrorIs(t, err, debate.ErrLeased)
		require.ErrorContains(t, err, "another owner holds the conversation's lease")
	}
	for _, id := range ids {
		require.NoError(t, engine.Control(t.Context(), id, flow.Pause{Drain: true}))
	}
	foreign.open()
	own.open()
	require.NoError(t, <-ran)
	eventually(t, "all rest", func() bool { return host.rows(t)["running"] == 0 })
	for _, id := range ids {
		require.NoError(t, engine.Control(t.Context(), id, flow.Resume{}))
		if next, err := n.begin(id); err == nil {
			require.NoError(t, n.run(id, next))
		} else {
			require.ErrorIs(t, err, debate.ErrLeased)
		}
	}
	for _, id := range ids {
		finished(t, engine, id)
	}
	auditBeside(t, engine, ids, foreign, own)
	assert.Zero(t, host.count(t, "river_job WHERE cardinality(errors) > 0"), "no job has failed")
}

// auditBeside checks that all was said once, as it is without a second runtime.
func auditBeside(t *testing.T, engine *debate.Engine, ids []string, gates ...*gate) {
	t.Helper()
	made := make(map[string]int)
	for _, g := range gates {
		g.mu.Lock()
		for id, times := range g.asks {
			made[id] += times
			assert.True(t, strings.HasSuffix(id, "/1"), "%s is no first attempt", id)
		}
		g.mu.Unlock()
	}
	for id, times := range made {
		assert.Equal(t, 1, times, id)
	}
	for _, id := range ids {
		var log []flow.Event
		for event, err := range engine.Events(t.Context(), id, 0) {
			require.NoError(t, err)
			log = append(log, event)
		}
		assert.Empty(t, stage.Doubles(log))
		assert.Equal(t, flows.Undisturbed(t, debating(id)).Results, flows.Results(log), id)
	}
}
