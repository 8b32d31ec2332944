package limit_test

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/limit"
)

// asking returns how long a request that may have so much output had to wait.
func asking(t *testing.T, p provider.Provider, output int) time.Duration {
	t.Helper()
	began := time.Now()
	_, _ = p.Generate(t.Context(), &provider.Request{Model: "m", MaxTokens: output}, silent)
	return time.Since(began)
}

// spending is a vendor that reports this usage for every reply.
func spending(u provider.Usage) *vendor {
	v := newVendor(0)
	v.answer = func(*provider.Request) (*provider.Response, error) {
		return &provider.Response{Text: "Yes.", Usage: u}, nil
	}
	return v
}

func TestTokens(t *testing.T) {
	type usage = provider.Usage
	for name, test := range map[string]struct {
		usage  usage // of each reply
		output []int // allowed to each request
		want   []time.Duration
	}{
		// 100 tokens a second, 6,000 at once.
		"the reservation stays":       {usage{}, []int{3000, 3000, 3000, 1000, 3500}, seconds(0, 0, 30, 10, 35)},
		"nobody said how much":        {usage{}, []int{5000, 0}, seconds(0, 0.24)},
		"less was used":               {usage{Input: 100, Output: 400}, []int{6000, 5500, 6000}, seconds(0, 0, 10)},
		"much less":                   {usage{Input: 1, CachedInput: 1, Output: 9, Reasoning: 8}, []int{6000, 6000, 6000}, seconds(0, 0.1, 0.1)},
		"more was used":               {usage{Input: 5000, Output: 4000}, []int{3000, 1000}, seconds(0, 40)},
		"more than ever fits":         {usage{}, []int{10_000, 1000, 10_000}, seconds(0, 50, 60)},
		"it waits for a full one":     {usage{}, []int{1000, 10_000, 1000}, seconds(0, 10, 50)},
		"much more than fits":         {usage{}, []int{60_000, 1000}, seconds(0, 540+10)},
		"an absurd request":           {usage{}, []int{math.MaxInt, 1000}, seconds(0, 600+10)},
		"an absurd usage":             {usage{Input: math.MaxInt, Output: math.MaxInt}, []int{1000, 1000}, seconds(0, 600+10)},
		"a usage that cannot be":      {usage{Input: -5, Output: 10}, []int{6000, 1000}, seconds(0, 10)},
		"another one":                 {usage{Input: 5, Output: math.MinInt}, []int{6000, 1000}, seconds(0, 10)},
		"a negative limit of output":  {usage{}, []int{6000, -7}, seconds(0, 10.24)},
		"a silence saves up a minute": {usage{}, []int{6000, 1, 6000}, seconds(0, 0.01, 60)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := (&limit.Rate{Requests: -1, Tokens: 6000}).Wrap("v", spending(test.usage))
				var waited []time.Duration
				for _, output := range test.output {
					waited = append(waited, asking(t, p, output).Round(time.Microsecond))
				}
				assert.Equal(t, test.want, waited)
			})
		})
	}
}

// TestFilesAreTokens: an image has as many tokens as it can have, and a file as many as its length suggests.
func TestFilesAreTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := (&limit.Rate{Requests: -1, Tokens: 6000}).Wrap("v", spending(provider.Usage{}))
		_, _ = p.Generate(t.Context(), &provider.Request{
			Model: "m", MaxTokens: 1400, Messages: []provider.Message{{Parts: []provider.Part{{Type: "image/png", Data: make([]byte, 1<<20)}}}},
			Last: provider.Message{Parts: []provider.Part{{Type: "application/pdf", Data: make([]byte, 96_000)}}},
		}, silent)
		assert.Equal(t, 10*time.Second, asking(t, p, 1000), "1,600 and 3,000 and 1,400 are all of 6,000")
	})
}

// TestBothLimitsHold: whichever is reached first.
func TestBothLimitsHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVendor(0)
		limits := &limit.Rate{Requests: 60, Tokens: 6000}
		p := limits.Wrap("v", v)
		for _, output := range []int{2000, 2000, 1000, 1000, 1000} {
			asking(t, p, output)
		}
		assert.Equal(t, seconds(0, 1, 2, 3, 10), v.starts())
		assert.Equal(t, []limit.RateStatus{{Name: "v", Model: "m", Requests: 60, Tokens: 6000}}, limits.Status())
	})
}

func TestTokensOfAModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := &limit.Rate{Requests: -1, Models: map[string]limit.Allowance{"v/m": {Tokens: 6000}}}
		v := newVendor(0)
		p := limits.Wrap("v", v)
		assert.Zero(t, asking(t, p, 6000))
		assert.Equal(t, 10*time.Second, asking(t, p, 1000))
		w := limits.Wrap("w", v)
		assert.Zero(t, asking(t, w, 6000))
		assert.Zero(t, asking(t, w, 6000))
	})
}

// TestARateLimitTakesTheTokensToo: what was saved up cannot be there.
func TestARateLimitTakesTheTokensToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVendor(0)
		v.answer = func(*provider.Request) (*provider.Response, error) { return nil, limited(0) }
		limits := &limit.Rate{Requests: -1, Tokens: 6000}
		p := limits.Wrap("v", v)
		assert.Zero(t, asking(t, p, 100))
		assert.Equal(t, 3000.0, limits.Status()[0].Tokens)
		assert.Equal(t, 20*time.Second, asking(t, p, 1000))
		assert.Equal(t, 1500.0, limits.Status()[0].Tokens)
		v.answer = nil
		assert.Equal(t, time.Minute, asking(t, p, 6000), "the slowed bucket is full after a minute as well")
		// The success gives back 6,000 of 6,000; the debt of 4,500 is paid at the old pace.
		assert.Equal(t, 6000.0, limits.Status()[0].Tokens)
		assert.Equal(t, 46*time.Second, asking(t, p, 100))
	})
}

// TestADebtOutlivesARateLimit.
func TestADebtOutlivesARateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVendor(0)
		v.answer = func(*provider.Request) (*provider.Response, error) { return nil, limited(0) }
		p := (&limit.Rate{Requests: -1, Tokens: 6000, Floor: 1}).Wrap("v", v)
		assert.Zero(t, asking(t, p, 12_000))
		assert.Equal(t, 61*time.Second, asking(t, p, 100))
	})
}

// TestASmallCallDoesNotOvertake: the one in front has waited longer.
func TestASmallCallDoesNotOvertake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVendor(0)
		p := (&limit.Rate{Requests: -1, Tokens: 6000}).Wrap("v", v)
		asking(t, p, 5000)
		done := make(chan time.Duration)
		go func() { done <- asking(t, p, 6000) }()
		synctest.Wait()
		assert.Equal(t, 51*time.Second, asking(t, p, 100))
		assert.Equal(t, 50*time.Second, <-done)
	})
}

// TestWhoStandsBehindMovesUp: if the one in front, who needs more, is given up.
func TestWhoStandsBehindMovesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := (&limit.Rate{Requests: -1, Tokens: 6000}).Wrap("v", newVendor(0))
		asking(t, p, 6000)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		go func() { _, _ = p.Generate(ctx, &provider.Request{Model: "m", MaxTokens: 6000}, silent) }()
		synctest.Wait()
		assert.Equal(t, 5*time.Second, asking(t, p, 100))
	})
}

// TestWhatWasNotUsedIsThereAtOnce: for those as well who wait already.
func TestWhatWasNotUsedIsThereAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVendor(2 * time.Second)
		v.answer = func(*provider.Request) (*provider.Response, error) {
			return &provider.Response{Usage: provider.Usage{Output: 100}}, nil
		}
		p := (&limit.Rate{Requests: -1, Tokens: 6000}).Wrap("v", v)
		go func() { asking(t, p, 6000) }()
		synctest.Wait()
		asking(t, p, 1000)
		assert.Equal(t, seconds(0, 2), v.starts())
	})
}

// TestASuccessGivesBackWhatItHasUsed: not what it had reserved.
func TestASuccessGivesBackWhatItHasUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVendor(0)
		v.answer = func(*provider.Request) (*provider.Response, error) { return nil, limited(0) }
		limits := &limit.Rate{Requests: -1, Tokens: 6000}
		p := limits.Wrap("v", v)
		asking(t, p, 1000)
		v.answer = func(*provider.Request) (*provider.Response, error) {
			return &provider.Response{Usage: provider.Usage{Input: 200, Output: 400}}, nil
		}
		asking(t, p, 1000)
		assert.InDelta(t, 3600, limits.Status()[0].Tokens, 1e-9)
	})
}

// TestAnAbsurdLimitOfOutputIsNoSmallOne.
func TestAnAbsurdLimitOfOutputIsNoSmallOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := (&limit.Rate{Requests: -1, Tokens: 6000}).Wrap("v", newVendor(0))
		req := &provider.Request{Model: "m", System: "Be brief.", MaxTokens: math.MaxInt}
		_, err := p.Generate(t.Context(), req, silent)
		require.NoError(t, err)
		assert.Equal(t, 11*time.Minute, asking(t, p, 6000))
	})
}

// TestTheWholeRequestCounts: each part of it, at four bytes a token.
func TestTheWholeRequestCounts(t *testing.T) {
	text := strings.Repeat("x", 4000)
	raw := json.RawMessage(text)
	for name, req := range map[string]provider.Request{
		"system":      {System: text},
		"last":        {Last: provider.Message{Text: text}},
		"message":     {Messages: []provider.Message{{Text: text[:2000]}, {Text: text[2000:]}}},
		"label":       {Messages: []provider.Message{{Label: text}}},
		"speaker":     {Messages: []provider.Message{{Speaker: text}}},
		"fence":       {Messages: []provider.Message{{Fence: text[2000:]}}}, // it stands at both ends
		"tool call":   {Messages: []provider.Message{{ToolCalls: []provider.ToolCall{{Name: text[:1000], Arguments: raw[1000:]}}}}},
		"tool result": {Messages: []provider.Message{{ToolResult: &provider.ToolResult{Text: text}}}},
		"schema":      {Schema: &provider.Schema{JSON: raw}},
		"tool":        {Tools: []provider.Tool{{Name: text[:500], Description: text[:500], Parameters: raw[1000:]}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := (&limit.Rate{Requests: -1, Tokens: 6000}).Wrap("v", newVendor(0))
				req.Model, req.MaxTokens = "m", 500
				_, err := p.Generate(t.Context(), &req, silent)
				require.NoError(t, err)
				assert.Equal(t, 15*time.Second, asking(t, p, 6000), "1,000 and 500 tokens are missing")
			})
		})
	}
}
