package debate_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// strict makes the vendor refuse each request that, with the reply it may have, is larger than a window that the engine
// does not know, and name a size; 0: none. strict yields how often the vendor has refused.
func (d *talk) strict(window, named int) *atomic.Int64 {
	refused := new(atomic.Int64)
	inner := d.engine.Providers["test"]
	d.windows(0, 0)
	d.engine.Providers["test"] = providerFunc(func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
		if d.sent(req)+req.MaxTokens > window {
			refused.Add(1)
			return nil, &provider.Error{Kind: provider.KindContextOverflow, Status: 400, Message: "too many tokens", Window: named}
		}
		return inner.Generate(ctx, req, emit)
	})
	return refused
}

// failures yields the failed attempts of a debate.
func failures(t *testing.T, engine *debate.Engine, id string) []*flow.Failure {
	t.Helper()
	var out []*flow.Failure
	for event, err := range engine.Events(t.Context(), id, 0) {
		require.NoError(t, err)
		if failure := as[flow.Failure](event); failure != nil {
			out = append(out, failure)
		}
	}
	return out
}

// A vendor that names its window is asked once too much for each model, and never again. How the size is read from each
// vendor's words is tested beside package wire.
func TestAWindowThatTheVendorNamesIsRead(t *testing.T) {
	d := newTalk(6, 0)
	d.config.MaxTokens, d.config.Reserve = 0, 0
	d.said = func(*provider.Request) int { return 120 }
	refused := d.strict(4096, 4096)
	record := run(t, d.engine, d.config)
	assert.Len(t, record.Turns, 12)
	assert.NotNil(t, view(record).Verdict)
	assert.Empty(t, view(record).Outcome().Degraded)
	assert.LessOrEqual(t, refused.Load(), int64(2), "once for each model")
	for _, a := range record.Answers {
		assert.Equal(t, "ask.verdict.judge.1", a.Inquiry, "a lower cap on the reply needs nobody's decision")
	}
	for _, failure := range failures(t, d.engine, record.ID) {
		assert.True(t, failure.Named)
		assert.Equal(t, 4096, failure.Window)
	}
	for _, req := range d.turnsOf() {
		assert.Equal(t, 2048, req.MaxTokens)
	}
}

// A size that no model has is no size: a vendor may name anything.
func TestASizeThatNoWindowHasIsNotBelieved(t *testing.T) {
	t.Parallel()
	for _, named := range []int{-1, 1, 255} {
		d := newTalk(6, 0)
		d.config.MaxTokens, d.config.Reserve = 0, 0
		d.said = func(*provider.Request) int { return 120 }
		d.strict(4096, named)
		record := run(t, d.engine, d.config)
		assert.Len(t, record.Turns, 12)
		for _, failure := range failures(t, d.engine, record.ID) {
			assert.False(t, failure.Named)
		}
	}
}

// A vendor that names nothing gets a lower cap on the reply before anything is left out.
func TestAnOverflowLowersTheCapOnTheReply(t *testing.T) {
	for _, window := range []int{4096, 6144} {
		t.Run(fmt.Sprint(window), func(t *testing.T) {
			d := newTalk(6, 0)
			d.config.MaxTokens, d.config.Reserve = 0, 0
			d.said = func(*provider.Request) int { return 120 }
			refused := d.strict(window, 0)
			record := run(t, d.engine, d.config)
			assert.Len(t, record.Turns, 12)
			assert.NotNil(t, view(record).Verdict)
			assert.Empty(t, view(record).Outcome().Unread)
			assert.LessOrEqual(t, refused.Load(), int64(6))
			for _, a := range record.Answers {
				assert.True(t, strings.HasPrefix(a.Inquiry, "ask.verdict."), "the debaters' requests only need a lower cap")
			}
			for _, req := range d.turnsOf() {
				assert.GreaterOrEqual(t, req.MaxTokens, 1000)
			}
		})
	}
}

// Texts that are dense in tokens do not push a window below what its vendor has accepted, and every overflow makes the
// next request smaller.
func TestALearnedWindowIsNeverBelowWhatWasAccepted(t *testing.T) {
	t.Parallel()
	d := newTalk(16, 0)
	const window = 6000
	accepted := 0
	inner := d.engine.Providers["test"]
	dense := func(req *provider.Request) int {
		tokens := d.sent(req)
		for i := range req.Messages {
			if strings.HasPrefix(req.Messages[i].Text, "r9.") || strings.HasPrefix(req.Messages[i].Text, "r10.") {
				tokens += 2 * d.count(req.Model, req.Messages[i].Text) // three times what the engine counts
			}
		}
		return tokens
	}
	d.engine.Providers["test"] = providerFunc(func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
		if req.Model == "debater" && dense(req)+req.MaxTokens > window {
			return nil, &provider.Error{Kind: provider.KindContextOverflow, Status: 400, Message: "too many tokens"}
		}
		response, err := inner.Generate(ctx, req, emit)
		if err == nil && req.Model == "debater" {
			response.Usage = provider.Usage{Input: dense(req), Output: d.count(req.Model, response.Text)}
		}
		return response, err
	})
	record := run(t, d.engine, d.config)
	assert.Len(t, record.Turns, 32)
	overflows := 0
	var last *flow.Intent
	for event, err := range d.engine.Events(t.Context(), record.ID, 0) {
		require.NoError(t, err)
		switch body := event.Body.(type) {
		case *flow.Turn:
			accepted = max(accepted, body.Usage.Input+body.Usage.Output)
		case *flow.Intent:
			if last != nil && body.Call == last.Call {
				assert.Less(t, body.Bound, last.Bound, "%s is made smaller", body.Call)
			}
			last = nil
			if body.Model == "test/debater" {
				last = body
			}
		case *flow.Failure:
			overflows++
			assert.GreaterOrEqual(t, body.Window, accepted)
		}
	}
	assert.Positive(t, overflows)
	assert.Less(t, overflows, 8)
}
