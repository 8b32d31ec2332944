package river_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/internal/stage/process"
	worker "github.com/agonist-dev/debate/worker/river"
)

var (
	kills    = flag.Int("river.kills", longform.Or(300, 3), "how many workers TestKill kills")
	killSeed = flag.Uint64("river.seed", 0, "the seed of TestKill; 0: by chance")
)

// Workers are killed again and again, with the database in between, while they work on conversations of all flows. The clocks of two in
// three are an hour off, and one in five has no providers. Nothing is lost, nothing that is recorded is asked again, and all end.
func TestKill(t *testing.T) {
	process.NeedsClock(t)
	if *killSeed == 0 {
		*killSeed = rand.Uint64()
	}
	t.Logf("seed %d", *killSeed)
	p := newPlace(t)
	server := shared.server // no other test runs beside this one
	host := p.opened(t, worker.Options{})
	o := order{
		Place: p, Ledger: filepath.Join(t.TempDir(), "ledger"), Lease: longform.Or(15*time.Second, time.Second),
		Latency: longform.Or(200*time.Millisecond, 50*time.Millisecond), Slots: 15, Calm: longform.Asked(),
	}
	s := &flows.Siege{
		Engine: engineOn(host.store, nil), Ledger: o.Ledger, Dice: rand.New(rand.NewPCG(*killSeed, 1)), Kills: *kills, Workers: longform.Or(4, 2),
		Most: longform.Or(50, 9), Moment: longform.Or(16*time.Second, 500*time.Millisecond), Lease: o.Lease, Odd: flows.Odd,
	}
	s.Engine.Seed = flows.Seed
	s.Begin = func(config flow.Config) error {
		_, err := s.Engine.Submit(t.Context(), config)
		return err
	}
	s.Work = func(name string, odd flows.Oddity) (kill func()) {
		o := o
		o.Name, o.Off, o.Poor = name, odd.Off, odd.Poor
		return launch(t, o).Kill
	}
	s.Restart = func() {
		require.NoError(t, server.Kill())
		require.NoError(t, server.Restart(context.WithoutCancel(t.Context())))
	}
	s.Run(t)
	if longform.Asked() { // a few measure the machine
		assert.LessOrEqual(t, flows.Quantile(s.Waited, 0.5), 15*time.Second)
		assert.LessOrEqual(t, flows.Quantile(s.Waited, 0.99), 30*time.Second)
	}
}
