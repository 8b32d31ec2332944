package limit_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/limit"
)

func TestCallsStartAtTheLimit(t *testing.T) {
	for name, test := range map[string]struct {
		rate  *limit.Rate
		calls int
		want  []time.Duration
	}{
		"one a second":              {&limit.Rate{Requests: 60}, 5, seconds(0, 1, 2, 3, 4)},
		"nobody said how many":      {&limit.Rate{}, 4, seconds(0, 1.2, 2.4, 3.6)},
		"a burst":                   {&limit.Rate{Requests: 60, Burst: 3}, 6, seconds(0, 0, 0, 1, 2, 3)},
		"a second's worth at once":  {&limit.Rate{Requests: 240}, 7, seconds(0, 0, 0, 0, 0.25, 0.5, 0.75)},
		"it is rounded up":          {&limit.Rate{Requests: 61}, 2, seconds(0, 0)},
		"a negative burst is none":  {&limit.Rate{Requests: 60, Burst: -3}, 3, seconds(0, 1, 2)},
		"without a limit":           {&limit.Rate{Requests: -1}, 100, slices.Repeat(seconds(0), 100)},
		"limits of the model's own": {&limit.Rate{Requests: 6000, Models: map[string]limit.Allowance{"v/m": {Requests: 30}}}, 3, seconds(0, 2, 4)},
		"a burst of the model's own": {
			&limit.Rate{Requests: 60, Models: map[string]limit.Allowance{"v/m": {Burst: 2}, "w/m": {Burst: 9}}}, 3, seconds(0, 0, 1),
		},
		"no limit of the model's own": {
			&limit.Rate{Requests: 60, Models: map[string]limit.Allowance{"v/m": {Requests: -1}}}, 3, seconds(0, 0, 0),
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := newVendor(0)
				askAll(t, test.rate.Wrap("v", v), test.calls)
				assert.Equal(t, test.want, v.starts())
			})
		})
	}
}

// TestASilenceSavesUpABurst: and no more than that.
func TestASilenceSavesUpABurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVendor(0)
		p := (&limit.Rate{Requests: 60, Burst: 2}).Wrap("v", v)
		askAll(t, p, 3)
		pass(time.Hour)
		askAll(t, p, 4)
		assert.Equal(t, seconds(0, 0, 1, 3601, 3601, 3602, 3603), v.starts())
	})
}

// TestLimitsAreShared: by name and model, whoever asks.
func TestLimitsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVendor(0)
		limits := &limit.Rate{Requests: 60}
		began := time.Now()
		var group sync.WaitGroup
		for range 3 {
			p := limits.Wrap("v", v)
			group.Go(func() { assert.NoError(t, ask(t.Context(), p, "m")) })
		}
		group.Go(func() { // another model, another account
			assert.NoError(t, ask(t.Context(), limits.Wrap("v", v), "n"))
			assert.NoError(t, ask(t.Context(), limits.Wrap("w", v), "m"))
			assert.Zero(t, time.Since(began))
		})
		group.Wait()
		assert.Equal(t, seconds(0, 0, 0, 1, 2), v.starts())
	})
}

// TestWhatWasNotSentCostsNothing: neither a request nor tokens.
func TestWhatWasNotSentCostsNothing(t *testing.T) {
	for name, answer := range map[string]func(*provider.Request) (*provider.Response, error){
		"not sent": func(*provider.Request) (*provider.Response, error) {
			return nil, &provider.Error{Kind: provider.KindValidation, NotSent: true}
		},
		"cached": func(*provider.Request) (*provider.Response, error) {
			return &provider.Response{Text: "Yes.", Cached: true}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := newVendor(0)
				v.answer = answer
				limits := &limit.Rate{Requests: 1, Tokens: limit.DefaultOutput}
				p := limits.Wrap("v", v)
				for range 100 {
					_ = ask(t.Context(), p, "m")
				}
				assert.Zero(t, time.Since(v.began))
				v.answer = nil
				askAll(t, p, 2)
				assert.Equal(t, time.Minute, time.Since(v.began))
			})
		})
	}
	t.Run("and proves nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v := newVendor(0)
			v.answer = func(*provider.Request) (*provider.Response, error) { return nil, limited(0) }
			limits := &limit.Rate{Requests: 60}
			p := limits.Wrap("v", v)
			require.Error(t, ask(t.Context(), p, "m"))
			v.answer = func(*provider.Request) (*provider.Response, error) { return &provider.Response{Cached: true}, nil }
			require.NoError(t, ask(t.Context(), p, "m"))
			assert.Equal(t, 30.0, perMinute(t, limits))
		})
	})
}

func TestAPanicPassesThrough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVendor(0)
		v.answer = func(*provider.Request) (*provider.Response, error) { return broken() }
		limits, places := &limit.Rate{Requests: 60}, &limit.Concurrency{}
		p := places.Wrap(limits.Wrap("v", v))
		assert.PanicsWithValue(t, "vendor", func() { _ = ask(t.Context(), p, "m") })
		assert.Equal(t, []limit.RateStatus{{Name: "v", Model: "m", Requests: 60}}, limits.Status())
		assert.Equal(t, limit.ConcurrencyStatus{Calls: 1}, places.Status())
	})
}

// TestManyModels: their state does not grow for ever, and what is in use is kept.
func TestManyModels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVendor(0)
		slow := newVendor(time.Hour)
		limits := &limit.Rate{Requests: 60}
		p := limits.Wrap("v", v)
		var group sync.WaitGroup
		for range 2 { // one under way, one in the queue of another model
			group.Go(func() { assert.NoError(t, ask(t.Context(), limits.Wrap("slow", slow), "under way")) })
		}
		synctest.Wait()
		for i := range 10_000 {
			require.NoError(t, ask(t.Context(), p, "model "+strconv.Itoa(i)))
		}
		status := limits.Status()
		assert.Len(t, status, 256+1)
		assert.Equal(t, limit.RateStatus{Name: "slow", Model: "under way", Requests: 60, Waiting: 1, InFlight: 1}, status[0])
		for i := range 256 { // the last ones
			assert.NotEqual(t, -1, slices.IndexFunc(status, func(s limit.RateStatus) bool {
				return s.Name == "v" && s.Model == "model "+strconv.Itoa(9_999-i)
			}))
		}
		// One that is used now and then is not forgotten.
		for i := range 1_000 {
			v.answer = func(*provider.Request) (*provider.Response, error) { return nil, errors.New("no such model") }
			if i == 0 {
				v.answer = func(*provider.Request) (*provider.Response, error) { return nil, limited(0) }
			}
			if i%100 == 0 {
				require.Error(t, ask(t.Context(), p, "m"))
			}
			require.Error(t, ask(t.Context(), p, "other "+strconv.Itoa(i)))
		}
		assert.Equal(t, 30.0, perMinute(t, limits))
		group.Wait()
		assert.Len(t, limits.Status(), 256)
	})
}

// TestModelsOnlyWaitedForAreForgottenToo: if nobody waits any more, and not before.
func TestModelsOnlyWaitedForAreForgottenToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVendor(0)
		v.answer = func(*provider.Request) (*provider.Response, error) { return nil, limited(time.Minute) }
		limits := &limit.Rate{Requests: 600}
		p := limits.Wrap("v", v)
		var group sync.WaitGroup
		require.Error(t, ask(t.Context(), p, "m"))
		group.Go(func() { assert.Error(t, ask(t.Context(), p, "m")) })
		group.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			assert.Error(t, ask(ctx, p, "m"))
		})
		pass(2 * time.Second)
		for i := range 1_000 {
			model := "model " + strconv.Itoa(i)
			require.Error(t, ask(t.Context(), p, model))
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			wantEnded(t, ask(ctx, p, model), provider.KindTimeout)
			cancel()
		}
		status := limits.Status()
		assert.Len(t, status, 256+1)
		assert.Equal(t, "m", status[0].Model)
		assert.Equal(t, 1, status[0].Waiting)
		group.Wait()
		assert.Len(t, limits.Status(), 256)
	})
}

// TestAnybodyAtAnyTime is for the race detector: real time, real goroutines.
func TestAnybodyAtAnyTime(t *testing.T) {
	limits := &limit.Rate{Requests: 600_000, Tokens: 1 << 40, Burst: 1}
	places := &limit.Concurrency{Calls: 3}
	v := newVendor(0)
	v.answer = func(req *provider.Request) (*provider.Response, error) {
		switch len(req.ID) % 3 {
		case 0:
			return nil, limited(time.Microsecond)
		case 1:
			return nil, &provider.Error{Kind: provider.KindValidation, NotSent: true}
		default:
			return &provider.Response{Usage: provider.Usage{Input: 100, Output: 100}}, nil
		}
	}
	var group sync.WaitGroup
	for i := range 50 {
		group.Go(func() {
			p := places.Wrap(limits.Wrap("v", v))
			for n := range 20 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i*n)*time.Microsecond)
				_, _ = p.Generate(ctx, &provider.Request{ID: strconv.Itoa(i * n), Model: strconv.Itoa(i % 3)}, silent)
				cancel()
				limits.Status()
				places.Status()
			}
		})
	}
	group.Wait()
	for _, s := range limits.Status() {
		assert.Zero(t, s.Waiting+s.InFlight)
	}
	assert.Equal(t, limit.ConcurrencyStatus{Calls: 3}, places.Status())
	assert.LessOrEqual(t, v.peak(), 3)
}
