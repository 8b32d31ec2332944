package limit_test

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/limit"
)

// limited is a vendor's 429.
func limited(after time.Duration) error {
	return &provider.Error{Kind: provider.KindRateLimit, Status: 429, RetryAfter: after}
}

// perMinute returns the limit that holds now for model m, of the name v.
func perMinute(t *testing.T, r *limit.Rate) float64 {
	t.Helper()
	for _, s := range r.Status() {
		if s.Name == "v" && s.Model == "m" {
			return s.Requests
		}
	}
	t.Fatal("the model is not known")
	return 0
}

func TestARateLimitHalves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVendor(0)
		fail := true
		v.answer = func(*provider.Request) (*provider.Response, error) {
			if fail {
				return nil, limited(0)
			}
			return &provider.Response{Text: "Yes."}, nil
		}
		limits := &limit.Rate{Requests: 60}
		p := limits.Wrap("v", v)
		for _, want := range []float64{30, 15, 7.5, 3.75, 3.75} {
			require.Error(t, ask(t.Context(), p, "m"))
			assert.Equal(t, want, perMinute(t, limits))
		}
		// What follows a failure comes as late as the new limit has it: nothing is saved up.
		assert.Equal(t, seconds(0, 2, 6, 14, 30), v.starts())

		fail = false
		require.NoError(t, ask(t.Context(), p, "m"))
		assert.Equal(t, 46*time.Second, v.starts()[5])
		for want := 4.75; want < 60; want++ {
			assert.InDelta(t, want, perMinute(t, limits), 1e-9)
			require.NoError(t, ask(t.Context(), p, "m"))
		}
		require.NoError(t, ask(t.Context(), p, "m"))
		assert.Equal(t, 60.0, perMinute(t, limits), "and no more than that")
		before := len(v.starts())
		askAll(t, p, 4)
		at := v.starts()[before:]
		assert.Equal(t, time.Second, at[3]-at[2])
		assert.Equal(t, time.Second, at[2]-at[1])
	})
}

// TestARateLimitTakesTheBurst: the next call comes as late as the new limit has it.
func TestARateLimitTakesTheBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVendor(0)
		v.answer = func(*provider.Request) (*provider.Response, error) { return nil, limited(0) }
		p := (&limit.Rate{Requests: 240}).Wrap("v", v)
		for range 3 {
			require.Error(t, ask(t.Context(), p, "m"))
		}
		assert.Equal(t, seconds(0, 0.5, 1.5), v.starts())
	})
}

// TestWhoHasWaitedTellsOfTheLimitThatLetHimGo: not of that under which he came.
func TestWhoHasWaitedTellsOfTheLimitThatLetHimGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVendor(time.Second / 2)
		v.answer = func(req *provider.Request) (*provider.Response, error) {
			if req.ID == "limited" {
				return nil, limited(0)
			}
			return &provider.Response{Text: "Yes."}, nil
		}
		limits := &limit.Rate{Requests: 60}
		p := limits.Wrap("v", v)
		var group sync.WaitGroup
		group.Go(func() {
			_, err := p.Generate(t.Context(), &provider.Request{ID: "limited", Model: "m"}, silent)
			assert.Error(t, err)
		})
		synctest.Wait()
		group.Go(func() { assert.NoError(t, ask(t.Context(), p, "m")) })
		pass(time.Second)
		assert.Equal(t, 30.0, perMinute(t, limits))
		group.Wait()
		assert.Equal(t, seconds(0, 2.5), v.starts())
		assert.InDelta(t, 31, perMinute(t, limits), 1e-9)
	})
}

// TestAFailureGivesNothingBack: not even one that was paid.
func TestAFailureGivesNothingBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVendor(0)
		failure := limited(0)
		v.answer = func(*provider.Request) (*provider.Response, error) {
			return &provider.Response{Usage: provider.Usage{Input: 5}}, failure
		}
		limits := &limit.Rate{Requests: 60}
		p := limits.Wrap("v", v)
		require.Error(t, ask(t.Context(), p, "m"))
		failure = &provider.Error{Kind: provider.KindAPI}
		require.Error(t, ask(t.Context(), p, "m"))
		assert.Equal(t, 30.0, perMinute(t, limits))
	})
}

// TestAHalvedLimitIsWholeAfterFortyTwoSeconds: at any height, if it is fully used.
func TestAHalvedLimitIsWholeAfterFortyTwoSeconds(t *testing.T) {
	for name, rate := range map[string]*limit.Rate{
		"60": {Requests: 60}, "500": {Requests: 500, Burst: 1}, "5000": {Requests: 5000, Burst: 1},
		"of tokens": {Requests: -1, Tokens: 500_000},
		"of both":   {Requests: 1_000_000, Tokens: 500_000},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := newVendor(0)
				first := true
				v.answer = func(*provider.Request) (*provider.Response, error) {
					if first {
						first = false
						return nil, limited(0)
					}
					return &provider.Response{Text: "Yes.", Usage: provider.Usage{Output: limit.DefaultOutput}}, nil
				}
				p := rate.Wrap("v", v)
				require.Error(t, ask(t.Context(), p, "m"))
				whole := func() bool {
					s := rate.Status()[0]
					return s.Requests >= float64(rate.Requests) && s.Tokens >= float64(rate.Tokens)
				}
				require.False(t, whole())
				began := time.Now()
				for !whole() {
					require.NoError(t, ask(t.Context(), p, "m"))
				}
				assert.InDelta(t, 60*math.Ln2, time.Since(began).Seconds(), 2)
			})
		})
	}
}

func TestFloorAndRecoveryAreTheHosts(t *testing.T) {
	for name, test := range map[string]struct {
		rate        *limit.Rate
		floor, then float64
	}{
		"set":                 {&limit.Rate{Requests: 600, Floor: 0.25, Recovery: 5}, 150, 155},
		"as it is":            {&limit.Rate{Requests: 600}, 37.5, 38.5},
		"never slowed":        {&limit.Rate{Requests: 600, Floor: 1}, 600, 600},
		"out of range":        {&limit.Rate{Requests: 600, Floor: 2, Recovery: -1}, 37.5, 38.5},
		"no number":           {&limit.Rate{Requests: 600, Floor: math.NaN(), Recovery: math.NaN()}, 37.5, 38.5},
		"recovered in a step": {&limit.Rate{Requests: 600, Recovery: math.Inf(1)}, 37.5, 600},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := newVendor(0)
				v.answer = func(*provider.Request) (*provider.Response, error) { return nil, limited(0) }
				p := test.rate.Wrap("v", v)
				for range 6 {
					require.Error(t, ask(t.Context(), p, "m"))
				}
				assert.Equal(t, test.floor, perMinute(t, test.rate))
				v.answer = nil
				require.NoError(t, ask(t.Context(), p, "m"))
				assert.InDelta(t, test.then, perMinute(t, test.rate), 1e-9)
			})
		})
	}
}

// TestFailuresThatWereUnderWayTogetherCountAsOne: and what started before says nothing afterwards.
func TestFailuresThatWereUnderWayTogetherCountAsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVendor(10 * time.Second)
		v.answer = func(req *provider.Request) (*provider.Response, error) {
			if req.ID == "late success" {
				return &provider.Response{Text: "Yes."}, nil
			}
			return nil, limited(0)
		}
		limits := &limit.Rate{Requests: 600}
		p := limits.Wrap("v", v)
		var group sync.WaitGroup
		for i := range 10 {
			group.Go(func() {
				pass(time.Duration(i) * time.Second)
				require.Error(t, ask(t.Context(), p, "m"))
			})
		}
		group.Go(func() {
			pass(9 * time.Second)
			_, err := p.Generate(t.Context(), &provider.Request{ID: "late success", Model: "m"}, silent)
			assert.NoError(t, err)
		})
		pass(10*time.Second + time.Millisecond)
		assert.Equal(t, 300.0, perMinute(t, limits))
		group.Wait()
		assert.Equal(t, 300.0, perMinute(t, limits))
		askAll(t, p, 3)
		assert.Equal(t, 150.0, perMinute(t, limits))
	})
}

func TestOtherFailuresDoNotSlow(t *testing.T) {
	for _, kind := range []provider.Kind{
		provider.KindNetwork, provider.KindQuota, provider.KindAPI, provider.KindTimeout, provider.KindContextOverflow,
		provider.KindAuthentication, provider.KindContentFilter, provider.KindRefusal, provider.KindInvalidResponse,
		provider.KindValidation, provider.KindCanceled, provider.KindCostLimit, provider.KindState, provider.KindConflict, "",
	} {
		t.Run(string(kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := newVendor(0)
				failure := &provider.Error{Kind: kind, Status: 429, RetryAfter: 30 * time.Second}
				v.answer = func(*provider.Request) (*provider.Response, error) { return nil, failure }
				limits := &limit.Rate{Requests: 60}
				p := limits.Wrap("v", v)
				assert.Same(t, failure, ask(t.Context(), p, "m"))
				askAll(t, p, 2)
				assert.Equal(t, seconds(0, 1, 2), v.starts())
				assert.Equal(t, []limit.RateStatus{{Name: "v", Model: "m", Requests: 60}}, limits.Status())
			})
		})
	}
	t.Run("one that is no *provider.Error", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v := newVendor(0)
			v.answer = func(*provider.Request) (*provider.Response, error) { return nil, errors.New("odd") }
			limits := &limit.Rate{Requests: 60}
			require.Error(t, ask(t.Context(), limits.Wrap("v", v), "m"))
			assert.Equal(t, []limit.RateStatus{{Name: "v", Model: "m", Requests: 60}}, limits.Status())
		})
	})
	t.Run("a wrapped one counts", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v := newVendor(0)
			v.answer = func(*provider.Request) (*provider.Response, error) { return nil, fmt.Errorf("asking: %w", limited(0)) }
			limits := &limit.Rate{Requests: 60}
			require.Error(t, ask(t.Context(), limits.Wrap("v", v), "m"))
			assert.Equal(t, 30.0, perMinute(t, limits))
		})
	})
}

// TestRetryAfterHoldsTheModel: those that wait, those that come, and no other model.
func TestRetryAfterHoldsTheModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVendor(time.Second)
		v.answer = func(req *provider.Request) (*provider.Response, error) {
			if req.ID == "" {
				return &provider.Response{Text: "Yes."}, nil
			}
			after, err := time.ParseDuration(req.ID)
			assert.NoError(t, err)
			return nil, limited(after)
		}
		limits := &limit.Rate{Requests: 600}
		p := limits.Wrap("v", v)
		began := time.Now()
		var group sync.WaitGroup
		for _, id := range []string{"20s", "40s", "5s"} { // the longest counts, whatever comes after it
			group.Go(func() {
				_, err := p.Generate(t.Context(), &provider.Request{ID: id, Model: "m"}, silent)
				assert.Error(t, err)
			})
		}
		pass(2 * time.Second)
		assert.Equal(t, []limit.RateStatus{
			{Name: "v", Model: "m", Requests: 300, PausedUntil: began.Add(41 * time.Second)},
		}, limits.Status())
		for range 3 {
			group.Go(func() { assert.NoError(t, ask(t.Context(), p, "m")) })
		}
		assert.NoError(t, ask(t.Context(), p, "n"))
		assert.NoError(t, ask(t.Context(), limits.Wrap("w", v), "m"))
		assert.Equal(t, 4*time.Second, time.Since(began), "nobody else waits")
		assert.Equal(t, 3, limits.Status()[0].Waiting)
		group.Wait()
		assert.Equal(t, seconds(0, 0, 0, 2, 3, 41, 41, 41), v.starts())
		assert.Zero(t, limits.Status()[0].PausedUntil)
	})
}

func TestALongRetryAfterHoldsNobody(t *testing.T) {
	for name, test := range map[string]struct {
		pause, after time.Duration
		want         []time.Duration
		perMinute    float64
	}{
		"as long as may be":       {0, time.Minute, seconds(0, 60), 30},
		"longer":                  {0, time.Minute + 1, seconds(0, 1), 60},
		"as long as the host has": {time.Hour, time.Hour, seconds(0, 3600), 30},
		"longer than that":        {time.Hour, time.Hour + 1, seconds(0, 1), 60},
		"no such time":            {-time.Second, 5 * time.Second, seconds(0, 5), 30},
		"in the past":             {0, -time.Hour, seconds(0, 2), 30},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := newVendor(0)
				v.answer = func(*provider.Request) (*provider.Response, error) { return nil, limited(test.after) }
				limits := &limit.Rate{Requests: 60, MaxPause: test.pause}
				p := limits.Wrap("v", v)
				require.Error(t, ask(t.Context(), p, "m"))
				assert.Equal(t, test.perMinute, perMinute(t, limits))
				v.answer = nil
				require.NoError(t, ask(t.Context(), p, "m"))
				assert.Equal(t, test.want, v.starts())
			})
		})
	}
}
