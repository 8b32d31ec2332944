package durable_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/internal/stage/process"
	"github.com/agonist-dev/debate/provider"
)

var killWork = flag.Int("kill.work", longform.Or(300, 3), "how many workers TestKillWork kills on PostgreSQL; elsewhere a fifth")

// besieged is the task of a worker that is killed while it runs whatever needs a process.
const besieged = "besieged"

// TestKillWork kills workers with kill -9, and the server of PostgreSQL too, while they run conversations of all flows by Engine.Work. The
// clocks of two in three are an hour off, and one in five has no providers. Nothing that is recorded is asked again or lost, none advances
// twice, and all end.
func TestKillWork(t *testing.T) {
	longform.Lone(t)
	process.NeedsClock(t)
	for _, kind := range kinds() {
		t.Run(kind, func(t *testing.T) {
			if !longform.Asked() { // the long form measures one store after the other
				t.Parallel()
			}
			place := newPlace(t, kind)
			o := order{
				Task: besieged, Place: place, Ledger: filepath.Join(t.TempDir(), "ledger"), Lease: longform.Or(15*time.Second, shortLease),
				Latency: longform.Or(200*time.Millisecond, 50*time.Millisecond),
			}
			s := &flows.Siege{
				Engine: flows.Engine(opened(t, place), nil), Ledger: o.Ledger, Odd: flows.Odd, Dice: rand.New(rand.NewPCG(uint64(len(kind)), 1)),
				Kills: max(3, *killWork/5), Workers: longform.Or(4, 2), Most: longform.Or(50, 9),
				Moment: longform.Or(16*time.Second, 500*time.Millisecond), Lease: o.Lease,
			}
			s.Engine.Seed = flows.Seed
			s.Begin = func(config flow.Config) error {
				_, err := s.Engine.Submit(t.Context(), config)
				return err
			}
			s.Work = func(name string, odd flows.Oddity) (kill func()) {
				o := o
				o.Name, o.Off, o.Poor = name, odd.Off, odd.Poor
				p := process.Launch(t, o)
				require.Equal(t, "ready", p.Hear(t))
				return p.Kill
			}
			switch kind {
			case inFile: // the clock of its leases is that of the one machine, which all processes share
				s.Odd = func(n int) flows.Oddity { return flows.Oddity{Poor: flows.Odd(n).Poor} }
			case inPostgres:
				server := cluster.server // no other test runs beside this one
				s.Kills, s.Restart = *killWork, func() {
					require.NoError(t, server.Kill())
					require.NoError(t, server.Restart(context.WithoutCancel(t.Context())))
				}
			default:
			}
			s.Run(t)
			if longform.Asked() { // a few measure the machine
				assert.LessOrEqual(t, flows.Quantile(s.Waited, 0.5), 15*time.Second)
				assert.LessOrEqual(t, flows.Quantile(s.Waited, 0.99), 30*time.Second)
			}
		})
	}
}

// besieged is the task of that name.
func (o order) besieged(ctx context.Context) error {
	listen() // it ends with the test
	ledger, err := flows.OpenLedger(o.Ledger, o.Name)
	if err != nil {
		return err
	}
	store, err := o.Place.open(ctx)
	for err != nil { // the server is down, or still has the connections of workers that were killed
		if err := stage.Sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
		store, err = o.Place.open(ctx)
	}
	engine := flows.Engine(store, func(ctx context.Context, req *provider.Request) error {
		if err := ledger.Note(req); err != nil {
			return err
		}
		return flows.Slowly(o.Latency)(ctx, req)
	})
	engine.Lease, engine.Seed = o.Lease, flows.Seed
	if o.Poor {
		engine.Providers = nil
	}
	fmt.Println("ready")
	return engine.Work(ctx, debate.Work{Slots: 15})
}
