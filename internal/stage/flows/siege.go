package flows

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/store"
)

// Siege kills workers, which are processes, with kill -9, and the server that they share, while they work on conversations of all flows.
// Nothing that is recorded is asked again or lost, none advances twice, and all end.
type Siege struct {
	Engine  *debate.Engine                              // of the test, with the Seed of this package
	Ledger  string                                      // that of all workers
	Begin   func(config flow.Config) error              // gives a conversation to the workers; it can be repeated
	Work    func(name string, odd Oddity) (kill func()) // starts a worker, whose name is that in the ledger
	Odd     func(n int) Oddity                          // what is wrong with the nth worker, such as the function Odd
	Restart func()                                      // kills the server, and starts it again; nil: there is none
	Dice    *rand.Rand
	Kills   int           // of workers, at least
	Workers int           // at a time
	Most    int           // conversations at a time
	Moment  time.Duration // at most from the start of a worker to the next kill
	Lease   time.Duration
	Begun   []string        // the conversations that Run has begun
	Waited  []time.Duration // how long conversations stood still after kills, in order; Run sets it

	odd    map[string]Oddity // what is wrong with a worker, by its name
	deaths []Death
	met    bool // a kill has met a call
}

// besieged returns the config of a conversation, whose flow follows from its number.
func besieged(id string, n int) flow.Config {
	switch n % 4 {
	case 0:
		config := Deliberation(id)
		config.Patience = time.Hour
		return config
	case 1:
		config := Arbitration(id)
		config.Patience = time.Hour
		return config
	default:
		config := Debate(id)
		config.Rounds, config.Patience, config.Mode = longform.Or(12, 3), time.Hour, debate.Sequential
		if n%4 == 2 {
			config.Mode = debate.Simultaneous
		}
		return config
	}
}

// Run is the siege.
func (s *Siege) Run(t *testing.T) {
	t.Helper()
	kills, names, restarts := make([]func(), s.Workers), make([]string, s.Workers), 0
	s.odd = make(map[string]Oddity)
	launch := func(i int) {
		n := len(s.odd)
		names[i] = fmt.Sprint("w", n+1)
		s.odd[names[i]] = s.Odd(n)
		kills[i] = s.Work(names[i], s.odd[names[i]])
	}
	kill := func(i int) {
		kills[i]()
		s.deaths = append(s.deaths, Death{At: time.Now(), By: names[i]})
	}
	for i := range kills {
		launch(i)
	}
	for len(s.deaths) < s.Kills || !s.met {
		s.fill(t)
		<-time.After(time.Duration(s.Dice.Int64N(int64(s.Moment))))
		i := s.Dice.IntN(s.Workers)
		kill(i)
		s.met = s.met || s.meets(t, names[i])
		if s.Restart != nil && len(s.deaths)%10 == 2 {
			s.Restart()
			restarts++
		}
		launch(i)
	}
	for i := range kills { // poor workers alone would end nothing
		for s.odd[names[i]].Poor {
			kill(i)
			launch(i)
		}
	}
	Until(t, "all conversations are over", func() bool {
		over, err := s.count(t, store.Filter{States: []flow.State{flow.StateCompleted}})
		return err == nil && over == len(s.Begun)
	})
	t.Logf("%d kills of workers, %d of the server, %d conversations of three flows, all ended", len(s.deaths), restarts, len(s.Begun))
	s.audit(t)
}

// fill begins conversations until so many are not over that each kill meets some. The server may be down.
func (s *Siege) fill(t *testing.T) {
	t.Helper()
	open := 0
	Until(t, "the conversations are counted", func() bool {
		var err error
		open, err = s.count(t, store.Filter{Unfinished: true})
		return err == nil
	})
	for ; open < s.Most; open++ {
		id := fmt.Sprint("c", len(s.Begun))
		Until(t, id+" has begun", func() bool { return s.Begin(besieged(id, len(s.Begun))) == nil })
		s.Begun = append(s.Begun, id)
	}
}

func (s *Siege) count(t *testing.T, filter store.Filter) (n int, err error) {
	t.Helper()
	for _, err := range s.Engine.List(t.Context(), filter) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// meets reports whether a worker that was killed has left a call in flight.
func (s *Siege) meets(t *testing.T, name string) (met bool) {
	t.Helper()
	for id, calls := range s.asked(t) {
		Until(t, "a log is read", func() bool {
			var log []flow.Event
			for event, err := range s.Engine.Store.Read(t.Context(), id, 0) {
				if err != nil {
					return false
				}
				log = append(log, event)
			}
			met = met || Unsettled(log, calls, name)
			return true
		})
	}
	return met
}

// asked returns what the ledger has, by the clock of the test.
func (s *Siege) asked(t *testing.T) map[string][]Asked {
	t.Helper()
	all, err := ReadLedger(s.Ledger)
	require.NoError(t, err)
	for _, calls := range all {
		for i := range calls {
			calls[i].At = calls[i].At.Add(-s.odd[calls[i].By].Off)
		}
	}
	return all
}

// audit compares what was asked with what is recorded.
func (s *Siege) audit(t *testing.T) {
	t.Helper()
	asked := s.asked(t)
	var sum Audit
	var want [4]*Outcome
	for n, id := range s.Begun {
		if want[n%4] == nil {
			want[n%4] = Undisturbed(t, besieged(id, n))
		}
		sum.Hold(t, s.Engine, id, asked[id], want[n%4])
	}
	s.Waited = waits(asked, s.deaths)
	t.Log(&sum)
	t.Logf("time to continue after a kill, %d times: p50 %v, p99 %v; the longest time between two calls of a conversation %v; lease %v",
		len(s.Waited), Quantile(s.Waited, 0.5), Quantile(s.Waited, 0.99), Standstill(asked).Round(time.Millisecond), s.Lease)
	assert.Zero(t, sum.Faults())
	assert.Positive(t, sum.Broken, "no kill has met a call: the test finds nothing")
	if longform.Asked() { // a few measure the machine
		assert.LessOrEqual(t, Quantile(s.Waited, 0.99), s.Lease+30*time.Second)
	}
}

// Seed is the seed of conversations that are compared with undisturbed ones.
func Seed() string { return "seed" }

// Outcome is what a conversation comes to.
type Outcome struct {
	Results   map[string]string
	Canonical string // the record of a debate without its times; "": it is of another flow
	Reason    flow.EndReason
}

// Undisturbed plays a conversation that nobody disturbs.
func Undisturbed(t testing.TB, config flow.Config) *Outcome {
	t.Helper()
	engine := Engine(&store.Memory{}, nil)
	engine.Seed = Seed
	record, err := engine.Play(t.Context(), config)
	require.NoError(t, err)
	return outcomeOf(t, record, Log(t, engine, record.ID))
}

func outcomeOf(t testing.TB, record *flow.Record, log []flow.Event) *Outcome {
	t.Helper()
	o := &Outcome{Results: Results(log), Reason: record.Reason}
	if d, ok := debate.Of(record); ok {
		data, err := d.Canonical()
		require.NoError(t, err)
		o.Canonical = string(data)
	}
	return o
}

// Log returns the log of a conversation that is over.
func Log(t testing.TB, engine *debate.Engine, id string) (log []flow.Event) {
	t.Helper()
	for event, err := range engine.Events(t.Context(), id, 0) {
		require.NoError(t, err)
		log = append(log, event)
	}
	return log
}

// Hold adds a conversation that is over, whose record must be that of an undisturbed one.
func (a *Audit) Hold(t testing.TB, engine *debate.Engine, id string, asked []Asked, want *Outcome) {
	t.Helper()
	log := Log(t, engine, id)
	a.Add(log, asked, want.Results)
	record, err := engine.Record(t.Context(), id)
	require.NoError(t, err)
	got := outcomeOf(t, record, log)
	require.Equal(t, want.Canonical, got.Canonical, id)
	assert.Equal(t, want.Reason, got.Reason, id)
}

// Until waits until something holds, however busy the machine is. What never holds is ended by go test's own timeout, which shows where
// the test waits.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	tick, late := time.NewTicker(20*time.Millisecond), time.NewTimer(time.Minute)
	defer tick.Stop()
	defer late.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-late.C:
			t.Logf("after a minute still not: %s", what)
		}
	}
}

// Reached waits until so many conversations are in a state, and returns when the last of them came there.
func Reached(t testing.TB, engine *debate.Engine, state flow.State, all int) (last time.Time) {
	t.Helper()
	for n := 0; n < all; {
		<-time.After(longform.Or(100*time.Millisecond, 20*time.Millisecond)) // to look takes time from those who are measured
		require.NoError(t, t.Context().Err(), "%d of %d are %s", n, all, state)
		n = 0
		for info, err := range engine.List(t.Context(), store.Filter{States: []flow.State{state}}) {
			require.NoError(t, err)
			n++
			if info.LastAt.After(last) {
				last = info.LastAt
			}
		}
	}
	return last
}

// PlayAll lets the sessions of an engine play conversations to their ends, so many at a time.
func PlayAll(t testing.TB, engine *debate.Engine, ids []string, places int) {
	t.Helper()
	var all sync.WaitGroup
	next := make(chan string)
	for range places {
		all.Go(func() {
			for id := range next {
				s, err := engine.Open(t.Context(), id)
				if assert.NoError(t, err) {
					_, err = s.Wait(t.Context())
					assert.NoError(t, err)
					assert.NoError(t, s.Close())
				}
			}
		})
	}
	for _, id := range ids {
		next <- id
	}
	close(next)
	all.Wait()
}
