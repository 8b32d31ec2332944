package river_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage/flows"
	worker "github.com/agonist-dev/debate/worker/river"
)

var (
	kills    = flag.Int("river.kills", longform.Or(300, 3), "how many workers TestKill kills")
	killSeed = flag.Uint64("river.seed", 0, "the seed of TestKill; 0: by chance")
)

// Workers are killed again and again, with the database in between, while they work on conversations of all flows. Nothing is lost, nothing
// that is recorded is asked again, and all end.
func TestKill(t *testing.T) {
	if *killSeed == 0 {
		*killSeed = rand.Uint64()
	}
	t.Logf("seed %d", *killSeed)
	p := newPostgres(t)
	server := shared.server // no other test runs beside this one
	host := p.opened(t, worker.Options{})
	o := order{
		Place: p, Ledger: filepath.Join(t.TempDir(), "ledger"), Lease: longform.Or(2*time.Second, time.Second),
		Latency: longform.Or(200*time.Millisecond, 50*time.Millisecond), Slots: 15,
	}
	s := &flows.Siege{
		Engine: engineOn(host.store, nil), Ledger: o.Ledger, Dice: rand.New(rand.NewPCG(*killSeed, 1)), Kills: *kills, Workers: longform.Or(4, 2),
		Most: longform.Or(50, 9), Moment: longform.Or(2500*time.Millisecond, 500*time.Millisecond), Lease: o.Lease,
	}
	s.Engine.Seed = flows.Seed
	s.Begin = func(config flow.Config) error {
		_, err := s.Engine.Submit(t.Context(), config)
		return err
	}
	s.Work = func(name string, _ flows.Oddity) (kill func()) {
		o := o
		o.Name = name
		return launch(t, o).Kill
	}
	s.Restart = func() {
		require.NoError(t, server.Kill())
		require.NoError(t, server.Restart(context.WithoutCancel(t.Context())))
	}
	s.Run(t)
}
