package session_test

import (
	"context"
	"iter"
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

// strides are the ways in which a runtime comes to a debate.
func strides() map[string]func(ctx context.Context, e *debate.Engine, id string) error {
	return map[string]func(context.Context, *debate.Engine, string) error{
		"advance": func(ctx context.Context, e *debate.Engine, id string) error {
			_, err := e.Advance(ctx, id, "runtime", flow.Opened{})
			return err
		},
		"call": func(ctx context.Context, e *debate.Engine, id string) error {
			_, err := e.Call(ctx, id, "runtime", flow.Lost{Call: "none", Attempt: 1}, nil)
			return err
		},
		"renew the lease": func(ctx context.Context, e *debate.Engine, id string) error {
			_, err := e.Advance(ctx, id, "runtime", nil)
			return err
		},
	}
}

// A debate that a runtime cannot open is in quarantine like one that a session cannot open. Once it can be opened, it is in none.
func TestADebateThatARuntimeCannotOpen(t *testing.T) {
	for name, stride := range strides() {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			engine, kept := damaged(t)
			left := 30 * time.Second
			for n := range 3 {
				for range 2 {
					require.ErrorIs(t, stride(t.Context(), engine, "a"), stage.ErrSpoilt)
					q := quarantine(t, engine, "a")
					assert.Equal(t, store.Quarantine{Count: n + 1, Reason: q.Reason, Left: flow.Duration(left)}, q)
					assert.Contains(t, q.Reason, "is damaged")
					require.NoError(t, kept.Lease(t.Context(), "a", "another", time.Second), "nobody has the lease")
					require.NoError(t, kept.Release(t.Context(), "a", "another"))
				}
				stage.Pass(left)
				left *= 2
			}
			kept.Damaged.Store(false)
			require.NoError(t, stride(t.Context(), engine, "a"))
			assert.Zero(t, quarantine(t, engine, "a"))
		}))
	}
}

// An engine without what a debate needs leaves it alone as a worker, whether it has tried to open it or to advance it. By the
// second time the list tells so.
func TestADebateThatARuntimeLacksSomethingFor(t *testing.T) {
	for name, without := range map[string]func(*debate.Engine){
		"its flow":     func(e *debate.Engine) { e.Flows = nil },
		"its provider": func(e *debate.Engine) { e.Providers = nil },
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.TwoDebaters()
			config.ID = "a"
			rich, _ := stage.Engine(config)
			rich.Store, rich.Flows = &store.Memory{}, map[string]*debate.Flow{"notes": stage.Notes()}
			_, err := rich.Submit(t.Context(), flow.Named("notes", config))
			require.NoError(t, err)
			poor := stage.Twin(rich)
			poor.Flows = rich.Flows
			without(poor)
			for range 2 {
				_, err = poor.Advance(t.Context(), "a", "runtime", flow.Opened{})
				require.ErrorIs(t, err, debate.ErrMissing)
				stage.Pass(16 * time.Second) // the lease of the runtime has ended
				refused := poor.Stats().Refused
				w := stage.Works(t.Context(), poor, debate.Work{})
				stage.Pass(5 * time.Second)
				assert.Equal(t, refused, poor.Stats().Refused, "it does not try")
				require.NoError(t, w.End())
				stage.Pass(time.Minute)
			}
			q := quarantine(t, rich, "a")
			assert.Positive(t, q.Count)
			assert.Contains(t, q.Reason, "lack")
			assert.Zero(t, q.Left, "another engine may have it")
			_, err = rich.Advance(t.Context(), "a", "runtime", flow.Opened{})
			require.NoError(t, err)
			assert.Zero(t, quarantine(t, rich, "a"))
		}))
	}
}

// What says nothing of a debate puts it into no quarantine, whoever works on it.
func TestWhatPutsARuntimesDebateIntoNoQuarantine(t *testing.T) {
	config := stage.TwoDebaters()
	config.ID = "a"
	memory := &store.Memory{}
	engine, _ := stage.Engine(config)
	engine.Store = memory
	stage.Submitted(t, engine, "a")
	_, err := engine.Advance(t.Context(), "a", "runtime", flow.Resume{})
	require.Error(t, err, "a control is refused")
	_, err = engine.Advance(t.Context(), "a", "another", flow.Opened{})
	require.ErrorIs(t, err, debate.ErrLeased)
	deaf := stage.Twin(engine)
	deaf.Store = &unreadable{Memory: memory, broken: true}
	_, err = deaf.Advance(t.Context(), "a", "runtime", flow.Opened{})
	require.ErrorIs(t, err, stage.ErrDeaf)
	slow := stage.Twin(engine)
	slow.Store = overdue{memory}
	_, err = slow.Advance(t.Context(), "a", "runtime", flow.Opened{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, memory.Release(t.Context(), "a", "runtime"))
	_, err = slow.Open(t.Context(), "a")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = stage.Twin(engine).Advance(canceled, "a", "runtime", flow.Opened{})
	require.Error(t, err)
	assert.Zero(t, quarantine(t, engine, "a"))
}

// overdue is a store that takes longer than it has.
type overdue struct{ *store.Memory }

func (overdue) Read(context.Context, string, int64) iter.Seq2[debate.Event, error] {
	return func(yield func(debate.Event, error) bool) { yield(debate.Event{}, context.DeadlineExceeded) }
}

// A runtime that does not know whether its Opened was taken gives it again. Nothing is charged for calls that nobody has made.
func TestAnOpenedThatIsGivenAgain(t *testing.T) {
	for name, limit := range map[string]time.Duration{"rounds without a time": 0, "rounds with a time": time.Hour} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.TwoDebaters()
			config.ID, config.Mode, config.RoundTimeout = "d", debate.Simultaneous, limit
			n := &stage.Nomad{T: t, Config: config, Store: &store.Memory{}}
			n.Begin()
			first := n.Advance(flow.Opened{ID: "1"})
			require.Len(t, first.Calls, 2)
			for range 3 {
				assert.Equal(t, first, n.Advance(flow.Opened{ID: "1"}))
			}
			require.NoError(t, n.Engine().Control(t.Context(), "d", flow.Pause{}))
			paused := n.Advance(flow.Opened{ID: "1"})
			assert.Len(t, paused.Abort, 2, "calls that are aborted before they are made cost nothing either")
			for _, call := range paused.Calls {
				_, err := n.Engine().Call(t.Context(), "d", "nomad", call, nil)
				require.NoError(t, err)
			}
			assert.Empty(t, n.Asked)
			record := n.Run(n.Advance(flow.Resume{}))
			assert.Equal(t, flow.StateCompleted, record.State)
			quiet, p := stage.Engine(config)
			assert.Equal(t, stage.Run(t, quiet, config).Spent().Cost, record.Spent().Cost)
			assert.Len(t, n.Asked, p.Calls())
		}))
	}
}

// Whoever may have made a call that is in flight has paid for it. Another Opened charges it, and so does one that comes again after
// others have worked on the debate. No call is made twice.
func TestAnOpenedThatIsAnotherOne(t *testing.T) {
	again := flow.Opened{ID: "1"}
	for name, between := range map[string]func(n *stage.Nomad) flow.Opened{
		"another id": func(*stage.Nomad) flow.Opened { return flow.Opened{ID: "2"} },
		"no id":      func(*stage.Nomad) flow.Opened { return flow.Opened{} },
		"one that has made a call": func(n *stage.Nomad) flow.Opened {
			_, err := n.Engine().Call(n.T.Context(), "d", "nomad", n.Core().InFlight()[0], nil)
			require.NoError(n.T, err)
			return again
		},
		"another owner": func(n *stage.Nomad) flow.Opened {
			stage.Pass(time.Minute)
			_, err := n.Engine().Advance(n.T.Context(), "d", "another", again)
			require.NoError(n.T, err)
			stage.Pass(time.Minute)
			return again
		},
		"a session": func(n *stage.Nomad) flow.Opened {
			stage.Pass(time.Minute)
			n.Sit(func(*debate.Session) {})
			return again
		},
		"a session that resumes": func(n *stage.Nomad) flow.Opened {
			require.NoError(n.T, n.Engine().Control(n.T.Context(), "d", flow.Pause{}))
			stage.Pass(time.Minute)
			n.Sit(func(s *debate.Session) { require.NoError(n.T, s.Resume(n.T.Context())) })
			return again
		},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.TwoDebaters()
			config.ID = "d"
			n := &stage.Nomad{T: t, Config: config, Store: &store.Memory{}}
			n.Begin()
			require.Len(t, n.Advance(again).Calls, 1)
			opened := between(n)
			core := n.Core()
			require.NotEmpty(t, core.InFlight())
			next := n.Advance(opened)
			require.Len(t, next.Calls, 1)
			assert.NotContains(t, core.InFlight(), next.Calls[0])
		}))
	}
}

// A session may resume a debate that rests without an Opened of its own. What it has begun is lost all the same.
func TestAnOpenedBeforeARest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.ID = "d"
		stage.Pausing(&config, 10*time.Minute)
		n := &stage.Nomad{T: t, Config: config, Store: &store.Memory{}}
		n.Begin()
		next := n.Advance(flow.Opened{})
		for len(next.Calls) > 0 {
			var err error
			next, err = n.Engine().Call(t.Context(), "d", "nomad", next.Calls[0], nil)
			require.NoError(t, err)
		}
		require.NotZero(t, next.Wait)
		require.Empty(t, n.Advance(flow.Opened{ID: "1"}).Calls)
		require.NoError(t, n.Engine().Control(t.Context(), "d", flow.Pause{}))
		stage.Pass(time.Minute)
		n.Sit(func(s *debate.Session) {
			require.NoError(t, s.Resume(t.Context()))
			stage.Pass(10 * time.Minute)
		})
		lost := n.Core().InFlight()
		require.Len(t, lost, 1)
		assert.NotContains(t, n.Advance(flow.Opened{ID: "1"}).Calls, lost[0])
	})
}

// A runtime whose engine keeps the folded log reads once a step what is new, and leaves no lease where there is no debate.
func TestAnAdvanceReadsOnce(t *testing.T) {
	config := stage.TwoDebaters()
	config.ID = "d"
	counted := &askedStore{Memory: &store.Memory{}}
	n := &stage.Nomad{T: t, Config: config, Store: counted}
	n.Begin()
	n.Same = n.Engine()
	next := n.Advance(flow.Opened{})
	assert.EqualValues(t, 1, counted.reads.Swap(0), "the whole log")
	for range 3 {
		assert.Equal(t, next, n.Advance(flow.Tick{}))
		assert.EqualValues(t, 1, counted.reads.Swap(0))
	}
	record := n.Run(next)
	assert.Equal(t, flow.StateCompleted, record.State)
	counted.reads.Store(0)
	counted.leases.Store(0)
	assert.True(t, n.Advance(flow.Tick{}).Over)
	assert.EqualValues(t, 1, counted.reads.Load())
	assert.Zero(t, counted.leases.Load(), "a debate that is over needs no lease")
	require.NoError(t, counted.Lease(t.Context(), "d", "another", time.Hour))
	assert.True(t, n.Advance(flow.Tick{}).Over, "whoever has it")
	n.Same = nil
	assert.True(t, n.Advance(flow.Tick{}).Over, "nor is it needed to find that out")
	require.NoError(t, counted.Release(t.Context(), "d", "another"))

	config.ID = "e"
	n.Config = config
	n.Begin()
	kept := n.Engine()
	_, err := kept.Advance(t.Context(), "e", "nomad", flow.Opened{})
	require.NoError(t, err)
	require.NoError(t, counted.Delete(t.Context(), "e"))
	for _, engine := range []*debate.Engine{kept, n.Engine()} {
		_, err = engine.Advance(t.Context(), "e", "nomad", flow.Tick{})
		require.ErrorIs(t, err, flow.ErrNotFound)
		require.NoError(t, counted.Lease(t.Context(), "e", "another", time.Hour), "no lease is left")
		require.NoError(t, counted.Release(t.Context(), "e", "another"))
	}
}

// askedStore counts how often logs are read and leases asked for.
type askedStore struct {
	*store.Memory

	reads, leases atomic.Int64
}

func (s *askedStore) Read(ctx context.Context, id string, after int64) iter.Seq2[debate.Event, error] {
	s.reads.Add(1)
	return s.Memory.Read(ctx, id, after)
}

func (s *askedStore) Lease(ctx context.Context, id, owner string, d time.Duration) error {
	s.leases.Add(1)
	return s.Memory.Lease(ctx, id, owner, d)
}
