package cassette_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/cassette"
	"github.com/agonist-dev/debate/provider/scripted"
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

func TestCountsAndVectors(t *testing.T) {
	failure := &provider.Error{Kind: provider.KindQuota, Status: 402}
	v := &vendor{
		answer: func(*provider.Request) answer { return said("yes") },
		count: func(req *provider.Request) (int, error) {
			if req.Self == "Ben" {
				return 0, failure
			}
			return len(req.Last.Text), nil
		},
		embed: func(texts []string) (*provider.Embedding, error) {
			if len(texts) == 0 {
				return nil, failure
			}
			out := &provider.Embedding{Usage: provider.Usage{Input: 3}, Model: "e-1"}
			for range texts {
				out.Vectors = append(out.Vectors, []float32{1, -0.1, math.SmallestNonzeroFloat32, math.MaxFloat32, 1.0 / 3})
			}
			return out, nil
		},
	}
	texts := []string{"one", "two\nlines"}
	play := func(t *testing.T, p provider.Provider, word string) {
		t.Helper()
		counter, ok := provider.As[provider.TokenCounter](p)
		require.True(t, ok)
		embedder, ok := provider.As[provider.Embedder](p)
		require.True(t, ok)
		n, err := counter.CountTokens(t.Context(), &provider.Request{Last: provider.Message{Fence: word, Text: word}})
		require.NoError(t, err)
		assert.Equal(t, 16, n)
		_, err = counter.CountTokens(t.Context(), &provider.Request{Self: "Ben"})
		assert.EqualError(t, err, failure.Error())
		vectors, err := embedder.Embed(t.Context(), "e", texts)
		require.NoError(t, err)
		want, _ := v.embed(texts)
		assert.Equal(t, want, vectors)
		_, err = embedder.Embed(t.Context(), "e", nil)
		assert.EqualError(t, err, failure.Error())
	}
	tape, file := recording(t, cassette.Options{})
	play(t, tape.Wrap("v", v), fence)
	for _, mode := range []cassette.Mode{cassette.Replay, cassette.Extend} {
		tape = open(t, file, cassette.Options{Mode: mode})
		p := tape.Wrap("v", nil)
		play(t, p, otherFence)
		assert.Empty(t, tape.Unused())
		counter, _ := provider.As[provider.TokenCounter](p)
		_, err := counter.CountTokens(t.Context(), &provider.Request{Self: "Cyd"})
		unseen(t, err)
		embedder, _ := provider.As[provider.Embedder](p)
		_, err = embedder.Embed(t.Context(), "e", texts[:1])
		unseen(t, err)
		_, err = embedder.Embed(t.Context(), "other", texts)
		unseen(t, err)
	}
	// Who is asked now, and cannot, says so.
	p := open(t, file, cassette.Options{Mode: cassette.Extend}).Wrap("v", &listener{})
	counter, _ := provider.As[provider.TokenCounter](p)
	_, err := counter.CountTokens(t.Context(), &provider.Request{Self: "Cyd"})
	assert.Contains(t, unseen(t, err), "does not count tokens")
	embedder, _ := provider.As[provider.Embedder](p)
	_, err = embedder.Embed(t.Context(), "other", texts)
	assert.Contains(t, unseen(t, err), "does not embed")
}

type (
	onlyCounts struct {
		provider.Provider
		provider.TokenCounter
	}
	only       struct{ provider.Provider } // Generate
	onlyEmbeds struct {
		provider.Provider
		provider.Embedder
	}
)

// A provider on tape can do what the provider can, and nothing else.
func TestAbilities(t *testing.T) {
	v := saying(said("yes"))
	v.count = func(*provider.Request) (int, error) { return 1, nil }
	v.embed = func([]string) (*provider.Embedding, error) { return &provider.Embedding{}, nil }
	for name, p := range map[string]provider.Provider{
		"": only{&scripted.Provider{}}, "count": onlyCounts{&scripted.Provider{}, v}, "embed": onlyEmbeds{&scripted.Provider{}, v}, "count embed": v,
	} {
		t.Run(name, func(t *testing.T) {
			check := func(p provider.Provider) {
				counter, counts := provider.As[provider.TokenCounter](p)
				embedder, embeds := provider.As[provider.Embedder](p)
				assert.Equal(t, strings.Contains(name, "count"), counts)
				assert.Equal(t, strings.Contains(name, "embed"), embeds)
				if counts {
					n, err := counter.CountTokens(t.Context(), &provider.Request{})
					require.NoError(t, err)
					assert.Equal(t, 1, n)
				}
				if embeds {
					_, err := embedder.Embed(t.Context(), "m", []string{"a"})
					require.NoError(t, err)
				}
				assert.NoError(t, p.(provider.Checker).Check(t.Context(), "m"))
			}
			tape, file := recording(t, cassette.Options{})
			check(tape.Wrap("v", p))
			check(open(t, file, cassette.Options{}).Wrap("v", p))
		})
	}
}
