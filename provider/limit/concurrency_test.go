package limit_test

import (
	"context"
	"math/rand/v2"
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

func TestSoManyAtOnce(t *testing.T) {
	for name, test := range map[string]struct {
		calls int
		want  []time.Duration
	}{
		"nobody said how many": {0, seconds(0, 1, 2, 3, 4)},
		"fewer than one":       {-3, seconds(0, 1, 2, 3, 4)},
		"one":                  {1, seconds(0, 1, 2, 3, 4)},
		"two":                  {2, seconds(0, 0, 1, 1, 2)},
		"more than there are":  {9, seconds(0, 0, 0, 0, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := newVendor(time.Second)
				places := &limit.Concurrency{Calls: test.calls}
				askAll(t, places.Wrap(v), 5)
				assert.Equal(t, test.want, v.starts())
				assert.Equal(t, min(5, max(1, test.calls)), v.peak())
				assert.Equal(t, limit.ConcurrencyStatus{Calls: max(1, test.calls)}, places.Status())
			})
		})
	}
}

// TestPlacesAreShared: over all the providers that it wraps.
func TestPlacesAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVendor(time.Second)
		places := &limit.Concurrency{Calls: 2}
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() { askAll(t, places.Wrap(v), 2) })
		}
		synctest.Wait()
		assert.Equal(t, limit.ConcurrencyStatus{Calls: 2, Waiting: 6, InFlight: 2}, places.Status())
		group.Wait()
		assert.Equal(t, seconds(0, 0, 1, 1, 2, 2, 3, 3), v.starts())
	})
}

func TestPlacesGoToWhoCameFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVendor(time.Second)
		p := (&limit.Concurrency{}).Wrap(v)
		var group sync.WaitGroup
		var want []string
		for i := range 1_000 {
			id := strconv.Itoa(i)
			want = append(want, id)
			group.Go(func() {
				_, err := p.Generate(t.Context(), &provider.Request{ID: id}, silent)
				assert.NoError(t, err)
			})
			synctest.Wait()
		}
		group.Wait()
		assert.Equal(t, want, v.ids())
		assert.Equal(t, 1_000*time.Second, time.Since(v.began))
	})
}

// TestAPlaceIsAlwaysFreed: by replies, failures, panics, calls that are given up in the queue, in the moment of
// their turn, or under way. As long as somebody waits, every place is taken.
func TestAPlaceIsAlwaysFreed(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 2))
				places := &limit.Concurrency{Calls: 1 + random.IntN(4)}
				v := newVendor(time.Second)
				v.answer = func(req *provider.Request) (*provider.Response, error) {
					switch req.ID {
					case "panic":
						return broken()
					case "failure":
						return nil, &provider.Error{Kind: provider.KindAPI}
					}
					return &provider.Response{Text: "Yes."}, nil
				}
				p := places.Wrap(v)
				var group sync.WaitGroup
				for range 100 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.IntN(60))*time.Second/2)
					defer cancel()
					req := &provider.Request{ID: []string{"panic", "failure", "", ""}[random.IntN(4)]}
					group.Go(func() {
						defer func() { _ = recover() }()
						_, _ = p.Generate(ctx, req, silent)
					})
				}
				for range 40 {
					synctest.Wait()
					if s := places.Status(); s.Waiting > 0 {
						require.Equal(t, s.Calls, s.InFlight)
					}
					pass(time.Second / 4)
				}
				group.Wait()
				assert.Equal(t, max(1, places.Calls), v.peak())
				assert.Equal(t, limit.ConcurrencyStatus{Calls: places.Calls}, places.Status())
			})
		})
	}
}

func TestACallIsGivenUpInTheQueueForAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVendor(time.Minute)
		places := &limit.Concurrency{}
		p := places.Wrap(v)
		go func() { _ = ask(t.Context(), p, "m") }()
		synctest.Wait()

		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		wantEnded(t, ask(ctx, p, "m"), provider.KindCanceled)
		wantEnded(t, ask(ctx, p, "m"), provider.KindCanceled)
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		wantEnded(t, ask(ctx, p, "m"), provider.KindTimeout)
		assert.Equal(t, 2*time.Second, time.Since(v.began))
		assert.Equal(t, limit.ConcurrencyStatus{Calls: 1, InFlight: 1}, places.Status())

		clock := withClock(t.Context(), 61*time.Second)
		require.NoError(t, ask(clock, p, "m"))
		stood, runs := clock.still()
		assert.Equal(t, 58*time.Second, stood)
		assert.True(t, runs)
		clock.timer.Stop()
		assert.Len(t, v.starts(), 2)
	})
}

func TestACallThatIsOverTakesNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVendor(0)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		wantEnded(t, ask(ctx, (&limit.Concurrency{}).Wrap(v), "m"), provider.KindCanceled)
		assert.Empty(t, v.starts())
	})
}

// TestAPlaceThatIsGivenUpInItsTurnGoesOn: to the next one.
func TestAPlaceThatIsGivenUpInItsTurnGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVendor(time.Second)
		places := &limit.Concurrency{}
		p := places.Wrap(v)
		ctx := &lateContext{Context: t.Context()}
		var group sync.WaitGroup
		group.Go(func() { assert.NoError(t, ask(t.Context(), p, "m")) })
		synctest.Wait()
		group.Go(func() { wantEnded(t, ask(ctx, p, "m"), provider.KindCanceled) })
		synctest.Wait()
		ctx.over.Store(true)
		group.Go(func() { assert.NoError(t, ask(t.Context(), p, "m")) })
		group.Wait()
		assert.Equal(t, seconds(0, 1), v.starts())
		assert.Equal(t, limit.ConcurrencyStatus{Calls: 1}, places.Status())
	})
}
