package session_test

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// goroutine names the goroutine that calls it.
func goroutine() string {
	var stack [64]byte
	name, _, _ := strings.Cut(string(stack[:runtime.Stack(stack[:], false)]), " [")
	return name
}

// A debate of one call at a time is played on the goroutine of the caller alone.
func TestPlayMakesTheCallsOnTheCallersGoroutine(t *testing.T) {
	config := stage.TwoDebaters()
	engine, p := stage.Engine(config)
	var others []string
	mine, calls := goroutine(), 0
	engine.Providers["test"] = stage.ProviderFunc(
		func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
			if calls++; goroutine() != mine {
				others = append(others, req.ID)
			}
			return p.Generate(ctx, req, emit)
		})
	record, err := engine.Play(t.Context(), config)
	require.NoError(t, err)
	assert.Equal(t, 10, calls)
	assert.Empty(t, others)
	assert.Equal(t, stage.Undisturbed(t, config), stage.Canonical(t, record))
}

// Play ends with its context, and where a session has nothing more to do. Nothing runs then, and the debate can be continued.
func TestPlayEnds(t *testing.T) {
	asked := stage.TwoDebaters()
	asked.Unattended = false
	for name, tc := range map[string]struct {
		config debate.Config
		befall func(p *scripted.Provider)
		during flow.Signal // is given to the debate after 2.5 s
		within time.Duration
		state  flow.State
		err    error
	}{
		"with its context":   {config: stage.TwoDebaters(), within: 2500 * time.Millisecond, err: context.DeadlineExceeded},
		"at a pause":         {config: stage.TwoDebaters(), during: flow.Pause{}, state: flow.StatePaused, err: debate.ErrPaused},
		"at a pause, calmly": {config: stage.TwoDebaters(), during: flow.Pause{Drain: true}, state: flow.StatePaused, err: debate.ErrPaused},
		"when it is stopped": {config: stage.TwoDebaters(), during: flow.Stop{}, state: flow.StateCompleted},
		"at a question": {
			config: asked, befall: func(p *scripted.Provider) { stage.Befall(p, provider.KindRefusal, stage.Said("Ben", 2)) },
			state: flow.StateAwaitingInput, err: debate.ErrAwaitingInput,
		},
		"at a failure": {
			config: stage.TwoDebaters(), befall: func(p *scripted.Provider) { stage.Befall(p, provider.KindQuota, stage.Said("Ben", 2)) },
			state: flow.StateError, err: &debate.Error{Kind: provider.KindQuota},
		},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) { // the bubble fails if anything is left running
			config := tc.config
			config.ID = "played"
			engine, p := stage.Engine(config)
			engine.Store = &store.Memory{}
			stage.Slowly(p)
			if tc.befall != nil {
				tc.befall(p)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tc.within > 0 {
				ctx, cancel = context.WithTimeout(ctx, tc.within)
				defer cancel()
			}
			if tc.during != nil {
				go func() {
					<-time.After(2500 * time.Millisecond)
					assert.NoError(t, engine.Control(t.Context(), "played", tc.during))
				}()
			}
			record, err := engine.Play(ctx, config)
			require.ErrorIs(t, err, tc.err)
			if tc.within > 0 {
				assert.Nil(t, record)
			} else {
				require.NotNil(t, record)
				assert.Equal(t, tc.state, record.State)
				assert.Zero(t, record.InFlight())
			}
			session, err := stage.Twin(engine).Open(t.Context(), "played")
			require.NoError(t, err, "the lease is released")
			require.NoError(t, session.Close())
		}))
	}
}

// A provider that breaks down takes the caller's goroutine with it. The session is closed before, and the debate goes on from its log.
func TestPlayOfAProviderThatBreaksDown(t *testing.T) {
	for name, breaks := range map[string]func(){
		"it panics":             func() { panic("broken") }, //nolint:forbidigo // it is foreign code
		"it ends its goroutine": runtime.Goexit,
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.TwoDebaters()
			config.ID = "broken"
			engine, p := stage.Engine(config)
			engine.Store = &store.Memory{}
			var calls atomic.Int64
			engine.Providers["test"] = stage.ProviderFunc(
				func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
					if calls.Add(1) == 3 {
						breaks()
					}
					return p.Generate(ctx, req, emit)
				})
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				defer func() { _ = recover() }()
				_, err := engine.Play(t.Context(), config)
				assert.Fail(t, "Play has returned", "%v", err)
			}()
			<-ended
			session, err := stage.Twin(engine).Open(t.Context(), "broken")
			require.NoError(t, err, "the lease is released")
			defer session.Close()
			record := stage.Ended(t, session)
			assert.Equal(t, flow.StateCompleted, record.State)
			assert.Len(t, record.Turns, 6)
		}))
	}
}

// A debate that exists is continued. One that is open in this engine belongs to others: Play leaves it open.
func TestPlayOfADebateThatExists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.ID = "stored"
		engine, p := stage.Engine(config)
		engine.Store = &store.Memory{}
		stage.Slowly(p)
		_, err := engine.Submit(t.Context(), config)
		require.NoError(t, err)
		another := config
		another.Topic = "Should cities ban bicycles?"
		_, err = engine.Play(t.Context(), another)
		stage.RequireKind(t, err, provider.KindConflict)
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		_, err = engine.Play(ctx, config)
		require.ErrorIs(t, err, context.DeadlineExceeded)

		session := stage.Reopen(t, engine, "stored")
		defer session.Close()
		require.NoError(t, session.Pause(t.Context()))
		_, err = engine.Play(t.Context(), config)
		require.ErrorIs(t, err, debate.ErrPaused)
		require.NoError(t, session.Resume(t.Context()), "it is still open")
		record, err := engine.Play(t.Context(), config)
		require.NoError(t, err)
		assert.Equal(t, stage.Undisturbed(t, config), stage.Canonical(t, record))
	})
}

// sleepy is a store that takes a second to acquire its first lease.
type sleepy struct {
	*store.Memory

	woken atomic.Bool
}

func (s *sleepy) Lease(ctx context.Context, id, owner string, d time.Duration) error {
	if !s.woken.Swap(true) {
		time.Sleep(time.Second) //nolint:forbidigo // in a bubble nobody waits
	}
	return s.Memory.Lease(ctx, id, owner, d)
}

// A debate that somebody else is just opening belongs to others too, although no session has it yet when Play is called.
func TestPlayOfADebateThatIsBeingOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.ID = "stored"
		engine, p := stage.Engine(config)
		stage.Slowly(p)
		kept := &sleepy{Memory: &store.Memory{}}
		kept.woken.Store(true)
		engine.Store = kept
		_, err := engine.Submit(t.Context(), config)
		require.NoError(t, err)
		kept.woken.Store(false)
		opened := make(chan *debate.Session, 1)
		go func() {
			session, err := engine.Open(t.Context(), "stored")
			assert.NoError(t, err)
			opened <- session
		}()
		synctest.Wait() // it waits for the lease
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		_, err = engine.Play(ctx, config)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		session := <-opened
		defer session.Close()
		require.NoError(t, session.Pause(t.Context()), "it is still open")
	})
}

// Code that was given up may still panic on the goroutine of the caller, who may recover: then it has returned for the engine too.
func TestPlayOfAProviderThatBreaksDownLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.ID, config.TurnTimeout = "broken", 20*time.Second
		engine, p := stage.Engine(config)
		engine.Store = &store.Memory{}
		d := stage.NewDeaf(false)
		engine.Providers["test"] = stage.ProviderFunc(
			func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
				select {
				case <-d.Freed:
				default:
					if d.Call(); ctx.Err() != nil {
						panic("broken") //nolint:forbidigo // it is foreign code
					}
				}
				return p.Generate(ctx, req, emit)
			})
		ended := make(chan any)
		go func() {
			defer func() { ended <- recover() }()
			_, err := engine.Play(t.Context(), config)
			assert.Fail(t, "Play has returned", "%v", err)
		}()
		stage.Pass(time.Minute)
		assert.Equal(t, debate.Stats{GivenUp: 1, Stuck: 1}, givenUp(engine))
		close(d.Freed)
		assert.Equal(t, "broken", <-ended)
		assert.Equal(t, debate.Stats{GivenUp: 1}, givenUp(engine))
		record := stage.StoredRecord(t, engine, "broken")
		assert.Equal(t, flow.StateCompleted, record.State, "it went on without the caller")
	})
}
