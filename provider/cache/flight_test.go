package cache_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/cache"
	"github.com/agonist-dev/debate/provider/scripted"
)

// outcome is what a call gave, and how long it took.
type outcome struct {
	response *provider.Response
	err      error
	took     time.Duration

	mu     sync.Mutex
	chunks []string
}

func (o *outcome) hear(c provider.Chunk) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.chunks = append(o.chunks, c.Text)
}

func (o *outcome) heard() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.chunks)
}

// begin makes a call beside the test and returns once it waits for something.
func begin(ctx context.Context, p provider.Provider) *outcome {
	o := &outcome{}
	go func() {
		began := time.Now()
		o.response, o.err = p.Generate(ctx, question(), o.hear)
		o.took = time.Since(began)
	}()
	synctest.Wait()
	return o
}

// after lets the bubble's time pass.
func after(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestEqualRequestsAtOnceShareACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := answers(scripted.Reply{Text: "slow reply", ChunkSize: 5, Delay: time.Second, Interval: time.Second})
		p := &cache.Provider{Provider: inner}
		first := begin(t.Context(), p)
		others := []*outcome{begin(t.Context(), p), begin(t.Context(), p)}
		after(1500 * time.Millisecond)
		assert.Equal(t, []string{"slow "}, first.heard(), "the first hears it as it is spoken")
		assert.Empty(t, others[0].heard())

		after(time.Second)
		require.NoError(t, first.err)
		assert.False(t, first.response.Cached)
		for _, o := range others {
			require.NoError(t, o.err)
			assert.Equal(t, []string{"slow reply"}, o.heard())
			assert.True(t, o.response.Cached)
			assert.True(t, o.response.Usage.IsZero())
			assert.Equal(t, first.response.Text, o.response.Text)
			assert.Equal(t, 2*time.Second, o.took)
		}
		assert.Equal(t, 1, inner.Calls())
	})
}

func TestOneWhoWaitsGoesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := answers(scripted.Reply{Text: "slow reply", Delay: time.Minute})
		p := &cache.Provider{Provider: inner}
		first := begin(t.Context(), p)
		canceled, cancel := context.WithCancel(t.Context())
		late, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		gone, timed, last := begin(canceled, p), begin(late, p), begin(t.Context(), p)
		cancel()
		after(2 * time.Second)
		for o, kind := range map[*outcome]provider.Kind{gone: provider.KindCanceled, timed: provider.KindTimeout} {
			failure, ok := errors.AsType[*provider.Error](o.err)
			require.True(t, ok)
			assert.Equal(t, kind, failure.Kind)
			assert.True(t, failure.NotSent)
		}
		after(time.Minute)
		require.NoError(t, first.err)
		assert.False(t, first.response.Cached)
		require.NoError(t, last.err)
		assert.True(t, last.response.Cached)
		assert.Equal(t, 1, inner.Calls())
	})
}

func TestTheOthersAskForThemselves(t *testing.T) {
	for name, spoiled := range map[string]scripted.Reply{
		"failed": {Delay: time.Second, Err: &provider.Error{Kind: provider.KindAPI}},
		"cut":    {Delay: time.Second, Text: "Half", Stop: provider.StopLength},
		"hung":   {Delay: time.Hour}, // until its context is canceled
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				good := scripted.Reply{Text: "whole", Delay: time.Second}
				inner := answers(spoiled, good, good)
				p := &cache.Provider{Provider: inner}
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				begin(ctx, p)
				others := []*outcome{begin(t.Context(), p), begin(t.Context(), p)}
				after(3 * time.Second)
				for _, o := range others {
					require.NoError(t, o.err)
					assert.Equal(t, "whole", o.response.Text)
					assert.False(t, o.response.Cached)
					assert.Equal(t, 2*time.Second, o.took, "they do not wait for each other")
				}
				assert.Equal(t, 3, inner.Calls())
				again, _ := ask(t, p, question())
				assert.True(t, again.Cached, "what they got is kept")
			})
		})
	}
}

// stopwatch is the clock of a call.
type stopwatch struct{ paused, resumed atomic.Int32 }

func (s *stopwatch) Pause() func() {
	s.paused.Add(1)
	return func() { s.resumed.Add(1) }
}

func TestTheClockStandsWhileACallWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &cache.Provider{Provider: answers(scripted.Reply{Text: "slow reply", Delay: time.Second})}
		var first, other stopwatch
		begin(context.WithValue(t.Context(), provider.ClockKey{}, &first), p)
		begin(context.WithValue(t.Context(), provider.ClockKey{}, &other), p)
		assert.Zero(t, first.paused.Load())
		assert.EqualValues(t, 1, other.paused.Load())
		assert.Zero(t, other.resumed.Load())
		after(2 * time.Second)
		assert.EqualValues(t, 1, other.resumed.Load())
	})
}
