package session_test

import (
	"context"
	"log/slog"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/store"
)

// deafStore does not return from a method that it is told to hang in, whatever the context says.
type deafStore struct {
	*store.Memory

	append, release atomic.Bool
	broken          atomic.Bool // nothing can be appended
	freed           chan struct{}
}

func (s *deafStore) Append(ctx context.Context, id string, after int64, writer string, events []debate.Event) error {
	if s.append.Load() {
		<-s.freed
	}
	if s.broken.Load() {
		return stage.ErrBroken
	}
	return s.Memory.Append(ctx, id, after, writer, events)
}

func (s *deafStore) Release(ctx context.Context, id, writer string) error {
	if s.release.Load() {
		<-s.freed
	}
	return s.Memory.Release(ctx, id, writer)
}

// Close, Shutdown and Wait return also when the store does not.
func TestNothingWaitsForAStoreThatIsGivenUp(t *testing.T) {
	for name, end := range map[string]func(ctx context.Context, e *debate.Engine, s *debate.Session) error{
		"close":    func(_ context.Context, _ *debate.Engine, s *debate.Session) error { return s.Close() },
		"shutdown": func(_ context.Context, e *debate.Engine, _ *debate.Session) error { return stage.Abort(e) },
	} {
		for method, hang := range map[string]func(*deafStore){
			"append": func(s *deafStore) { s.append.Store(true) }, "release": func(s *deafStore) { s.release.Store(true) },
		} {
			t.Run(name+", "+method, stage.Bubbled(func(t *testing.T) {
				config := stage.TwoDebaters()
				engine, p := stage.Engine(config)
				stage.Slowly(p)
				engine.Lease, engine.Grace = 10*time.Second, 3*time.Second
				s := &deafStore{Memory: &store.Memory{}, freed: make(chan struct{})}
				engine.Store = s
				var lines stage.Locked
				engine.Logger = slog.New(slog.NewTextHandler(&lines, nil))
				session, err := engine.Start(t.Context(), config)
				require.NoError(t, err)
				stage.Pass(1500 * time.Millisecond)
				hang(s)
				stage.Pass(time.Second) // the next result is being saved
				began := time.Now()
				waited := make(chan error, 1)
				go func() {
					_, err := session.Wait(t.Context())
					waited <- err
				}()
				require.NoError(t, end(t.Context(), engine, session))
				most := map[string]time.Duration{"close": engine.Lease + engine.Grace, "shutdown": 2 * engine.Grace}[name]
				assert.Equal(t, most, time.Since(began))
				why := <-waited
				require.ErrorIs(t, why, flow.ErrClosed)
				said := map[string]string{"close": flow.ErrClosed.Error(), "shutdown": "the engine is shut down: use another one"}
				assert.Equal(t, said[name], why.Error())
				_, err = session.Wait(t.Context())
				require.EqualError(t, err, why.Error(), "also who comes later")
				assert.Equal(t, debate.Stats{GivenUp: 1, Stuck: 1}, givenUp(engine))
				assert.Contains(t, lines.String(), "store given up")
				require.NoError(t, session.Close(), "at once")
				assert.Equal(t, most, time.Since(began))
				close(s.freed)
				stage.Pass(time.Minute)
				assert.Equal(t, debate.Stats{GivenUp: 1}, givenUp(engine))
			}))
		}
	}
}

// A session that a failure of the store has closed says so to everybody, also after a shutdown that has given up the release of its
// lease. What is stored can still be read.
func TestAShutdownKeepsWhyASessionWasClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		engine, p := stage.Engine(config)
		stage.Slowly(p)
		engine.Lease, engine.Grace = 10*time.Second, 3*time.Second
		s := &deafStore{Memory: &store.Memory{}, freed: make(chan struct{})}
		engine.Store = s
		defer func() {
			close(s.freed)
			stage.Pass(time.Minute)
		}()
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		stage.Pass(1500 * time.Millisecond)
		s.release.Store(true)
		s.broken.Store(true)
		_, why := session.Wait(t.Context())
		require.ErrorIs(t, why, stage.ErrBroken)
		require.NoError(t, engine.Shutdown(t.Context()))
		assert.Equal(t, debate.Stats{GivenUp: 1, Stuck: 1}, givenUp(engine))
		for range 20 { // whatever a caller finds first
			record, err := session.Wait(t.Context())
			require.EqualError(t, err, why.Error())
			require.NotNil(t, record)
			require.EqualError(t, session.Resume(t.Context()), why.Error())
			var last error
			for _, err := range session.Events(t.Context(), 0) {
				last = err
			}
			require.EqualError(t, last, why.Error())
		}
	})
}

// A time without end is none that is over at once: nothing waits for its turn in vain.
func TestTimesWithoutEnd(t *testing.T) {
	for name, change := range map[string]func(*debate.Config, *debate.Engine){
		"of a turn":    func(c *debate.Config, _ *debate.Engine) { c.TurnTimeout = math.MaxInt64 },
		"of a judge":   func(c *debate.Config, _ *debate.Engine) { c.JudgeTimeout = math.MaxInt64 },
		"of the grace": func(_ *debate.Config, e *debate.Engine) { e.Grace = math.MaxInt64 },
		"of a lease":   func(_ *debate.Config, e *debate.Engine) { e.Lease = math.MaxInt64 },
		"of all of it": func(c *debate.Config, e *debate.Engine) {
			c.TurnTimeout, e.Grace, e.Lease = math.MaxInt64, math.MaxInt64, math.MaxInt64
		},
		"of a round":    func(c *debate.Config, _ *debate.Engine) { c.RoundTimeout = math.MaxInt64 },
		"of a patience": func(c *debate.Config, _ *debate.Engine) { c.Patience = math.MaxInt64 },
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Mode = debate.Simultaneous
			engine, p := stage.Engine(config)
			engine.MaxCalls = 1
			stage.Slowly(p)
			change(&config, engine)
			record := stage.Run(t, engine, config)
			assert.Len(t, record.Turns, 6)
			assert.Empty(t, record.Failures)
			assert.Zero(t, givenUp(engine))
		}))
	}
}
