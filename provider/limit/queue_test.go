package limit_test

import (
	"context"
	"fmt"
	"math/rand/v2"
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

func TestFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 1_000
		v := newVendor(90 * time.Second) // many are under way at once
		limits := &limit.Rate{Requests: 600, Burst: 1}
		p := limits.Wrap("v", v)
		var group sync.WaitGroup
		var want []string
		for i := range n {
			id := strconv.Itoa(i)
			want = append(want, id)
			group.Go(func() {
				_, err := p.Generate(t.Context(), &provider.Request{ID: id, Model: "m"}, silent)
				assert.NoError(t, err)
			})
			synctest.Wait() // it is in the queue
		}
		assert.Equal(t, []limit.RateStatus{{Name: "v", Model: "m", Requests: 600, Waiting: n - 1, InFlight: 1}}, limits.Status())
		group.Wait()
		assert.Equal(t, want, v.ids())
		at := v.starts()
		for i := range at {
			require.Equal(t, time.Duration(i)*100*time.Millisecond, at[i])
		}
		assert.Equal(t, []limit.RateStatus{{Name: "v", Model: "m", Requests: 600}}, limits.Status())
	})
}

// TestACallThatIsGivenUpLeavesNoHole: wherever in the queue it stood.
func TestACallThatIsGivenUpLeavesNoHole(t *testing.T) {
	for _, gone := range [][]int{{1}, {2, 3}, {5}, {1, 2, 3, 4}, {1, 2, 3, 4, 5}} {
		t.Run(fmt.Sprint(gone), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := newVendor(0)
				limits := &limit.Rate{Requests: 60}
				p := limits.Wrap("v", v)
				var group sync.WaitGroup
				var want []string
				var at []time.Duration
				for i := range 6 {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					if slices.Contains(gone, i) {
						time.AfterFunc(500*time.Millisecond, cancel)
					} else {
						want = append(want, strconv.Itoa(i))
						at = append(at, time.Duration(len(at))*time.Second)
					}
					group.Go(func() {
						began := time.Now()
						_, err := p.Generate(ctx, &provider.Request{ID: strconv.Itoa(i), Model: "m"}, silent)
						if !slices.Contains(gone, i) {
							assert.NoError(t, err)
							return
						}
						wantEnded(t, err, provider.KindCanceled)
						assert.Equal(t, 500*time.Millisecond, time.Since(began), "at once")
					})
					synctest.Wait()
				}
				group.Wait()
				assert.Equal(t, want, v.ids())
				assert.Equal(t, at, v.starts())
				assert.Equal(t, []limit.RateStatus{{Name: "v", Model: "m", Requests: 60}}, limits.Status())
			})
		})
	}
}

// TestACallThatIsGivenUpInItsTurnGivesItBack: a request, its tokens, and its place.
func TestACallThatIsGivenUpInItsTurnGivesItBack(t *testing.T) {
	for name, limits := range map[string]*limit.Rate{
		"of requests": {Requests: 60}, "of tokens": {Requests: -1, Tokens: 60 * limit.DefaultOutput},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := newVendor(0)
				p := limits.Wrap("v", v)
				_, err := p.Generate(t.Context(), &provider.Request{Model: "m", MaxTokens: 60 * limit.DefaultOutput}, silent)
				require.NoError(t, err)
				ctx := &lateContext{Context: t.Context()}
				var group sync.WaitGroup
				group.Go(func() { wantEnded(t, ask(ctx, p, "m"), provider.KindCanceled) })
				synctest.Wait()
				ctx.over.Store(true)
				askAll(t, p, 2)
				group.Wait()
				assert.Equal(t, seconds(0, 1, 2), v.starts())
				assert.Zero(t, limits.Status()[0].InFlight)
			})
		})
	}
}

func TestADeadlineEndsAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVendor(0)
		p := (&limit.Rate{Requests: 1}).Wrap("v", v)
		require.NoError(t, ask(t.Context(), p, "m"))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		wantEnded(t, ask(ctx, p, "m"), provider.KindTimeout)
		assert.Equal(t, 10*time.Second, time.Since(v.began))
		assert.Len(t, v.starts(), 1)
	})
}

func TestACallThatIsOverDoesNotBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVendor(0)
		limits := &limit.Rate{Requests: 60}
		p := limits.Wrap("v", v)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		wantEnded(t, ask(ctx, p, "m"), provider.KindCanceled)
		assert.Empty(t, v.starts())
		assert.Empty(t, limits.Status(), "it has not even been looked at")
		askAll(t, p, 2)
		assert.Equal(t, seconds(0, 1), v.starts())
	})
}

// TestNoPlaceIsLost: with calls that come and go as they like, somebody starts in every second in which
// somebody waits, nobody is overtaken, and nothing is left. Some are given up in the very moment in which it
// is their turn.
func TestNoPlaceIsLost(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 1))
				v := newVendor(0)
				limits := &limit.Rate{Requests: 60}
				p := limits.Wrap("v", v)
				var group sync.WaitGroup
				patient := 0
				for i := range 200 {
					ctx := t.Context()
					if random.IntN(2) == 0 {
						// Whole seconds are when calls start.
						limited, cancel := context.WithTimeout(ctx, time.Duration(random.IntN(100))*time.Second/2+time.Nanosecond*time.Duration(random.IntN(2)))
						defer cancel()
						ctx = limited
					} else {
						patient++
					}
					group.Go(func() {
						_, err := p.Generate(ctx, &provider.Request{ID: strconv.Itoa(i), Model: "m"}, silent)
						if err != nil {
							wantEnded(t, err, provider.KindTimeout)
						}
					})
					synctest.Wait()
				}
				group.Wait()
				at := v.starts()
				require.GreaterOrEqual(t, len(at), patient)
				for i := range at {
					require.Equal(t, time.Duration(i)*time.Second, at[i])
				}
				last := -1
				for _, id := range v.ids() {
					i, err := strconv.Atoi(id)
					require.NoError(t, err)
					require.Greater(t, i, last)
					last = i
				}
				assert.Equal(t, []limit.RateStatus{{Name: "v", Model: "m", Requests: 60}}, limits.Status())
			})
		})
	}
}

func TestWaitingDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVendor(3 * time.Second)
		p := (&limit.Rate{Requests: 1}).Wrap("v", v)
		require.NoError(t, ask(t.Context(), p, "m"))

		ctx := withClock(t.Context(), 4*time.Second)
		require.NoError(t, ask(ctx, p, "m"))
		stood, runs := ctx.still()
		assert.Equal(t, 57*time.Second, stood)
		assert.True(t, runs)
		assert.Equal(t, 63*time.Second, time.Since(v.began))

		// What comes after the wait does count.
		ctx = withClock(t.Context(), 2*time.Second)
		require.Error(t, ask(ctx, p, "m"))
		assert.Equal(t, 122*time.Second, time.Since(v.began))

		// A call that is given up lets its clock go on.
		outer, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		ctx = withClock(outer, time.Second)
		require.Error(t, ask(ctx, p, "m"))
		stood, runs = ctx.still()
		assert.Equal(t, 5*time.Second, stood)
		assert.True(t, runs)
		ctx.timer.Stop()
	})
}

// TestWhoDoesNotWaitStopsNoClock.
func TestWhoDoesNotWaitStopsNoClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := (&limit.Concurrency{}).Wrap((&limit.Rate{}).Wrap("v", newVendor(time.Second)))
		ctx := withClock(t.Context(), time.Minute)
		require.NoError(t, ask(ctx, p, "m"))
		stood, runs := ctx.still()
		assert.Zero(t, stood)
		assert.True(t, runs)
		ctx.timer.Stop()
	})
}
