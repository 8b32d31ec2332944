package main

import (
	"context"
	"fmt"
	"maps"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/bench"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

const (
	laps     = 6   // of each workload; the least counts, since what disturbs one only adds
	warmUps  = 10  // debates before the first lap, since caches are cold
	crowd    = 200 // debates that wait at once
	fewer    = 10  // rounds of a debate whose cost is taken from a longer one's
	more     = 100 // rounds of the longer one
	debaters = 3
)

// cost is what a debate allocates.
type cost struct{ objects, bytes float64 }

func (c cost) minus(d cost) cost { return cost{c.objects - d.objects, c.bytes - d.bytes} }

func (c cost) times(n float64) cost { return cost{c.objects * n, c.bytes * n} }

// measure plays the workload W1 and returns what a debate costs. The figures are the same on every machine, with every
// number of processors and beside everything else that runs there. They change with the version of Go, and with the
// race detector.
func measure(ctx context.Context) (figures, error) {
	all, err := costs(ctx, bench.NewScript())
	if err != nil {
		return nil, err
	}
	held, err := heap(ctx)
	if err != nil {
		return nil, err
	}
	all[fmt.Sprintf("heap W1/%d-waiting", crowd)] = held
	return all, nil
}

// costs returns the allocations of debates with so many rounds, and those of their parts. A round is what each of the rounds
// between 10 and 100 adds. The rest of a debate, its start and its end, is what 10 rounds leave over. A call is a third of
// a round without a judge, and a judgement, with its call, is what the judge adds to a round.
func costs(ctx context.Context, p provider.Provider) (figures, error) {
	defer quietly()()
	found := map[string]cost{}
	for _, m := range []struct {
		name            string
		rounds, debates int
		judged          bool
	}{
		{"R=1", 1, 50, true},
		{"R=10", fewer, 10, true},
		{"R=100", more, 2, true},
		{"unjudged R=10", fewer, 10, false},
		{"unjudged R=100", more, 2, false},
	} {
		w := newWorkload(p, m.rounds)
		if !m.judged {
			w.config.Judging = nil
		}
		c, err := w.cost(ctx, m.debates)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		found[m.name] = c
	}
	perRound := func(long, short string) cost {
		return found[long].minus(found[short]).times(1.0 / (more - fewer))
	}
	found["round"] = perRound("R=100", "R=10")
	found["start"] = found["R=10"].minus(found["round"].times(fewer))
	speeches := perRound("unjudged R=100", "unjudged R=10")
	found["call"] = speeches.times(1.0 / debaters)
	found["judgement"] = found["round"].minus(speeches)
	maps.DeleteFunc(found, func(name string, _ cost) bool { return name[0] == 'u' })
	all := figures{}
	for name, c := range found {
		all["allocs W1/"+name] = math.Round(c.objects*10) / 10
		all["bytes W1/"+name] = math.Round(c.bytes)
	}
	return all, nil
}

// quietly leaves one processor to this program, so that its goroutines take the same turns everywhere, and collects no
// garbage, which empties the pools of the library. It returns what undoes that.
func quietly() (undo func()) {
	processors, percent, limit := runtime.GOMAXPROCS(1), debug.SetGCPercent(-1), debug.SetMemoryLimit(math.MaxInt64)
	return func() {
		runtime.GOMAXPROCS(processors)
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}

// workload plays W1.
type workload struct {
	engine *debate.Engine
	store  *store.Memory
	config debate.Config
}

func newWorkload(p provider.Provider, rounds int) *workload {
	kept := &store.Memory{}
	return &workload{
		engine: &debate.Engine{
			Providers: map[string]debate.Provider{"bench": p},
			Store:     struct{ store.Store }{kept}, // it does not watch: a session begins to when it has waited for 300 ms
			Lease:     time.Hour,                   // a session renews it after a third
		},
		store:  kept,
		config: bench.Config(rounds),
	}
}

// play plays one debate and forgets it.
func (w *workload) play(ctx context.Context) error {
	session, err := w.engine.Start(ctx, w.config)
	if err != nil {
		return err
	}
	return w.conclude(ctx, session)
}

func (w *workload) conclude(ctx context.Context, session *debate.Session) error {
	record, err := session.Wait(ctx)
	if err != nil {
		return err
	}
	if turns := w.config.Rounds * len(w.config.Participants); record.State != flow.StateCompleted || len(record.Turns) != turns {
		return fmt.Errorf("the debate is %s after %d turns; want %d", record.State, len(record.Turns), turns)
	}
	if err := session.Close(); err != nil {
		return err
	}
	return w.store.Delete(ctx, session.ID())
}

// cost returns what one debate allocates.
func (w *workload) cost(ctx context.Context, debates int) (cost, error) {
	playAll := func(n int) (err error) {
		for range n {
			if err = w.play(ctx); err != nil {
				return err
			}
		}
		return nil
	}
	if err := playAll(warmUps); err != nil {
		return cost{}, err
	}
	var objects, sizes []float64
	for range laps {
		runtime.GC()
		if err := playAll(1); err != nil { // fills the pools that the collection has emptied
			return cost{}, err
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := playAll(debates); err != nil {
			return cost{}, err
		}
		runtime.ReadMemStats(&after)
		objects = append(objects, float64(after.Mallocs-before.Mallocs)/float64(debates))
		sizes = append(sizes, float64(after.TotalAlloc-before.TotalAlloc)/float64(debates))
	}
	return cost{slices.Min(objects), slices.Min(sizes)}, w.engine.Shutdown(ctx)
}

// heap returns the bytes that a debate of ten rounds holds while it waits for its verdict.
func heap(ctx context.Context) (float64, error) {
	defer quietly()()
	script := bench.NewScript()
	w := newWorkload(script, fewer)
	var held []float64
	for range 1 + laps/2 {
		bytes, err := w.heap(ctx, script)
		if err != nil {
			return 0, err
		}
		held = append(held, bytes)
	}
	return math.Round(slices.Min(held[1:])), w.engine.Shutdown(ctx) // the first crowd fills the caches
}

// heap plays a crowd of debates until all of them wait.
func (w *workload) heap(ctx context.Context, script *bench.Script) (float64, error) {
	var missing sync.WaitGroup
	missing.Add(crowd)
	release := make(chan struct{})
	script.Hold = func() {
		missing.Done()
		<-release
	}
	sessions := make([]*debate.Session, crowd)
	before := live()
	for i := range sessions {
		session, err := w.engine.Start(ctx, w.config)
		if err != nil {
			return 0, err
		}
		sessions[i] = session
	}
	missing.Wait()
	held := (live() - before) / crowd
	close(release)
	for _, session := range sessions {
		if err := w.conclude(ctx, session); err != nil {
			return 0, err
		}
	}
	return held, nil
}

// live returns the bytes that are reachable.
func live() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what pools held back
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
