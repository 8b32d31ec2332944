package river_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/internal/stage/process"
	"github.com/agonist-dev/debate/provider"
	worker "github.com/agonist-dev/debate/worker/river"
)

// order says how a process works.
type order struct {
	Place   place         `json:"place"`
	Name    string        `json:"name"`
	Ledger  string        `json:"ledger"` // its file
	Lease   time.Duration `json:"lease"`
	Latency time.Duration `json:"latency"` // of calls
	Slots   int           `json:"slots"`
	Calm    bool          `json:"calm"`  // it polls as rarely as it does by default
	Off     time.Duration `json:"off"`   // what its clock leads by
	Poor    bool          `json:"poor"`  // it has no providers
	Timed   []string      `json:"timed"` // debates with a limit of time that it submits before it works
}

// launch starts a worker, and waits until it works.
func launch(t testing.TB, o order) *process.Process[order] {
	t.Helper()
	p := process.Launch(t, o)
	require.Equal(t, "working", p.Hear(t))
	return p
}

// serve is the other side: it works until its input is over.
func (o order) serve() error {
	ctx := context.Background()
	ledger, err := flows.OpenLedger(o.Ledger, o.Name)
	if err != nil {
		return err
	}
	ended := make(chan error, 2) // with the input: the test is over
	go func() {
		_, err := io.Copy(io.Discard, os.Stdin)
		ended <- err
	}()
	// again tries what the database refuses while it restarts, or still has the connections of a worker that was killed.
	again := func(try func() error) error {
		for {
			err := try()
			if err == nil {
				return nil
			}
			select {
			case <-ended:
				return err
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	var b *base
	if err := again(func() (err error) { b, err = o.Place.open(ctx, worker.Options{}); return err }); err != nil {
		return err
	}
	engine := engineOn(b.store, func(ctx context.Context, req *provider.Request) error {
		if err := ledger.Note(req); err != nil {
			return err
		}
		return slowly(o.Latency)(ctx, req)
	})
	engine.Lease = o.Lease
	if o.Poor {
		engine.Providers = nil
	}
	for _, id := range o.Timed {
		if _, err := engine.Submit(ctx, timed(id)); err != nil {
			return err
		}
	}
	if o.Place.Plain {
		go func() { ended <- engine.Work(ctx, debate.Work{Slots: o.Slots}) }()
		fmt.Println("working")
		return <-ended
	}
	config := worker.Config{Queues: map[string]int{worker.DefaultQueue: o.Slots}, River: soon()}
	if o.Calm {
		config.River = nil
	}
	w, err := b.jobs.Worker(engine, config)
	if err != nil {
		return err
	}
	if err := again(func() error { return w.Start(ctx) }); err != nil {
		return err
	}
	fmt.Println("working")
	return <-ended
}
