package window_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// failures yields the failed attempts of a debate.
func failures(t *testing.T, engine *debate.Engine, id string) []*flow.Failure {
	t.Helper()
	var out []*flow.Failure
	for event, err := range engine.Events(t.Context(), id, 0) {
		require.NoError(t, err)
		if failure := body.As[flow.Failure](event); failure != nil {
			out = append(out, failure)
		}
	}
	return out
}

// A vendor that names its window is asked once too much for each model, and never again. How the size is read from each
// vendor's words is tested beside package wire.
func TestAWindowThatTheVendorNamesIsRead(t *testing.T) {
	d := stage.NewTalk(6, 0)
	d.Config.MaxTokens, d.Config.Reserve = 0, 0
	d.Said = func(*provider.Request) int { return 120 }
	refused := d.Strict(4096, 4096)
	record := stage.Run(t, d.Engine, d.Config)
	assert.Len(t, record.Turns, 12)
	assert.NotNil(t, stage.View(record).Verdict)
	assert.Empty(t, stage.View(record).Outcome().Degraded)
	assert.LessOrEqual(t, refused.Load(), int64(2), "once for each model")
	for _, a := range record.Answers {
		assert.Equal(t, "ask.verdict.judge.1", a.Inquiry, "a lower cap on the reply needs nobody's decision")
	}
	for _, failure := range failures(t, d.Engine, record.ID) {
		assert.True(t, failure.Named)
		assert.Equal(t, 4096, failure.Window)
	}
	for _, req := range d.TurnsOf() {
		assert.Equal(t, 2048, req.MaxTokens)
	}
}

// A size that no model has is no size: a vendor may name anything.
func TestASizeThatNoWindowHasIsNotBelieved(t *testing.T) {
	t.Parallel()
	for _, named := range []int{-1, 1, 255} {
		d := stage.NewTalk(6, 0)
		d.Config.MaxTokens, d.Config.Reserve = 0, 0
		d.Said = func(*provider.Request) int { return 120 }
		d.Strict(4096, named)
		record := stage.Run(t, d.Engine, d.Config)
		assert.Len(t, record.Turns, 12)
		for _, failure := range failures(t, d.Engine, record.ID) {
			assert.False(t, failure.Named)
		}
	}
}

// A vendor that names nothing gets a lower cap on the reply before anything is left out.
func TestAnOverflowLowersTheCapOnTheReply(t *testing.T) {
	for _, window := range []int{4096, 6144} {
		t.Run(fmt.Sprint(window), func(t *testing.T) {
			d := stage.NewTalk(6, 0)
			d.Config.MaxTokens, d.Config.Reserve = 0, 0
			d.Said = func(*provider.Request) int { return 120 }
			refused := d.Strict(window, 0)
			record := stage.Run(t, d.Engine, d.Config)
			assert.Len(t, record.Turns, 12)
			assert.NotNil(t, stage.View(record).Verdict)
			assert.Empty(t, stage.View(record).Outcome().Unread)
			assert.LessOrEqual(t, refused.Load(), int64(6))
			for _, a := range record.Answers {
				assert.True(t, strings.HasPrefix(a.Inquiry, "ask.verdict."), "the debaters' requests only need a lower cap")
			}
			for _, req := range d.TurnsOf() {
				assert.GreaterOrEqual(t, req.MaxTokens, 1000)
			}
		})
	}
}

// Texts that are dense in tokens do not push a window below what its vendor has accepted, and every overflow makes the
// next request smaller.
func TestALearnedWindowIsNeverBelowWhatWasAccepted(t *testing.T) {
	t.Parallel()
	d := stage.NewTalk(16, 0)
	const window = 6000
	accepted := 0
	inner := d.Engine.Providers["test"]
	dense := func(req *provider.Request) int {
		tokens := d.Sent(req)
		for i := range req.Messages {
			if strings.HasPrefix(req.Messages[i].Text, "r9.") || strings.HasPrefix(req.Messages[i].Text, "r10.") {
				tokens += 2 * d.Count(req.Model, req.Messages[i].Text) // three times what the engine counts
			}
		}
		return tokens
	}
	d.Engine.Providers["test"] = stage.ProviderFunc(func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
		if req.Model == "debater" && dense(req)+req.MaxTokens > window {
			return nil, &provider.Error{Kind: provider.KindContextOverflow, Status: 400, Message: "too many tokens"}
		}
		response, err := inner.Generate(ctx, req, emit)
		if err == nil && req.Model == "debater" {
			response.Usage = provider.Usage{Input: dense(req), Output: d.Count(req.Model, response.Text)}
		}
		return response, err
	})
	record := stage.Run(t, d.Engine, d.Config)
	assert.Len(t, record.Turns, 32)
	overflows := 0
	var last *flow.Intent
	for event, err := range d.Engine.Events(t.Context(), record.ID, 0) {
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
