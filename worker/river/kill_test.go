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
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/store"
	worker "github.com/agonist-dev/debate/worker/river"
)

var (
	kills    = flag.Int("river.kills", longform.Or(300, 3), "how many workers TestKill kills")
	killSeed = flag.Uint64("river.seed", 0, "the seed of TestKill; 0: by chance")
)

// siege is a run in which workers are killed.
type siege struct {
	t      *testing.T
	order  order
	host   *base
	engine *debate.Engine
	dice   *rand.Rand

	workers   []*process
	launched  int
	submitted []string
	deaths    []flows.Death
	met       bool // a kill has met a call
	restarts  int
}

// Workers are killed again and again, with the database in between, while they work on conversations of all flows. Nothing is lost, nothing
// that is recorded is asked again, and all end.
func TestKill(t *testing.T) {
	workers, lease := longform.Or(4, 2), longform.Or(2*time.Second, time.Second)
	latency, moments := longform.Or(200*time.Millisecond, 50*time.Millisecond), longform.Or(2500*time.Millisecond, 500*time.Millisecond)
	if *killSeed == 0 {
		*killSeed = rand.Uint64()
	}
	p := newPostgres(t)
	server := shared.server // no other test runs beside this one
	s := &siege{
		t: t, host: p.opened(t, worker.Options{}), dice: rand.New(rand.NewPCG(*killSeed, 1)),
		order: order{Place: p, Ledger: filepath.Join(t.TempDir(), "ledger"), Lease: lease, Latency: latency, Slots: 15},
	}
	s.engine = engineOn(s.host.store, nil)
	s.fill()
	for range workers {
		s.workers = append(s.workers, s.launch())
	}
	for n := 0; n < *kills || !s.met; n++ {
		s.pass(time.Duration(s.dice.Int64N(int64(moments))))
		if n%8 == longform.Or(5, 1) {
			require.NoError(t, server.Kill())
			require.NoError(t, server.Restart(context.WithoutCancel(t.Context())))
			s.restarts++
		}
		i := s.dice.IntN(workers)
		s.workers[i].kill()
		s.deaths = append(s.deaths, flows.Death{At: time.Now(), By: s.workers[i].name})
		s.met = s.met || s.meets(s.workers[i].name)
		s.workers[i] = s.launch()
		s.fill()
	}
	s.wait()
	s.audit(lease)
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

// meets reports whether a worker that was killed has left a call in flight.
func (s *siege) meets(name string) (met bool) {
	s.t.Helper()
	asked, err := flows.ReadLedger(s.order.Ledger)
	require.NoError(s.t, err)
	for id, calls := range asked {
		s.retry("read", func() error {
			var log []flow.Event
			for event, err := range s.host.store.Read(s.t.Context(), id, 0) {
				if err != nil {
					return err
				}
				log = append(log, event)
			}
			met = met || flows.Unsettled(log, calls, name)
			return nil
		})
	}
	return met
}

// fill submits conversations until so many are not over that each kill meets some.
func (s *siege) fill() {
	s.t.Helper()
	most := longform.Or(50, 9)
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
	for ; open < most; open++ {
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
		config.Rounds, config.Patience = longform.Or(12, 3), time.Hour
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
	eventually(s.t, what, func() bool { return try() == nil })
}

// wait waits until all conversations are over.
func (s *siege) wait() {
	s.t.Helper()
	eventually(s.t, "all conversations are over", func() bool {
		ended := 0
		for _, err := range s.engine.List(s.t.Context(), store.Filter{States: []flow.State{flow.StateCompleted}}) {
			if err != nil {
				return false
			}
			ended++
		}
		return ended == len(s.submitted)
	})
}

// audit compares what was asked with what is recorded.
func (s *siege) audit(lease time.Duration) {
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
	t.Logf("seed %d: %d kills of workers, %d of the database, %d conversations of three flows, all ended; %s", *killSeed, len(s.deaths),
		s.restarts, len(s.submitted), &sum)
	t.Logf("time to continue after a kill, %d times: p50 %v, p99 %v; lease %v", len(waits), flows.Quantile(waits, 0.5),
		flows.Quantile(waits, 0.99), lease)
	assert.Zero(t, sum.Faults())
	assert.NotEmpty(t, waits)
	if longform.Asked() { // a few measure the machine
		assert.LessOrEqual(t, flows.Quantile(waits, 0.99), lease+30*time.Second)
	}
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
