package limit_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/limit"
)

// Machines have no more calls in flight than there are places, and use them: each has the same part, and where there are
// fewer places than machines, each has its turn.
func TestMachinesSharePlaces(t *testing.T) {
	for _, test := range []struct {
		places, machines, callers int
		least                     float64 // of the places, used on average
	}{
		{10, 1, 30, 0.99},
		{10, 2, 30, 0.97},
		{10, 3, 30, 0.97},
		{40, 4, 30, 0.97},
		{4, 4, 5, 0.97},
		{2, 4, 5, 0.85},
		{1, 3, 2, 0.85},
	} {
		t.Run(fmt.Sprint(test.places, " for ", test.machines), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &ledger{ahead: time.Hour, took: 3 * time.Millisecond}
				v := newVendor(5 * time.Second) // all calls of all machines
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
				defer cancel()
				var group sync.WaitGroup
				counts := make([]int, test.machines)
				var mu sync.Mutex
				for i := range counts {
					places := &limit.Concurrency{Calls: test.places, Ledger: l, Name: "v"}
					defer places.Close()
					p := places.Wrap(v)
					for range test.callers {
						group.Go(func() {
							for ctx.Err() == nil {
								if ask(ctx, p, "m") == nil {
									mu.Lock()
									counts[i]++
									mu.Unlock()
								}
							}
						})
					}
				}
				group.Wait()
				reached := float64(len(v.starts())) * 5 / 600 / float64(test.places)
				t.Logf("%.3f of the places used, %v by machine, %.1f exchanges a second", reached, counts, float64(l.count())/600)
				assert.GreaterOrEqual(t, reached, test.least)
				assert.LessOrEqual(t, v.peak(), test.places)
				part := 120 * float64(test.places) / float64(test.machines)
				for _, n := range counts {
					if test.places > test.machines && test.places%test.machines != 0 {
						assert.InDelta(t, part, n, 120) // the place that is left stays with one machine
					} else {
						assert.InDelta(t, part, n, 0.25*part)
					}
				}
			})
		})
	}
}

// A machine that has all places gives others their part as its calls end, and gets it back when they have gone.
func TestPlacesMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		a := &limit.Concurrency{Calls: 10, Ledger: l}
		b := &limit.Concurrency{Calls: 10, Ledger: l}
		v := newVendor(2 * time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() {
				for ctx.Err() == nil {
					_ = ask(ctx, a.Wrap(v), "m")
				}
			})
		}
		pass(10 * time.Second)
		assert.Equal(t, 10, a.Status().InFlight)
		later, stop := context.WithCancel(t.Context())
		for range 20 {
			group.Go(func() {
				for later.Err() == nil {
					_ = ask(later, b.Wrap(v), "m")
				}
			})
		}
		pass(5 * time.Second)
		assert.Equal(t, 5, a.Status().InFlight)
		assert.Equal(t, 5, b.Status().InFlight)
		stop()
		pass(5 * time.Second)
		assert.Equal(t, 10, a.Status().InFlight)
		cancel()
		group.Wait()
		a.Close()
		b.Close()
		assert.Equal(t, 10, v.peak())
	})
}

// The places of a machine that dies are free when its lease has ended, and not before.
func TestPlacesOfADeadMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		way := &mortal{Ledger: l}
		dead := &limit.Concurrency{Calls: 2, Ledger: way, Lease: 6 * time.Second}
		v := newVendor(time.Minute)
		for range 2 {
			go func() { _ = ask(t.Context(), dead.Wrap(v), "m") }()
		}
		pass(30 * time.Second)
		assert.Equal(t, 2, v.peak())
		kept := &limit.Concurrency{Calls: 2, Ledger: l, Lease: 6 * time.Second}
		began := time.Now()
		way.die()
		quick := newVendor(0)
		require.NoError(t, ask(t.Context(), kept.Wrap(quick), "m"))
		assert.InDelta(t, 5, time.Since(began).Seconds(), 1.6) // it was renewed up to two seconds ago, and is asked for twice a second
		pass(time.Minute)
		kept.Close()
		dead.Close()
	})
}

// A machine that cannot reach the ledger starts calls in its places until the lease ends, and not after that: others may
// have them.
func TestALeaseEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		way := &mortal{Ledger: l}
		places := &limit.Concurrency{Calls: 1, Ledger: way, Lease: 5 * time.Second}
		v := newVendor(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				for ctx.Err() == nil {
					_ = ask(ctx, places.Wrap(v), "m")
				}
			})
		}
		pass(3500 * time.Millisecond)
		way.die()
		group.Wait()
		last := v.starts()[len(v.starts())-1]
		assert.Greater(t, last, 5*time.Second)
		assert.LessOrEqual(t, last, 9*time.Second)
		places.Close()
	})
}

// mortal is the way of one machine to a ledger.
type mortal struct {
	limit.Ledger
	mu    sync.Mutex
	dead  bool
	loses bool // the next answer
}

func (m *mortal) die() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dead = true
}

func (m *mortal) lose(next bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.loses = next
}

func (m *mortal) UpdateLimit(ctx context.Context, name string, change func([]byte, time.Time) []byte) error {
	m.mu.Lock()
	dead, loses := m.dead, m.loses
	m.loses = false
	m.mu.Unlock()
	if dead {
		return errors.New("no way")
	}
	err := m.Ledger.UpdateLimit(ctx, name, change)
	if loses {
		return errors.New("no answer")
	}
	return err
}

// Whatever ends when: there are never more calls in flight than places, and all places come back.
func TestPlacesUnderDisorder(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 4))
				l := &ledger{took: time.Duration(random.IntN(500)) * time.Millisecond}
				v := newVendor(time.Second)
				calls := 1 + random.IntN(6)
				var group sync.WaitGroup
				var all []*limit.Concurrency
				for range 1 + random.IntN(5) {
					places := &limit.Concurrency{Calls: calls, Ledger: l, Name: "v"}
					all = append(all, places)
					for range 30 {
						start, give := time.Duration(random.IntN(20_000))*time.Millisecond, time.Duration(random.IntN(20_000))*time.Millisecond
						group.Go(func() {
							pass(start)
							ctx, cancel := context.WithTimeout(t.Context(), give)
							defer cancel()
							_ = ask(ctx, places.Wrap(v), "m")
						})
					}
				}
				group.Wait()
				assert.LessOrEqual(t, v.peak(), calls)
				pass(5 * time.Second)
				idle := l.count()
				pass(time.Minute)
				assert.Equal(t, idle, l.count(), "who has no calls asks nothing")
				one := &limit.Concurrency{Calls: calls, Ledger: l, Name: "v"}
				again := newVendor(time.Second)
				askAll(t, one.Wrap(again), calls)
				assert.Equal(t, calls, again.peak())
				one.Close()
				for _, c := range all {
					c.Close()
				}
			})
		})
	}
}

// A call that waits for a place fails if the ledger does.
func TestALedgerOfPlacesFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		l.set(errors.New("no database"), false)
		places := &limit.Concurrency{Ledger: l, Name: "gateway"}
		v := newVendor(0)
		began := time.Now()
		err := ask(t.Context(), places.Wrap(v), "m")
		wantEnded(t, err, provider.KindNetwork)
		require.ErrorContains(t, err, `"gateway"`)
		assert.InDelta(t, 10, time.Since(began).Seconds(), 1)
		l.set(nil, false)
		pass(time.Second)
		require.NoError(t, ask(t.Context(), places.Wrap(v), "m"))
		places.Close()
		wantEnded(t, ask(t.Context(), places.Wrap(v), "m"), provider.KindNetwork)
		assert.Len(t, v.starts(), 1)
	})
}
