package limit_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/limit"
)

// ledger keeps values in memory, by a clock of its own.
type ledger struct {
	ahead time.Duration // of the machines' clock
	took  time.Duration // for an update

	mu      sync.Mutex
	values  map[string][]byte
	updates int
	broken  error // of each update
	hangs   bool  // until the context ends
}

func (l *ledger) UpdateLimit(ctx context.Context, name string, change func([]byte, time.Time) []byte) error {
	l.mu.Lock()
	hangs, broken := l.hangs, l.broken
	l.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	pass(l.took)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.updates++
	if broken != nil {
		return broken
	}
	if l.values == nil {
		l.values = map[string][]byte{}
	}
	l.values[name] = change(l.values[name], time.Now().Add(l.ahead))
	return nil
}

func (l *ledger) set(broken error, hangs bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken, l.hangs = broken, hangs
}

func (l *ledger) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.updates
}

// most returns the most starts in any minute.
func most(starts []time.Duration) int {
	slices.Sort(starts)
	most, first := 0, 0
	for i, at := range starts {
		for at-starts[first] >= time.Minute {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

// machines makes so many callers on each of several machines ask without a pause, and returns when each of them
// has started calls.
func machines(t *testing.T, limits []*limit.Rate, took, d time.Duration, callers ...int) [][]time.Duration {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	var group sync.WaitGroup
	vendors := make([]*vendor, len(limits))
	for i, r := range limits {
		v := newVendor(took)
		vendors[i] = v
		p := r.Wrap("v", v)
		for range callers[i%len(callers)] {
			group.Go(func() {
				for ctx.Err() == nil {
					_ = ask(ctx, p, "m")
				}
			})
		}
	}
	group.Wait()
	for _, r := range limits {
		r.Close()
	}
	starts := make([][]time.Duration, len(limits))
	for i, v := range vendors {
		starts[i] = v.starts()
	}
	return starts
}

// Machines that ask as much as they can together start as many calls as the limit allows, and no more in any minute;
// each has the same part, whatever the number of its callers is.
func TestMachinesShareALimit(t *testing.T) {
	for _, test := range []struct {
		requests, machines int
		callers            []int
	}{
		{6000, 1, []int{50}},
		{6000, 2, []int{200}},
		{6000, 4, []int{20, 200}},
		{600, 10, []int{30}},
		{60, 4, []int{10}},
		{10, 3, []int{2, 8}},
		{50, 20, []int{5}},
		{1500, 20, []int{30}},
	} {
		t.Run(fmt.Sprint(test.requests, " on ", test.machines), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &ledger{ahead: -time.Hour, took: 3 * time.Millisecond}
				limits := make([]*limit.Rate, test.machines)
				for i := range limits {
					limits[i] = &limit.Rate{Requests: test.requests, Ledger: l}
				}
				const minutes = 3
				starts := machines(t, limits, 100*time.Millisecond, minutes*time.Minute, test.callers...)
				all := slices.Concat(starts...)
				least, highest := len(all), 0
				for _, s := range starts {
					least, highest = min(least, len(s)), max(highest, len(s))
				}
				reached := float64(len(all)) / float64(test.requests*minutes)
				t.Logf("%.3f of the limit, at most %d of %d in a minute, machines %d to %d, %.1f exchanges a second",
					reached, most(all), test.requests, least, highest, float64(l.count())/minutes/60)
				assert.GreaterOrEqual(t, reached, 0.9)
				assert.LessOrEqual(t, most(all), test.requests)
				assert.LessOrEqual(t, highest-least, max(3, highest/5))
			})
		})
	}
}

// Whatever the machines do, no minute has more calls than the limit: they come and go, calls are given up in the queue
// and in the moment of their turn, and some are not sent.
func TestMachinesUnderDisorder(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 5))
				l := &ledger{took: time.Duration(random.IntN(100)) * time.Millisecond}
				requests := 10 + random.IntN(600)
				var sent []time.Duration
				v := newVendor(0)
				v.answer = func(req *provider.Request) (*provider.Response, error) {
					if req.ID == "unsent" {
						return nil, &provider.Error{Kind: provider.KindValidation, NotSent: true}
					}
					v.mu.Lock()
					defer v.mu.Unlock()
					sent = append(sent, time.Since(v.began))
					return &provider.Response{Text: "Yes."}, nil
				}
				var group sync.WaitGroup
				limits := make([]*limit.Rate, 1+random.IntN(5))
				for i := range limits {
					limits[i] = &limit.Rate{Requests: requests, Ledger: l}
					p := limits[i].Wrap("v", v)
					for range 500 {
						start, give := time.Duration(random.IntN(300_000))*time.Millisecond, time.Duration(random.IntN(30_000))*time.Millisecond
						req := &provider.Request{Model: "m", ID: []string{"unsent", "", ""}[random.IntN(3)]}
						if random.IntN(2) == 0 {
							start = start / 60_000 * 60_000 // many at once
						}
						group.Go(func() {
							pass(start)
							ctx, cancel := context.WithTimeout(t.Context(), give)
							defer cancel()
							_, _ = p.Generate(ctx, req, silent)
						})
					}
				}
				group.Wait()
				assert.LessOrEqual(t, most(sent), requests)
				pass(5 * time.Second)
				idle := l.count()
				pass(time.Minute)
				assert.Equal(t, idle, l.count(), "who has no calls asks nothing")
				for _, r := range limits {
					assert.Zero(t, r.Status()[0].InFlight)
					r.Close()
				}
			})
		})
	}
}

// A silence saves up a burst, and no more.
func TestASilenceOfAllMachines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		r := &limit.Rate{Requests: 64, Burst: 3, Ledger: l}
		defer r.Close()
		v := newVendor(0)
		p := r.Wrap("v", v)
		require.NoError(t, ask(t.Context(), p, "m"))
		pass(time.Hour)
		began := time.Since(v.began)
		askAll(t, p, 5)
		var after []float64
		for _, at := range v.starts()[1:] {
			after = append(after, (at - began).Round(100*time.Millisecond).Seconds())
		}
		assert.Equal(t, []float64{0, 0, 0, 1, 2}, after)
	})
}

// A ledger's clock that jumps holds nobody up for longer than ten minutes, and wins nobody a second call.
func TestTheClockOfALedgerJumps(t *testing.T) {
	for _, jump := range []time.Duration{-time.Hour, time.Hour} {
		t.Run(jump.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &ledger{}
				r := &limit.Rate{Requests: 64, Ledger: l}
				defer r.Close()
				v := newVendor(0)
				p := r.Wrap("v", v)
				askAll(t, p, 10)
				l.mu.Lock()
				l.ahead = jump
				l.mu.Unlock()
				began := time.Now()
				require.NoError(t, ask(t.Context(), p, "m"))
				assert.LessOrEqual(t, time.Since(began), 11*time.Minute)
				askAll(t, p, 10)
				assert.LessOrEqual(t, most(v.starts()), 64)
				t.Log(time.Since(began))
			})
		})
	}
}

// What one machine does not use, the others get.
func TestWhatOneMachineLeavesOthersGet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		limits := []*limit.Rate{{Requests: 600, Ledger: l}, {Requests: 600, Ledger: l}}
		starts := machines(t, limits, time.Second, 5*time.Minute, 1, 50)
		t.Log(len(starts[0]), len(starts[1]))
		assert.Greater(t, len(starts[0]), 5*60/2)
		assert.GreaterOrEqual(t, float64(len(starts[0])+len(starts[1])), 0.9*5*600)
	})
}

// A ledger that fails, or hangs, holds calls for ten seconds. Then they fail, until it works again.
func TestALedgerFails(t *testing.T) {
	for _, hangs := range []bool{false, true} {
		t.Run(fmt.Sprint("hangs ", hangs), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &ledger{}
				broken := errors.New("no database")
				l.set(broken, hangs)
				r := &limit.Rate{Requests: 60, Ledger: l}
				v := newVendor(0)
				p := r.Wrap("v", v)
				began := time.Now()
				err := ask(t.Context(), p, "m")
				wantEnded(t, err, provider.KindNetwork)
				assert.ErrorContains(t, err, `shared limits of "v"`)
				assert.InDelta(t, 11, time.Since(began).Seconds(), 3)
				began = time.Now()
				wantEnded(t, ask(t.Context(), p, "m"), provider.KindNetwork)
				assert.LessOrEqual(t, time.Since(began), 4*time.Second)

				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
				defer cancel()
				began = time.Now()
				wantEnded(t, ask(ctx, p, "m"), provider.KindTimeout)
				assert.Equal(t, 50*time.Millisecond, time.Since(began))

				l.set(nil, false)
				pass(4 * time.Second) // an exchange that hangs ends
				require.NoError(t, ask(t.Context(), p, "m"))
				assert.Len(t, v.starts(), 1)
				r.Close()
			})
		})
	}
}

// A Rate that is closed gives back what it holds, and starts nothing.
func TestAClosedRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		r := &limit.Rate{Requests: 60, Ledger: l}
		v := newVendor(0)
		require.NoError(t, ask(t.Context(), r.Wrap("v", v), "m"))
		failed := make(chan error, 1)
		go func() { failed <- ask(t.Context(), r.Wrap("v", v), "m") }()
		synctest.Wait()
		r.Close()
		wantEnded(t, <-failed, provider.KindNetwork)
		wantEnded(t, ask(t.Context(), r.Wrap("v", v), "m"), provider.KindNetwork)
		r.Close()
		assert.Len(t, v.starts(), 1)
	})
}
