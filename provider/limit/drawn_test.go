package limit_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/limit"
)

// A wait that a vendor asks one machine for holds all of them, within a second, and so does the lower pace.
func TestAWaitHoldsAllMachines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{ahead: time.Hour, took: 20 * time.Millisecond}
		a, b := &limit.Rate{Requests: 600, Ledger: l}, &limit.Rate{Requests: 600, Ledger: l}
		refused := newVendor(0)
		refused.answer = func(*provider.Request) (*provider.Response, error) { return nil, limited(30 * time.Second) }
		v := newVendor(10 * time.Millisecond)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var group sync.WaitGroup
		for range 5 {
			group.Go(func() {
				for ctx.Err() == nil {
					_ = ask(ctx, b.Wrap("v", v), "m")
				}
			})
		}
		pass(10 * time.Second)
		require.Error(t, ask(t.Context(), a.Wrap("v", refused), "m"))
		at := time.Since(v.began)
		pass(20 * time.Second)
		assert.InDelta(t, 300, perMinute(t, b), 1)
		assert.InDelta(t, 10, time.Until(b.Status()[0].PausedUntil).Seconds(), 0.1, "it grows with no exchange")
		group.Wait()
		held := 0
		for _, start := range v.starts() {
			if start > at+time.Second && start < at+30*time.Second {
				held++
			}
		}
		assert.Zero(t, held)
		after := v.starts()[len(v.starts())-1]
		assert.Greater(t, after, 55*time.Second)
		a.Close()
		b.Close()
	})
}

// Refusals of several machines at one moment lower the limits once, as on one machine.
func TestRefusalsOfOneMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		v := newVendor(time.Second)
		v.answer = func(*provider.Request) (*provider.Response, error) { return nil, limited(0) }
		var limits []*limit.Rate
		var group sync.WaitGroup
		for range 4 {
			r := &limit.Rate{Requests: 600, Burst: 10, Ledger: l}
			limits = append(limits, r)
			group.Go(func() { askAll(t, r.Wrap("v", v), 2) })
		}
		group.Wait()
		assert.Less(t, time.Since(v.began), 2*time.Second)
		pass(5 * time.Second)
		v.answer = nil
		for _, r := range limits {
			askAll(t, r.Wrap("v", v), 1)
			assert.InDelta(t, 300, perMinute(t, r), 5)
			r.Close()
		}
	})
}

// What was handed out and not used is the others', also if its time has not come.
func TestWhatIsGivenUpIsHandedOutAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		v := newVendor(0)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var group sync.WaitGroup
		for range 20 {
			r := &limit.Rate{Requests: 64, Ledger: l}
			defer r.Close()
			group.Go(func() { _ = ask(ctx, r.Wrap("v", v), "m") })
		}
		group.Wait()
		pass(3 * time.Second)
		began := time.Now()
		r := &limit.Rate{Requests: 64, Ledger: l}
		defer r.Close()
		require.NoError(t, ask(t.Context(), r.Wrap("v", v), "m"))
		assert.LessOrEqual(t, time.Since(began), time.Second)
	})
}

// A portion is used for a second after its time, and no longer, also while the ledger hangs.
func TestAPortionExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		r := &limit.Rate{Requests: 6000, Burst: 1, Ledger: l}
		v := newVendor(0)
		v.answer = func(*provider.Request) (*provider.Response, error) { return &provider.Response{Cached: true}, nil }
		p := r.Wrap("v", v)
		for range 20 { // it gets more than it needs, and has always something to report
			require.NoError(t, ask(t.Context(), p, "m"))
			pass(5 * time.Millisecond)
		}
		l.set(nil, true)
		require.NoError(t, ask(t.Context(), p, "m"))
		pass(3 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		require.Error(t, ask(ctx, p, "m"))
		l.set(nil, false)
		pass(4 * time.Second)
		require.NoError(t, ask(t.Context(), p, "m"))
		r.Close()
	})
}

// What was given back is not given back again if the ledger's answer is lost.
func TestALostAnswerGivesNothingTwice(t *testing.T) {
	started := func(lost bool) (at time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			way := &mortal{Ledger: &ledger{}}
			var limits [3]*limit.Rate
			for i := range limits {
				limits[i] = &limit.Rate{Requests: -1, Tokens: 64_000, Ledger: way.Ledger} // 1,000 a second
				defer limits[i].Close()
			}
			limits[0].Ledger = way
			v := newVendor(500 * time.Millisecond)
			v.answer = func(*provider.Request) (*provider.Response, error) {
				way.lose(lost)
				return &provider.Response{Text: "Yes.", Usage: provider.Usage{Output: 10}}, nil
			}
			var group sync.WaitGroup
			for i, tokens := range []int{5_000, 40_000, 1_000} {
				group.Go(func() {
					_, err := limits[i].Wrap("v", v).Generate(t.Context(), &provider.Request{Model: "m", MaxTokens: tokens}, silent)
					assert.NoError(t, err)
				})
				synctest.Wait()
				pass(100 * time.Millisecond)
			}
			group.Wait()
			at = v.starts()[2]
		})
		return at
	}
	exact, lost := started(false), started(true)
	t.Log(exact, lost)
	assert.GreaterOrEqual(t, lost, exact)
}

// Tokens are reserved before a call, and what it has used settles the account for all machines.
func TestMachinesShareTokens(t *testing.T) {
	for name, test := range map[string]struct{ reserved, used int }{
		"as estimated": {1000, 1000},
		"fewer":        {4000, 500},
		"more":         {200, 1500},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &ledger{}
				v := newVendor(time.Second)
				v.answer = func(*provider.Request) (*provider.Response, error) {
					return &provider.Response{Text: "Yes.", Usage: provider.Usage{Output: test.used}}, nil
				}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
				defer cancel()
				var group sync.WaitGroup
				for range 3 {
					r := &limit.Rate{Requests: -1, Tokens: 200_000, Ledger: l}
					defer r.Close()
					p := r.Wrap("v", v)
					for range 40 {
						group.Go(func() {
							for ctx.Err() == nil {
								_, _ = p.Generate(ctx, &provider.Request{Model: "m", MaxTokens: test.reserved}, silent)
							}
						})
					}
				}
				group.Wait()
				used := len(v.starts()) * test.used
				reached := float64(used) / (10 * 200_000)
				t.Logf("%.3f of the limit, at most %d in a minute, %.1f exchanges a second", reached, most(v.starts())*test.used, float64(l.count())/600)
				assert.GreaterOrEqual(t, reached, 0.9)
				if test.reserved >= test.used {
					assert.LessOrEqual(t, most(v.starts())*test.used, 200_000)
				}
			})
		})
	}
}
