package stage

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/provider"
)

// AdasOpening and BensOpening are the first calls of a debate of two.
const (
	AdasOpening = "r1.opening.Ada"
	BensOpening = "r1.opening.Ben"
)

// LittleUsage is what a short reply uses.
var LittleUsage = provider.Usage{Input: 10, Output: 10}

// Stepper steps a core by hand, on a clock of its own and without jitter unless a test says so.
type Stepper struct {
	*flow.Core
	t    *testing.T
	At   time.Time
	Bits uint64
}

// Feed gives the core a signal.
func (s *Stepper) Feed(signal flow.Signal) flow.Output {
	s.t.Helper()
	out, err := s.Step(flow.Input{At: s.At, Bits: s.Bits, Signal: signal})
	require.NoError(s.t, err)
	return out
}

// Says brings a short reply to a call's attempt.
func (s *Stepper) Says(call string, attempt int) flow.Output {
	s.t.Helper()
	return s.Feed(flow.Result{Call: call, Attempt: attempt, Text: "A word.", Usage: LittleUsage})
}

// Fails brings the failure of a call's attempt, for which nothing was paid.
func (s *Stepper) Fails(call string, attempt int, failure debate.Error) flow.Output {
	s.t.Helper()
	return s.Feed(flow.Failed{Call: call, Attempt: attempt, Error: &failure, Free: true})
}

// Begun is the core of a debate that has just started.
func Begun(t *testing.T, config debate.Config) *Stepper {
	t.Helper()
	engine, _ := Engine(config)
	return BegunBy(t, engine, config)
}

// BegunBy is Begun, for an engine of a flow of its own.
func BegunBy(t *testing.T, engine *debate.Engine, config flow.Config) *Stepper {
	t.Helper()
	core, signals, err := kernel.Begin(kernel.Of(t, engine), "stepped", config)
	require.NoError(t, err)
	s := &Stepper{Core: core, t: t, At: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	for _, signal := range signals {
		s.Feed(signal)
	}
	return s
}

// Mute is a store without optional abilities.
type Mute struct{ debate.Store }

// LeaseTime is how long a lease lasts by default.
const LeaseTime = 15 * time.Second

// Worker is a worker that notes when it opens which debate. It runs until End, which returns the error of its Work.
type Worker struct {
	End func() error

	mu     sync.Mutex
	opened map[string][]time.Time
}

// Works runs a worker of an engine.
func Works(ctx context.Context, engine *debate.Engine, work debate.Work) *Worker {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	w := &Worker{opened: make(map[string][]time.Time), End: func() error {
		cancel()
		return <-ended
	}}
	work.With = func(_ context.Context, s *debate.Session) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.opened[s.ID()] = append(w.opened[s.ID()], time.Now())
	}
	go func() { ended <- engine.Work(ctx, work) }()
	return w
}

// Opened returns when a debate was opened, time after time.
func (w *Worker) Opened(id string) []time.Time {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.opened[id])
}

// Submitted hands a debate of two in.
func Submitted(t *testing.T, engine *debate.Engine, id string) {
	t.Helper()
	config := TwoDebaters()
	config.ID = id
	_, err := engine.Submit(t.Context(), config)
	require.NoError(t, err)
}
