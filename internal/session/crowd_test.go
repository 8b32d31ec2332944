package session_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// TestACrowdOfDebates: so many debates at once that workers step their judges' answers. Each ends as it would alone, and
// nothing of the workers is left.
func TestACrowdOfDebates(t *testing.T) {
	t.Parallel()
	want := stage.Undisturbed(t, stage.TwoDebaters())
	synctest.Test(t, func(t *testing.T) {
		engine, p := stage.Engine(stage.TwoDebaters())
		stage.Slowly(p)
		sessions := make([]*debate.Session, 200)
		for i := range sessions {
			config := stage.TwoDebaters()
			config.ID = fmt.Sprintf("crowd-%d", i)
			var err error
			sessions[i], err = engine.Start(t.Context(), config)
			require.NoError(t, err)
		}
		for _, session := range sessions {
			record := stage.Ended(t, session)
			assert.Equal(t, flow.StateCompleted, record.State)
			assert.Equal(t, want, stage.Canonical(t, record))
			require.NoError(t, session.Close())
		}
	})
}

// TestManyDebatesShareTheCalls: every call takes a second of a clock that stands while anybody works,
// so there are always as many at once as there may be.
func TestManyDebatesShareTheCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const calls = 16
		debates := longform.Or(1_000, 160)
		config := stage.TwoDebaters()
		config.Rounds, config.Judging = 2, nil
		engine, p := stage.Engine(config)
		engine.MaxCalls = calls
		var now, most atomic.Int64
		engine.Providers["test"] = stage.ProviderFunc(
			func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
				n := now.Add(1)
				defer now.Add(-1)
				for seen := most.Load(); n > seen; seen = most.Load() {
					most.CompareAndSwap(seen, n)
				}
				stage.Pass(time.Second)
				return p.Generate(ctx, req, emit)
			})
		began := time.Now()
		var running sync.WaitGroup
		for i := range debates {
			running.Go(func() {
				own := config
				own.ID = fmt.Sprintf("crowd-%d", i)
				if i%2 == 0 {
					own.Mode = debate.Simultaneous
				}
				session, err := engine.Start(t.Context(), own)
				if !assert.NoError(t, err) {
					return
				}
				record, err := session.Wait(t.Context())
				assert.NoError(t, err)
				assert.Equal(t, flow.StateCompleted, record.State)
				assert.Len(t, record.Turns, 4)
				assert.NoError(t, session.Close())
			})
		}
		running.Wait()
		assert.EqualValues(t, calls, most.Load())
		assert.Equal(t, time.Duration(4*debates/calls)*time.Second, time.Since(began), "no place was ever empty")
	})
}

// TestControlsFromEverywhere: pauses and resumes from many goroutines at once change nothing in what is said.
func TestControlsFromEverywhere(t *testing.T) {
	t.Parallel()
	config := stage.TwoDebaters()
	config.Rounds = 20
	engine, _ := stage.Engine(config)
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	defer session.Close()
	over, done := context.WithCancel(t.Context())
	defer done()
	var pulling sync.WaitGroup
	for i := range 8 {
		pulling.Go(func() {
			for n := range 50 {
				switch (i + n) % 4 {
				case 0:
					_ = session.Pause(over)
				case 1:
					_ = session.Control(over, flow.Pause{Drain: true})
				case 2:
					_, _ = session.Record(over)
				default:
					_ = session.Resume(over)
				}
			}
		})
	}
	pulling.Wait()
	if session.State() == flow.StatePaused {
		require.NoError(t, session.Resume(t.Context()))
	}
	record := stage.Ended(t, session)
	assert.Equal(t, stage.Undisturbed(t, config), stage.Canonical(t, record))
}
