package limit_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/limit"
	"github.com/agonist-dev/debate/provider/scripted"
)

// bothOrders wraps a provider in both limits, each way round.
func bothOrders(limits *limit.Rate, places *limit.Concurrency, p provider.Provider) map[string]provider.Wrapper {
	return map[string]provider.Wrapper{
		"the rate inside":  places.Wrap(limits.Wrap("v", p)),
		"the rate outside": limits.Wrap("v", places.Wrap(p)),
	}
}

func TestOneAroundTheOther(t *testing.T) {
	for _, order := range []string{"the rate inside", "the rate outside"} {
		t.Run(order, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := newVendor(3 * time.Second)
				p := bothOrders(&limit.Rate{Requests: 60}, &limit.Concurrency{Calls: 2}, v)[order]
				var group sync.WaitGroup
				group.Go(func() { askAll(t, p, 6) })
				group.Wait()
				assert.Equal(t, seconds(0, 1, 3, 4, 6, 7), v.starts())
				assert.Equal(t, 2, v.peak())
			})
		})
	}
}

func TestAbilitiesAreFoundThroughLimits(t *testing.T) {
	inner := &scripted.Provider{
		VendorName: "acme",
		OnCheck:    func(_ context.Context, model string) error { return errors.New("no " + model) },
	}
	for order, p := range bothOrders(&limit.Rate{}, &limit.Concurrency{}, inner) {
		t.Run(order, func(t *testing.T) {
			checker, ok := provider.As[provider.Checker](p)
			require.True(t, ok)
			require.EqualError(t, checker.Check(t.Context(), "m"), "no m")
			vendor, ok := provider.As[provider.Vendor](p)
			require.True(t, ok)
			assert.Equal(t, "acme", vendor.Vendor())
			w, ok := p.Unwrap().(provider.Wrapper)
			require.True(t, ok)
			assert.Same(t, inner, w.Unwrap())
		})
	}
}

// TestReplyAndFailureAreTheProviders: unchanged, chunks as they come.
func TestReplyAndFailureAreTheProviders(t *testing.T) {
	failure := &provider.Error{Kind: provider.KindRateLimit, RetryAfter: time.Second}
	inner := &scripted.Provider{Replies: map[string][]scripted.Reply{"Ada": {
		{Text: "Yes, of course.", Chunks: 3, Interval: time.Second},
		{Err: failure, Usage: provider.Usage{Input: 7}},
	}}}
	synctest.Test(t, func(t *testing.T) {
		p := (&limit.Concurrency{}).Wrap((&limit.Rate{Tokens: 1_000_000}).Wrap("v", inner))
		req := &provider.Request{Model: "m", Self: "Ada"}
		began := time.Now()
		var at []time.Duration
		response, err := p.Generate(t.Context(), req, func(provider.Chunk) { at = append(at, time.Since(began)) })
		require.NoError(t, err)
		assert.Equal(t, "Yes, of course.", response.Text)
		assert.Equal(t, seconds(0, 1, 2), at)

		response, err = p.Generate(t.Context(), req, silent)
		assert.Same(t, failure, err)
		assert.Equal(t, provider.Usage{Input: 7}, response.Usage)
		assert.Equal(t, 2, inner.Calls(), "nothing is asked again")
	})
}

// keyed has a key that no print may show, and named shows what it wants to.
type (
	keyed struct {
		provider.Provider
		Key string
	}
	named struct{ keyed }
)

func (named) String() string { return "acme" }

func TestWrappersShowNoKey(t *testing.T) {
	key := keyed{Key: "sk-secret"}
	limits, places := &limit.Rate{}, &limit.Concurrency{}
	for want, p := range map[string]provider.Provider{
		"paced(limit_test.keyed)":         limits.Wrap("v", key),
		"capped(*limit_test.keyed)":       places.Wrap(&key),
		"paced(acme)":                     limits.Wrap("v", named{key}),
		"capped(paced(acme))":             places.Wrap(limits.Wrap("v", &named{key})),
		"paced(capped(limit_test.keyed))": limits.Wrap("v", places.Wrap(key)),
		"paced(<nil>)":                    limits.Wrap("v", nil),
		"capped(<nil>)":                   places.Wrap(nil),
	} {
		for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
			assert.Equal(t, want, fmt.Sprintf(format, p))
		}
	}
}

func TestAWrapperWithoutParts(t *testing.T) {
	for name, p := range map[string]provider.Wrapper{
		"paced": &limit.Paced{}, "capped": &limit.Capped{},
		"by a rate": (&limit.Rate{}).Wrap("", nil), "by places": (&limit.Concurrency{}).Wrap(nil),
	} {
		t.Run(name, func(t *testing.T) {
			wantEnded(t, ask(t.Context(), p, "m"), provider.KindValidation)
			assert.Nil(t, p.Unwrap())
			_, ok := provider.As[provider.Checker](p)
			assert.False(t, ok)
		})
	}
	inner := &scripted.Provider{}
	require.NoError(t, ask(t.Context(), &limit.Paced{Provider: inner}, "m"))
	require.NoError(t, ask(t.Context(), &limit.Capped{Provider: inner}, "m"))
	assert.Empty(t, (&limit.Rate{}).Status())
}

// TestCallsOfAbilitiesPassTheLimits: they count like requests, but do not wait for others, and what a vendor refuses them with holds the
// requests of the model.
func TestCallsOfAbilitiesPassTheLimits(t *testing.T) {
	for order := range bothOrders(&limit.Rate{}, &limit.Concurrency{}, &scripted.Provider{}) {
		t.Run(order, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inner := &scripted.Provider{OnCheck: func(context.Context, string) error { return nil }}
				p := bothOrders(&limit.Rate{Requests: 60, Burst: 1}, &limit.Concurrency{Calls: 1}, inner)[order]
				began := time.Now()
				for range 3 {
					require.NoError(t, check(t.Context(), p))
					wantEnded(t, check(t.Context(), p), provider.KindRateLimit)
					assert.Zero(t, time.Since(began), "it does not wait")
					pass(time.Second)
					began = time.Now()
				}
				inner.OnCheck = func(context.Context, string) error {
					return &provider.Error{Kind: provider.KindRateLimit, Status: 429, RetryAfter: 20 * time.Second}
				}
				require.Error(t, check(t.Context(), p))
				began = time.Now()
				require.NoError(t, ask(t.Context(), p, "m"))
				assert.Equal(t, 20*time.Second, time.Since(began))
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				require.Error(t, check(ctx, p))
			})
		})
	}
	ok, err := provider.Through(t.Context(), &limit.Paced{}, "m", func(context.Context, provider.Checker) error { return errors.New("called") })
	require.NoError(t, err)
	assert.False(t, ok)
}

// checking is a provider that takes a while for a reply, and none for a check.
func checking() *scripted.Provider {
	return &scripted.Provider{
		OnCheck: func(context.Context, string) error { return nil },
		Reply:   func(*provider.Request) scripted.Reply { return scripted.Reply{Text: "Yes.", Delay: 3 * time.Second} },
	}
}

// check calls an ability of a provider.
func check(ctx context.Context, p provider.Provider) error {
	_, err := provider.Through(ctx, p, "m", func(ctx context.Context, c provider.Checker) error { return c.Check(ctx, "m") })
	return err
}

// A limit that is full refuses a call of an ability. That is no answer of the vendor: a rate around it does not slow down.
func TestAFullLimitSlowsNothingDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := &limit.Rate{Requests: 60}
		p := limits.Wrap("v", (&limit.Concurrency{Calls: 1}).Wrap(checking()))
		go func() { _ = ask(t.Context(), p, "m") }()
		pass(2 * time.Second)
		wantEnded(t, check(t.Context(), p), provider.KindRateLimit)
		require.Len(t, limits.Status(), 1)
		assert.InDelta(t, 60, limits.Status()[0].Requests, 0.1)
		pass(2 * time.Second)
		require.NoError(t, check(t.Context(), p))
	})
}

// Where limits are shared, a call of an ability waits for what the ledger says, and not for other machines.
func TestCallsOfAbilitiesAskTheLedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		a, b := &limit.Concurrency{Calls: 1, Ledger: l, Name: "v"}, &limit.Concurrency{Calls: 1, Ledger: l, Name: "v"}
		limits := &limit.Rate{Requests: 600, Ledger: l}
		require.NoError(t, check(t.Context(), limits.Wrap("v", a.Wrap(checking()))))
		var busy sync.WaitGroup
		busy.Go(func() { assert.NoError(t, ask(t.Context(), a.Wrap(checking()), "m")) })
		pass(time.Second)
		began := time.Now()
		wantEnded(t, check(t.Context(), b.Wrap(checking())), provider.KindRateLimit)
		assert.LessOrEqual(t, time.Since(began), time.Second)
		busy.Wait()
		a.Close()
		b.Close()
		limits.Close()
	})
}
