package session_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// A runtime that forgets everything between two calls ends as a session does.
func TestARuntimeThatRemembersNothing(t *testing.T) {
	for name, change := range map[string]func(*debate.Config){
		"sequential":   func(*debate.Config) {},
		"simultaneous": func(c *debate.Config) { c.Mode = debate.Simultaneous },
		"free form":    func(c *debate.Config) { c.Format = format.FreeForm },
		"no judge":     func(c *debate.Config) { c.Judging = nil },
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.TwoDebaters()
			config.ID = "d"
			change(&config)
			_, p := stage.Engine(config)
			n := &stage.Nomad{T: t, Config: config, Store: &store.Memory{}, Reply: stage.Flaky(p.Reply)}
			n.Begin()
			record := n.Run(n.Advance(flow.Opened{}))
			assert.Equal(t, flow.StateCompleted, record.State)
			assert.Equal(t, stage.Undisturbed(t, config), stage.Canonical(t, record))
			for info, err := range n.Store.List(t.Context(), store.Filter{}) {
				require.NoError(t, err)
				assert.Empty(t, info.Owner, "nobody has the lease of a debate that is over")
			}
		}))
	}
}

// The machines' clocks differ by hours. What is waited for takes as long as the runtime waits.
func TestARuntimeWaitsByItsOwnClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.ID, config.Patience = "d", 0
		_, p := stage.Engine(config)
		asked := 0
		n := &stage.Nomad{T: t, Config: config, Store: &store.Memory{}}
		n.Reply = func(r *provider.Request) scripted.Reply {
			if asked++; asked > 1 && asked <= 4 { // it was reached before
				return scripted.Reply{Err: &provider.Error{Kind: provider.KindNetwork, NotSent: true}}
			}
			return p.Reply(r)
		}
		n.Begin()
		n.Store = &shownStore{n.Store, func(e *flow.Event) { e.At = e.At.Add(time.Hour) }} // as a clock that is ahead has written it
		began := time.Now()
		record := n.Run(n.Advance(flow.Opened{}))
		assert.Equal(t, flow.StateCompleted, record.State)
		assert.Less(t, time.Since(began), 10*time.Minute)
	})
}

// shownStore shows each event that is read to a function, which may change it.
type shownStore struct {
	store.Store
	show func(*flow.Event)
}

func (s *shownStore) Read(ctx context.Context, id string, after int64) iter.Seq2[flow.Event, error] {
	return func(yield func(flow.Event, error) bool) {
		for event, err := range s.Store.Read(ctx, id, after) {
			s.show(&event)
			if !yield(event, err) {
				return
			}
		}
	}
}

// A crash between two steps loses nothing, and no call is made again whose outcome is recorded.
func TestARuntimeThatDiesAnywhere(t *testing.T) {
	config := stage.TwoDebaters()
	config.ID = "d"
	want := stage.Undisturbed(t, config)
	n := &stage.Nomad{T: t, Config: config, Store: &store.Memory{}}
	n.Begin()
	next := n.Advance(flow.Opened{})
	for step := 0; !next.Over; step++ {
		call := next.Calls[0]
		engine := n.Engine()
		switch step % 3 {
		case 0: // it dies with what the call brings: the call is lost, and is made again
			lost := n.Advance(call)
			require.Len(t, lost.Calls, 1)
			assert.Equal(t, call.Attempt+1, lost.Calls[0].Attempt)
			call = lost.Calls[0]
			fallthrough
		case 1: // it dies after the append, before anybody learns of it: the call is settled
			_, err := engine.Call(t.Context(), config.ID, "nomad", call, nil)
			require.NoError(t, err)
			asked := len(n.Asked)
			next, err = n.Engine().Call(t.Context(), config.ID, "nomad", call, nil)
			require.NoError(t, err)
			assert.Len(t, n.Asked, asked, "what is recorded is not asked again")
			again := n.Advance(call)
			assert.Equal(t, next, again, "nor lost")
		default: // another takes over
			next = n.Advance(flow.Opened{})
			require.Len(t, next.Calls, 1)
			var err error
			next, err = engine.Call(t.Context(), config.ID, "nomad", next.Calls[0], nil)
			require.NoError(t, err)
		}
	}
	record := stage.StoredRecord(t, n.Engine(), config.ID)
	assert.Equal(t, want, stage.Canonical(t, record))
}

// A session and a runtime never both work on a debate.
func TestARuntimeBesideASession(t *testing.T) {
	config := stage.TwoDebaters()
	config.ID = "d"
	n := &stage.Nomad{T: t, Config: config, Store: &store.Memory{}}
	n.Begin()
	_ = n.Advance(flow.Opened{})
	_, err := n.Engine().Open(t.Context(), config.ID)
	require.ErrorIs(t, err, debate.ErrLeased)
	_, err = n.Engine().Advance(t.Context(), config.ID, "another", flow.Opened{})
	require.ErrorIs(t, err, debate.ErrLeased)
	_, err = n.Engine().Advance(t.Context(), config.ID, "another", nil)
	require.ErrorIs(t, err, debate.ErrLeased)

	require.NoError(t, n.Engine().Control(t.Context(), config.ID, flow.Pause{}), "controls need no lease")
	held, err := n.Engine().Advance(t.Context(), config.ID, "nomad", nil)
	require.NoError(t, err)
	next := n.Advance(flow.Tick{})
	assert.Equal(t, next, held, "who makes a call sees that it is to be aborted")
	require.Len(t, next.Calls, 1)
	assert.Equal(t, []string{next.Calls[0].Call}, next.Abort)
	next, err = n.Engine().Call(t.Context(), config.ID, "nomad", next.Calls[0], nil)
	require.NoError(t, err)
	assert.Empty(t, n.Asked, "a call that was aborted before it was made is not made")
	assert.True(t, next.Idle)
	assert.Equal(t, flow.StatePaused, next.State)
	session, err := n.Engine().Open(t.Context(), config.ID)
	require.NoError(t, err, "a debate that rests has no lease")
	require.NoError(t, session.Resume(t.Context()))
	stage.Ended(t, session)
	require.NoError(t, session.Close())
	next = n.Advance(flow.Tick{})
	assert.True(t, next.Over)
	assert.Equal(t, flow.StateCompleted, next.State)
}

// What a runtime may not do is refused, and changes nothing.
func TestWhatARuntimeMayNotDo(t *testing.T) {
	config := stage.TwoDebaters()
	config.ID = "d"
	n := &stage.Nomad{T: t, Config: config, Store: &store.Memory{}}
	n.Begin()
	engine := n.Engine()
	for name, refused := range map[string]struct {
		id, owner string
		signal    flow.Signal
		kind      provider.Kind
	}{
		"no owner":         {"d", "", nil, provider.KindValidation},
		"no such debate":   {"e", "nomad", nil, provider.KindValidation},
		"a second start":   {"d", "nomad", flow.Start{}, provider.KindState},
		"a config":         {"d", "nomad", flow.Edit{Config: config}, provider.KindState},
		"a useless resume": {"d", "nomad", flow.Resume{}, provider.KindState},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := engine.Advance(t.Context(), refused.id, refused.owner, refused.signal)
			var e *flow.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, refused.kind, e.Kind, e)
		})
	}
	lacking := &debate.Engine{Store: n.Store}
	_, err := lacking.Advance(t.Context(), "d", "nomad", flow.Opened{})
	require.ErrorIs(t, err, debate.ErrMissing)
	record := stage.StoredRecord(t, engine, "d")
	assert.Zero(t, record.InFlight())
	next := n.Advance(flow.Opened{})
	_, err = lacking.Call(t.Context(), "d", "nomad", next.Calls[0], nil)
	require.ErrorIs(t, err, debate.ErrMissing)
	held, err := n.Engine().Advance(t.Context(), "d", "nomad", nil)
	require.NoError(t, err)
	assert.Equal(t, next, held, "a call that could not be made is left to others")
	result := flow.Result{Call: next.Calls[0].Call, Attempt: next.Calls[0].Attempt, Text: "I was paid for."}
	next, err = lacking.Advance(t.Context(), "d", "nomad", result)
	require.ErrorIs(t, err, debate.ErrMissing)
	assert.Empty(t, next.Calls)
	record = stage.StoredRecord(t, engine, "d")
	require.Len(t, record.Turns, 1, "what a call has brought is recorded all the same")
	next = n.Advance(flow.Tick{})
	require.NotEmpty(t, next.Calls)
	_, err = lacking.Advance(t.Context(), "d", "nomad", flow.Outcomes{
		flow.Result{Call: next.Calls[0].Call, Attempt: next.Calls[0].Attempt, Text: "So was I."},
	})
	require.ErrorIs(t, err, debate.ErrMissing)
	record = stage.StoredRecord(t, engine, "d")
	require.Len(t, record.Turns, 2, "so is what several have brought")
}

// An engine that keeps the folded log reads only the events that are new; one that has no room for it reads the log again.
func TestFoldedLogsAreKept(t *testing.T) {
	for name, folded := range map[string]int64{"kept": 0, "no room": 1} {
		t.Run(name, func(t *testing.T) {
			config := stage.TwoDebaters()
			config.ID = "d"
			var read atomic.Int64
			n := &stage.Nomad{T: t, Config: config, Store: &shownStore{&store.Memory{}, func(*flow.Event) { read.Add(1) }}}
			n.Begin()
			engine := n.Engine()
			engine.CacheBytes = folded
			next, err := engine.Advance(t.Context(), "d", "nomad", flow.Opened{})
			require.NoError(t, err)
			looks := int64(2)
			for ; !next.Over; looks += 2 {
				next, err = engine.Call(t.Context(), "d", "nomad", next.Calls[0], nil)
				require.NoError(t, err)
			}
			if folded == 0 {
				assert.LessOrEqual(t, read.Load(), looks, "the last event, by which the log is known again")
			} else {
				assert.Greater(t, read.Load(), 3*next.Seq)
			}
		})
	}
}

// A control of another process is taken although the debate makes a step whenever its log has been read.
func TestAControlCatchesAFastDebate(t *testing.T) {
	config := stage.TwoDebaters()
	config.ID = "d"
	n := &stage.Nomad{T: t, Config: config, Store: &store.Memory{}}
	n.Begin()
	next, tries := n.Advance(flow.Opened{}), 0
	fast := &racingStore{Store: n.Store, race: func() {
		tries++
		if len(next.Calls) > 0 {
			var err error
			next, err = n.Engine().Call(t.Context(), config.ID, "nomad", next.Calls[0], nil)
			require.NoError(t, err)
		}
	}}
	controller := &debate.Engine{Store: fast}
	require.NoError(t, controller.Control(t.Context(), config.ID, flow.Pause{}))
	assert.LessOrEqual(t, tries, 2, "to step, and to see whether a call is left to record")
	assert.Equal(t, flow.StatePaused, n.Advance(flow.Tick{}).State)
}

// racingStore lets something happen after a whole log was read.
type racingStore struct {
	store.Store
	race func()
}

func (s *racingStore) Read(ctx context.Context, id string, after int64) iter.Seq2[flow.Event, error] {
	return func(yield func(flow.Event, error) bool) {
		s.Store.Read(ctx, id, after)(yield)
		if after == 0 {
			s.race()
		}
	}
}

// A store that fails after it has appended makes no event twice, and a call that was begun so is made.
func TestARuntimeAndAStoreInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.ID = "d"
		doubtful := &doubtfulStore{Store: &store.Memory{}}
		n := &stage.Nomad{T: t, Config: config, Store: doubtful}
		n.Begin()
		doubtful.on = true
		record := n.Run(n.Advance(flow.Opened{}))
		assert.Equal(t, stage.Undisturbed(t, config), stage.Canonical(t, record))
		assert.Positive(t, doubtful.failed)
	})
}

// doubtfulStore appends, and fails to say so, every second time. Then somebody else appends behind it.
type doubtfulStore struct {
	store.Store
	on     bool
	calls  int
	failed int
}

func (s *doubtfulStore) Append(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
	err := s.Store.Append(ctx, id, after, writer, events)
	if s.calls++; s.on && err == nil && s.calls%2 == 0 {
		s.failed++
		return errors.New("the connection is gone")
	}
	return err
}

// Code that ignores the end of its context is given up, and the debate goes on.
func TestARuntimeGivesUpCodeThatIgnoresItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.ID = "d"
		n := &stage.Nomad{T: t, Config: config, Store: &store.Memory{}}
		n.Begin()
		stubborn := make(chan struct{})
		engine := n.Engine()
		engine.Providers = map[string]provider.Provider{"test": stage.ProviderFunc(
			func(context.Context, *provider.Request, func(provider.Chunk)) (*provider.Response, error) {
				<-stubborn
				return nil, errors.New("too late")
			})}
		next, err := engine.Advance(t.Context(), "d", "nomad", flow.Opened{})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		next, err = engine.Call(ctx, "d", "nomad", next.Calls[0], nil)
		require.NoError(t, err)
		assert.Equal(t, 6*time.Second, time.Since(began), "the time of the call, and the grace")
		assert.EqualValues(t, 1, engine.Stats().GivenUp, fmt.Sprint(next))
		close(stubborn)
		synctest.Wait()
	})
}

// A call ends with the context of whoever makes it, and the log says how.
func TestACallOfARuntimeEndsWithItsContext(t *testing.T) {
	for want, end := range map[provider.Kind]func(context.Context) (context.Context, context.CancelFunc){
		provider.KindTimeout: func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 3*time.Second)
		},
		provider.KindCanceled: func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(3*time.Second, cancel)
			return ctx, cancel
		},
	} {
		t.Run(string(want), stage.Bubbled(func(t *testing.T) {
			config := stage.TwoDebaters()
			config.ID = "d"
			n := &stage.Nomad{T: t, Config: config, Store: &store.Memory{}}
			n.Begin()
			engine := n.Engine()
			engine.Providers = map[string]provider.Provider{"test": stage.ProviderFunc(
				func(ctx context.Context, _ *provider.Request, _ func(provider.Chunk)) (*provider.Response, error) {
					<-ctx.Done()
					return nil, ctx.Err()
				})}
			next, err := engine.Advance(t.Context(), "d", "nomad", flow.Opened{})
			require.NoError(t, err)
			ctx, cancel := end(t.Context())
			defer cancel()
			began := time.Now()
			_, err = engine.Call(ctx, "d", "nomad", next.Calls[0], nil)
			require.NoError(t, err)
			assert.Equal(t, 3*time.Second, time.Since(began))
			failures := failuresOf(stage.Kept(t, n.Store, "d"))
			require.Len(t, failures, 1)
			assert.Equal(t, want, failures[0].Error.Kind)
		}))
	}
}

// Code that ends its goroutine has failed as in a session: the call is made again.
func TestARuntimeOutlivesCodeThatEndsItsGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.ID = "d"
		n := &stage.Nomad{T: t, Config: config, Store: &store.Memory{}}
		n.Begin()
		engine := n.Engine()
		places(stage.NewDeaf(true))["provider"](&config, engine)
		next, err := engine.Advance(t.Context(), "d", "nomad", flow.Opened{})
		require.NoError(t, err)
		next, err = engine.Call(t.Context(), "d", "nomad", next.Calls[0], nil)
		require.NoError(t, err)
		failures := failuresOf(stage.Kept(t, n.Store, "d"))
		require.Len(t, failures, 1)
		assert.Equal(t, provider.KindAPI, failures[0].Error.Kind)
		assert.Equal(t, flow.StateCompleted, n.Run(next).State)
	})
}
