package provider_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
)

// plain can do what every provider can.
type plain struct{}

func (plain) Generate(context.Context, *provider.Request, func(provider.Chunk)) (*provider.Response, error) {
	return &provider.Response{}, nil
}

// checking can check models too.
type checking struct {
	plain

	name string
}

func (checking) Check(context.Context, string) error { return nil }
func (c checking) Vendor() string                    { return c.name }

// wrapped hides nothing.
type wrapped struct {
	plain

	inner provider.Provider
}

func (w wrapped) Unwrap() provider.Provider { return w.inner }

// renamed is a wrapper with an ability of its own.
type renamed struct{ wrapped }

func (renamed) Vendor() string { return "outer" }

func TestAs(t *testing.T) {
	deep := wrapped{inner: wrapped{inner: checking{name: "inner"}}}
	vendor, ok := provider.As[provider.Vendor](deep)
	require.True(t, ok)
	assert.Equal(t, "inner", vendor.Vendor())

	outer := renamed{wrapped{inner: checking{name: "inner"}}}
	vendor, ok = provider.As[provider.Vendor](outer)
	require.True(t, ok)
	assert.Equal(t, "outer", vendor.Vendor(), "what the wrapper can do itself comes first")

	for _, p := range []provider.Provider{nil, plain{}, wrapped{}, wrapped{inner: plain{}}} {
		_, ok = provider.As[provider.Checker](p)
		assert.False(t, ok, "%#v", p)
	}
	_, ok = provider.As[provider.Lister](deep)
	assert.False(t, ok)
}

// clock counts the pauses.
type clock struct{ paused, resumed int }

func (c *clock) Pause() func() {
	c.paused++
	return func() { c.resumed++ }
}

func TestWaiting(t *testing.T) {
	provider.Waiting(t.Context())() // without a clock it does nothing

	c := &clock{}
	ctx := context.WithValue(t.Context(), provider.ClockKey{}, c)
	resume := provider.Waiting(ctx)
	assert.Equal(t, clock{paused: 1}, *c)
	resume()
	assert.Equal(t, clock{paused: 1, resumed: 1}, *c)

	provider.Waiting(context.WithValue(t.Context(), provider.ClockKey{}, "no clock"))()
}
