package cassette_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/cassette"
)

func TestChecks(t *testing.T) {
	gone := &provider.Error{Kind: provider.KindValidation, Message: "no such model"}
	v := saying(said("yes"))
	v.VendorName = "acme"
	v.OnCheck = func(_ context.Context, model string) error {
		if model == "gone" {
			return gone
		}
		return nil
	}
	tape, file := recording(t, cassette.Options{})
	p := tape.Wrap("v", v)
	assert.Equal(t, "acme", p.(provider.Vendor).Vendor())
	assert.Same(t, v, p.(provider.Wrapper).Unwrap())
	check := func(p provider.Provider, model string) error {
		return p.(provider.Checker).Check(context.Background(), model)
	}
	require.NoError(t, check(p, "spare"))
	require.NoError(t, check(p, "spare"))
	require.ErrorIs(t, check(p, "gone"), gone)
	ask(p, &provider.Request{Model: "used"})
	blind := tape.Wrap("blind", &listener{})
	require.NoError(t, check(blind, "any"), "who cannot check lets pass")
	assert.Empty(t, blind.(provider.Vendor).Vendor())
	require.NoError(t, tape.Close())

	tape = open(t, file, cassette.Options{})
	p = tape.Wrap("v", nil)
	assert.Equal(t, "acme", p.(provider.Vendor).Vendor(), "prices are found by it")
	require.NoError(t, check(p, "spare"))
	require.NoError(t, check(p, "used"))
	require.NoError(t, check(tape.Wrap("blind", nil), "any"))
	unseen(t, check(p, "gone"))
	unseen(t, check(tape.Wrap("other", nil), "used"))
	assert.Empty(t, tape.Wrap("other", nil).(provider.Vendor).Vendor())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, p.(provider.Checker).Check(ctx, "used"), context.Canceled)

	extended := open(t, file, cassette.Options{Mode: cassette.Extend})
	v.OnCheck = func(_ context.Context, model string) error {
		assert.Equal(t, "new", model, "what is known is not asked")
		return nil
	}
	for _, model := range []string{"spare", "used", "new", "new"} {
		require.NoError(t, check(extended.Wrap("v", v), model))
	}
	assert.Contains(t, contents(t, file), `"new",`)
}
