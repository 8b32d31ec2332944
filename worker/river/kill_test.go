package river_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/postgres"
	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/store"
	worker "github.com/agonist-dev/debate/worker/river"
)

var (
	kills    = flag.Int("river.kills", 20/fewer, "how many workers TestKill kills")
	killSeed = flag.Uint64("river.seed", 0, "the seed of TestKill; 0: by chance")
)

// siege is a run in which workers are killed.
type siege struct {
	t      *testing.T
	server *postgres.Server
	order  order
	host   *base
	engine *debate.Engine
	dice   *rand.Rand

	workers   []*process
	launched  int
	submitted []string
	deaths    []flows.Death
	restarts  int
}

// Four workers are killed again and again, with the database in between, while they work on conversations of all flows. Nothing is
// lost, nothing that is recorded is asked again, and all end.
func TestKill(t *testing.T) {
	const workers, lease = 4, 2 * time.Second
	if *killSeed == 0 {
		*killSeed = rand.Uint64()
	}
	server, err := postgres.Start(context.WithoutCancel(t.Context()))
	p := databaseOn(t, server, err)
	t.Cleanup(func() { assert.NoError(t, server.Stop()) })
	s := &siege{
		t: t, server: server, host: p.opened(t, worker.Options{}), dice: rand.New(rand.NewPCG(*killSeed, 1)),
		order: order{Place: p, Ledger: filepath.Join(t.TempDir(), "ledger"), Lease: lease, Latency: 200 * time.Millisecond, Slots: 15},
	}
	s.engine = engineOn(s.host.store, nil)
	s.fill()
	for range workers {
		s.workers = append(s.workers, s.launch())
	}
	for n := range *kills {
		s.pass(500*time.Millisecond + time.Duration(s.dice.IntN(int(2*time.Second))))
		if n%8 == 5 {
			require.NoError(t, server.Kill())
			require.NoError(t, server.Restart(context.WithoutCancel(t.Context())))
			s.restarts++
		}
		i := s.dice.IntN(workers)
		s.workers[i].kill()
		s.deaths = append(s.deaths, flows.Death{At: time.Now(), By: s.workers[i].name})
		s.workers[i] = s.launch()
		s.fill()
	}
	ended := s.wait()
	s.audit(ended, lease)
}

func (s *siege) launch() *process {
	s.launched++
	o := s.order
	o.Name = "w" + strconv.Itoa(s.launched)
	return launch(s.t, o)
}

// pass lets time go by: a process is killed at any moment.
func (s *siege) pass(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
}

// fill submits conversations until 50 are not over.
func (s *siege) fill() {
	s.t.Helper()
	open := 0
	s.retry("list", func() error {
		open = 0
		for _, err := range s.engine.List(s.t.Context(), store.Filter{Unfinished: true}) {
			if err != nil {
				return err
			}
			open++
		}
		return nil
	})
	for ; open < 50; open++ {
		id := fmt.Sprintf("c%d", len(s.submitted))
		s.submitted = append(s.submitted, id)
		submit(s.t, s.engine, besieged(id))
	}
}

// besieged returns the config of a conversation, whose flow follows from its id.
func besieged(id string) flow.Config {
	n, _ := strconv.Atoi(id[1:])
	switch n % 3 {
	case 0:
		config := debating(id)
		config.Rounds, config.Patience = 12, time.Hour
		return config
	case 1:
		config := deliberating(id)
		config.Patience = time.Hour
		return config
	default:
		config := arbitrating(id)
		config.Patience = time.Hour
		return config
	}
}

// retry tries what the database may refuse while it restarts.
func (s *siege) retry(what string, try func() error) {
	s.t.Helper()
	var err error
	require.Eventually(s.t, func() bool { err = try(); return err == nil }, patience, 50*time.Millisecond, "%s: %v", what, err)
}

// wait waits until all conversations are over, and returns how many are.
func (s *siege) wait() (ended int) {
	s.t.Helper()
	for end := time.Now().Add(2 * patience); time.Now().Before(end); s.pass(200 * time.Millisecond) {
		ended = 0
		s.retry("list", func() error {
			ended = 0
			for info, err := range s.engine.List(s.t.Context(), store.Filter{States: []flow.State{flow.StateCompleted}}) {
				if err != nil {
					return err
				}
				if info.State == flow.StateCompleted {
					ended++
				}
			}
			return nil
		})
		if ended == len(s.submitted) {
			break
		}
	}
	return ended
}

// audit compares what was asked with what is recorded.
func (s *siege) audit(ended int, lease time.Duration) {
	t := s.t
	t.Helper()
	asked, err := flows.ReadLedger(s.order.Ledger)
	require.NoError(t, err)
	var sum flows.Audit
	want := make(map[int]map[string]string)
	for i, id := range s.submitted {
		if want[i%3] == nil {
			want[i%3] = undisturbed(t, besieged(id))
		}
		sum.Add(eventsOf(t, s.engine, id), asked[id], want[i%3])
	}
	waits := flows.Waits(asked, s.deaths)
	t.Logf("seed %d: %d kills of workers, %d of the database, %d conversations of three flows, ended %d; %s", *killSeed, len(s.deaths),
		s.restarts, len(s.submitted), ended, &sum)
	t.Logf("time to continue after a kill, %d times: p50 %v, p99 %v; lease %v", len(waits), flows.Quantile(waits, 0.5),
		flows.Quantile(waits, 0.99), lease)
	assert.Equal(t, len(s.submitted), ended, "ended")
	assert.Zero(t, sum.Faults())
	assert.NotEmpty(t, waits)
	assert.LessOrEqual(t, flows.Quantile(waits, 0.99), lease+30*time.Second)
}

// eventsOf returns the log of a conversation that is over.
func eventsOf(t testing.TB, engine *debate.Engine, id string) (log []flow.Event) {
	t.Helper()
	for event, err := range engine.Events(t.Context(), id, 0) {
		require.NoError(t, err)
		log = append(log, event)
	}
	return log
}

// undisturbed returns what is said by call in a conversation that nobody disturbs.
func undisturbed(t testing.TB, config flow.Config) map[string]string {
	t.Helper()
	engine := engineOn(&store.Memory{}, nil)
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	defer session.Close()
	record, err := session.Wait(t.Context())
	require.NoError(t, err)
	return flows.Results(eventsOf(t, engine, record.ID))
}
