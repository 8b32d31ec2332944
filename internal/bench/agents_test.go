package bench_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/bench"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/order"
	"github.com/agonist-dev/debate/internal/stage/process"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// table answers the calls of a deliberation at once, or, if held is set, keeps critiques in flight until they are broken off.
type table struct {
	speech, solution string
	held             bool
	critiques        atomic.Int64 // in flight, of those that are held
}

func newTable(tb testing.TB, held bool) *table {
	tb.Helper()
	solution, err := json.Marshal(deliberation.Solution{
		Description: "Begin small.", Implementation: []string{"one table"}, Tradeoffs: []string{"cost for speed"}, Recommendations: []string{"measure"},
		Requirements:  []deliberation.Requirement{{Text: "short links", Major: true, Fulfilled: true, Note: "by the table"}},
		OpenQuestions: []string{"how long links live"}, Confidence: 80,
	})
	require.NoError(tb, err)
	return &table{speech: bench.NewScript().Speech(bench.Ada, 0), solution: string(solution), held: held}
}

// Generate implements [provider.Provider].
func (p *table) Generate(ctx context.Context, req *provider.Request, _ func(provider.Chunk)) (*provider.Response, error) {
	usage := provider.Usage{Input: len(req.System)/4 + len(req.Last.Text)/4, Output: 450}
	if req.Schema != nil {
		return &provider.Response{Text: p.solution, Stop: provider.StopEnd, Usage: usage}, nil
	}
	if p.held && critique(req.ID) {
		p.critiques.Add(1)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return &provider.Response{Text: p.speech, Stop: provider.StopEnd, Usage: usage}, nil
}

func critique(request string) bool { return strings.Contains(request, "/r1.critique.") }

// council is a deliberation of one round in which so many agents critique all others, or the nearest ones if there would be more calls at
// once than a conversation has.
func council(agents int, budget *flow.Budget) deliberation.Config {
	config := deliberation.Config{
		Problem: bench.Topic, Rounds: 1, Judge: deliberation.Judge{Model: "bench/judge"}, Budget: budget, Unattended: true,
	}
	for i := range agents {
		config.Agents = append(config.Agents, deliberation.Agent{
			ID: fmt.Sprintf("agent%d", i+1), Role: deliberation.RoleGeneralist, Model: "bench/debater",
		})
	}
	if agents > mostWithAll {
		config.Topology = deliberation.Topology{Kind: deliberation.TopologyNearest, K: nearest}
	}
	return config
}

// critiques is how many so many agents make in a round.
func critiques(agents int) int {
	if agents > mostWithAll {
		return agents * nearest
	}
	return agents * (agents - 1)
}

// nearest is how many others each of a hundred agents can critique.
const nearest = 39

// mostWithAll is how many agents can critique all others.
const mostWithAll = 64

func councilEngine(p provider.Provider) *debate.Engine {
	w := &workload{store: &store.Memory{}}
	engine := w.engineOver(p)
	engine.Flows = map[string]*debate.Flow{deliberation.FlowName: deliberation.Flow()}
	return engine
}

// tight is a budget that holds most critiques of so many agents back until others have ended.
func tight(agents int) *flow.Budget {
	return &flow.Budget{HardTokens: 400_000 + 4500*critiques(agents)}
}

// convened plays a deliberation, and returns how many calls it has made.
func convened(tb testing.TB, engine *debate.Engine, config deliberation.Config) int {
	tb.Helper()
	session, err := engine.Start(context.Background(), config)
	require.NoError(tb, err)
	record, err := session.Wait(context.Background())
	require.NoError(tb, err)
	require.Equal(tb, flow.StateCompleted, record.State)
	return record.Spent().Requests
}

// A deliberation of a crowd takes little of the processors, also where a budget holds its calls back, and is stopped at once. These
// bounds are several times what it takes today: work for each call that grows with the square of the crowd is far above them.
func TestACrowdTakesLittleOfTheProcessors(t *testing.T) {
	longform.Lone(t)
	for n, most := range map[int]time.Duration{30: time.Second, 100: 10 * time.Second} {
		engine := councilEngine(newTable(t, false))
		began := process.CPU()
		calls := convened(t, engine, council(n, tight(n)))
		took := process.CPU() - began
		t.Logf("%d agents: %d calls take %s", n, calls, took)
		assert.Greater(t, calls, critiques(n))
		assert.Less(t, took, most, "%d agents", n)

		began = process.CPU()
		stopped(t, n)
		took = process.CPU() - began
		t.Logf("%d agents: until all are in flight, a pause, until they are again, and a shutdown take %s", n, took)
		assert.Less(t, took, 2*most, "%d agents", n)
	}
}

// BenchmarkAgents plays deliberations of one round whose replies come at once: without a budget, with one that is never reached, and with
// one that holds most critiques back until others have ended.
//
//	cpu-ms   the processor time of a deliberation
//	wall-ms  the time from its start to its end
//	calls    how many calls it makes
func BenchmarkAgents(b *testing.B) {
	for _, n := range []int{8, 30, mostWithAll, 100} {
		for name, budget := range order.ByKey(map[string]*flow.Budget{
			"free": nil, "ample": {Soft: 900_000 * debate.USD, Hard: 1_000_000 * debate.USD}, "tight": tight(n),
		}) {
			b.Run(fmt.Sprintf("N=%d/%s", n, name), func(b *testing.B) {
				engine, calls := councilEngine(newTable(b, false)), 0
				cpu := process.CPU()
				for b.Loop() {
					calls = convened(b, engine, council(n, budget))
				}
				b.ReportMetric(float64((process.CPU()-cpu).Milliseconds())/float64(b.N), "cpu-ms")
				b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "wall-ms")
				b.ReportMetric(float64(calls), "calls")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// BenchmarkAgentsStop measures how long a pause and a shutdown take while all critiques are in flight.
func BenchmarkAgentsStop(b *testing.B) {
	for _, n := range []int{30, 100} {
		b.Run(fmt.Sprintf("N=%d", n), func(b *testing.B) {
			var pause, shutdown time.Duration
			for b.Loop() {
				first, second := stopped(b, n)
				pause, shutdown = pause+first, shutdown+second
			}
			b.ReportMetric(float64(pause.Milliseconds())/float64(b.N), "pause-ms")
			b.ReportMetric(float64(shutdown.Milliseconds())/float64(b.N), "shutdown-ms")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// stopped pauses a deliberation and shuts its engine down, each while all critiques are in flight, and returns how long that takes.
func stopped(tb testing.TB, agents int) (pause, shutdown time.Duration) {
	tb.Helper()
	p := newTable(tb, true)
	engine, config := councilEngine(p), council(agents, nil)
	session, err := engine.Start(context.Background(), config)
	require.NoError(tb, err)
	p.await(config)
	began := time.Now()
	require.NoError(tb, session.Pause(context.Background()))
	_, err = session.WaitIdle(context.Background())
	require.ErrorIs(tb, err, flow.ErrPaused)
	pause = time.Since(began)
	p.critiques.Store(0)
	require.NoError(tb, session.Resume(context.Background()))
	p.await(config)
	began = time.Now()
	require.NoError(tb, engine.Shutdown(context.Background()))
	return pause, time.Since(began)
}

// await returns once all critiques are in flight.
func (p *table) await(config deliberation.Config) {
	for p.critiques.Load() < int64(critiques(len(config.Agents))) {
		runtime.Gosched()
	}
}
