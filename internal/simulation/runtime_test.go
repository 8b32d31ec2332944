package simulation_test

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"sync"
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

var simRuntimeSeeds = flag.Uint64("sim.runtime.seeds", uint64(300/fewer), "how many seeds TestSimulationOfRuntimes plays")

// TestSimulationOfRuntimes plays each seed's debate by a runtime of a host program's own. It remembers what Engine.Advance has
// returned, and no more. Each signal and each call goes to any of three processes, which are killed, whose stores fail before and
// after what they were asked for took effect, and beside which others give controls. The debate must end as it does undisturbed,
// with every result once in its log, and no attempt made twice.
func TestSimulationOfRuntimes(t *testing.T) {
	var seen journeys
	for seed := uint64(0); seed < *simRuntimeSeeds && !t.Failed(); seed++ {
		synctest.Test(t, func(t *testing.T) { add(&seen, newJourney(t, seed).play()) })
	}
	t.Logf("runs %d; through %+v", *simRuntimeSeeds, seen)
	if !t.Failed() && *simRuntimeSeeds >= 300 {
		assert.NotContains(t, []int{seen.Killed, seen.Lost, seen.TakenOver, seen.Faults, seen.Controls}, 0, "the simulation no longer meets all")
	}
}

// journeys count what happened.
type journeys struct{ Killed, Lost, TakenOver, Faults, Controls int }

// journey is one debate as an engine of workflows sees it.
type journey struct {
	*stage.Company

	seed    uint64
	chance  *stage.Dice
	id      string
	members []*worker
	next    flow.Next
	begun   map[flow.Lost]bool // the calls that were given to a worker
	calls   sync.WaitGroup
	reports chan report

	mu   sync.Mutex
	calm bool
	seen journeys
}

// worker is one process, until it is killed.
type worker struct {
	*stage.Member

	ctx    context.Context //nolint:containedctx // it is the life of the process
	kill   func()
	broken time.Time // until when its store changes nothing
}

// report is what a worker says of a call.
type report struct {
	call flow.Lost
	next flow.Next
	err  error
}

func newJourney(t *testing.T, seed uint64) *journey {
	t.Helper()
	dice := rand.New(rand.NewPCG(seed, 17))
	config := storeConfig(dice, seed)
	config.Unattended = false
	return &journey{
		Company: stage.NewCompany(t, config), seed: seed, chance: stage.NewDice(dice), id: config.ID, begun: make(map[flow.Lost]bool),
		reports: make(chan report, 1000),
	}
}

func (j *journey) play() journeys {
	j.Apart = true
	for range 3 {
		j.members = append(j.members, j.worker())
	}
	j.store()
	j.advance(flow.Opened{})
	for deadline := time.Now().Add(2 * time.Hour); !j.next.Over; {
		if !time.Now().Before(deadline) {
			require.Fail(j.T, "the debate does not end", "seed %d: %+v", j.seed, j.next)
		}
		j.mu.Lock()
		j.calm = j.calm || time.Until(deadline) < time.Hour
		j.mu.Unlock()
		j.give()
		j.await()
	}
	for _, m := range j.members {
		m.kill()
	}
	j.calls.Wait()
	j.Finished(j.id)
	if j.T.Failed() {
		j.T.Logf("seed %d: %+v", j.seed, j.seen)
	}
	return j.seen
}

// store stores the debate, which nobody works on yet.
func (j *journey) store() {
	engine, _ := stage.Engine(j.Config)
	engine.Store = j.Store
	_, err := engine.Submit(j.T.Context(), j.Config)
	require.NoError(j.T, err)
}

func (j *journey) worker() *worker {
	w := &worker{Member: j.Member()}
	w.ctx, w.kill = context.WithCancel(context.Background())
	w.Lease = simLease
	w.Goes(func(_ context.Context, op string, do func() error) error {
		j.mu.Lock()
		fate := j.chance.Below(60)
		switch broken := time.Now().Before(w.broken); {
		case j.calm || op == "read":
			fate = 9
		case broken:
			fate = 0
		case fate == 0, fate == 1: // longer than it is tried again, or not
			w.broken = time.Now().Add(j.chance.UpTo(3 * simLease))
			fallthrough
		case fate < 4:
			j.seen.Faults++
		}
		j.mu.Unlock()
		switch fate {
		case 0, 2:
			return stage.ErrBroken
		case 1, 3: // it took effect, and nobody learns of it
			if err := do(); err != nil {
				return err
			}
			return stage.ErrBroken
		default:
			return do()
		}
	})
	return w
}

func (j *journey) any() *worker { return j.members[j.chance.Below(len(j.members))] }

// give gives the calls that no worker has to one.
func (j *journey) give() {
	for _, call := range j.next.Calls {
		if j.begun[call] {
			continue
		}
		j.begun[call] = true
		w := j.any()
		j.calls.Go(func() {
			next, err := w.Call(w.ctx, j.id, "journey", call, nil)
			j.reports <- report{call, next, err}
		})
	}
}

// await waits for what happens next: a report, the end of a wait, a kill, a control.
func (j *journey) await() {
	var due <-chan time.Time
	if j.next.Wait > 0 {
		due = time.After(j.next.Wait)
	}
	select {
	case r := <-j.reports:
		if r.err != nil { // as if its heartbeats had stopped
			j.seen.Lost++
			j.advance(r.call)
		} else {
			j.adopt(r.next)
		}
	case <-due:
		j.advance(flow.Tick{Seq: j.next.Seq})
	case <-time.After(j.chance.UpTo(4 * time.Second)):
		j.disturb()
	}
}

// disturb lets something happen that no workflow wants.
func (j *journey) disturb() {
	ctx := context.Background()
	switch fate := j.chance.Below(12); {
	case j.calm, fate > 5:
		j.further(ctx)
	case fate == 0:
		i := j.chance.Below(len(j.members))
		j.members[i].Die()
		j.members[i].kill()
		j.members[i] = j.worker()
		j.seen.Killed++
	case fate == 1: // the runtime itself begins anew
		j.begun = make(map[flow.Lost]bool)
		j.seen.TakenOver++
		j.advance(flow.Opened{})
	case fate == 2:
		j.control(ctx, flow.Pause{Drain: j.chance.Below(2) == 0})
	default:
		j.further(ctx)
	}
}

// further does what a person has to do so that the debate goes on.
func (j *journey) further(ctx context.Context) {
	if signal := owed(j.Record(j.id)); signal != nil {
		j.control(ctx, signal)
		return
	}
	j.advance(nil)
}

// control gives a control through the runtime, or past it, which then looks at the log.
func (j *journey) control(ctx context.Context, signal flow.Signal) {
	j.seen.Controls++
	if j.chance.Below(2) == 0 {
		j.advance(signal)
		return
	}
	tolerable(j.T, j.seed, j.any().Control(ctx, j.id, signal), context.Canceled)
	j.advance(nil)
}

// advance advances the debate by any worker, and by another one if that fails.
func (j *journey) advance(signal flow.Signal) {
	for {
		w := j.any()
		next, err := w.Advance(w.ctx, j.id, "journey", signal)
		if err == nil {
			j.adopt(next)
			return
		}
		var refused *debate.Error
		if errors.As(err, &refused) && (refused.Kind == provider.KindState || refused.Kind == provider.KindValidation) {
			return // the debate has gone on meanwhile
		}
		tolerable(j.T, j.seed, err, context.Canceled)
		stage.Pass(100 * time.Millisecond)
	}
}

// adopt takes what is known last.
func (j *journey) adopt(next flow.Next) {
	if next.Seq >= j.next.Seq {
		j.next = next
	}
}
