package debate_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// nomad is a runtime that remembers nothing but what Advance returns: each of its steps could be made on another machine, and is
// made by another engine.
type nomad struct {
	t      *testing.T
	config debate.Config
	reply  func(*provider.Request) scripted.Reply
	store  store.Store
	same   *debate.Engine // nil: each step has an engine of its own
	asked  []string
}

// engine is that of one more machine.
func (n *nomad) engine() *debate.Engine {
	if n.same != nil {
		return n.same
	}
	engine, p := engineFor(n.config)
	engine.Store = n.store
	reply := p.Reply
	if n.reply != nil {
		reply = n.reply
	}
	p.Reply = func(r *provider.Request) scripted.Reply {
		n.asked = append(n.asked, r.ID)
		return reply(r)
	}
	return engine
}

// begin stores the debate, which nobody works on yet.
func (n *nomad) begin() {
	n.t.Helper()
	session, err := n.engine().New(n.config)
	require.NoError(n.t, err)
	require.NoError(n.t, session.Validate(n.t.Context()))
	start, err := n.engine().Freeze(n.config)
	require.NoError(n.t, err)
	core, err := n.engine().NewCore(n.config.ID, nil)
	require.NoError(n.t, err)
	for _, signal := range []flow.Signal{flow.Edit{Config: n.config}, flow.Validate{}, flow.Validated{OK: true}, start} {
		out, err := core.StepDrain(flow.Input{At: time.Now(), Signal: signal})
		require.NoError(n.t, err)
		require.NoError(n.t, n.store.Append(n.t.Context(), n.config.ID, 0, "begin", out.Events))
	}
}

func (n *nomad) advance(signal flow.Signal) flow.Next {
	n.t.Helper()
	next, err := n.engine().Advance(n.t.Context(), n.config.ID, "nomad", signal)
	require.NoError(n.t, err)
	return next
}

// run plays the debate to its end, a call at a time.
func (n *nomad) run(next flow.Next) *debate.Record {
	n.t.Helper()
	for !next.Over {
		var err error
		switch {
		case len(next.Calls) > 0:
			next, err = n.engine().Call(n.t.Context(), n.config.ID, "nomad", next.Calls[0], nil)
			require.NoError(n.t, err)
		default:
			require.NotZero(n.t, next.Wait, "nothing is due in state %s", next.State)
			<-time.After(next.Wait)
			next = n.advance(flow.Tick{Seq: next.Seq})
		}
	}
	record, err := n.engine().Record(n.t.Context(), n.config.ID)
	require.NoError(n.t, err)
	return record
}

// A runtime that forgets everything between two calls ends as a session does.
func TestARuntimeThatRemembersNothing(t *testing.T) {
	for name, change := range map[string]func(*debate.Config){
		"sequential":   func(*debate.Config) {},
		"simultaneous": func(c *debate.Config) { c.Mode = debate.Simultaneous },
		"free form":    func(c *debate.Config) { c.Format = format.FreeForm },
		"no judge":     func(c *debate.Config) { c.Judging = nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config := twoDebaters()
				config.ID = "d"
				change(&config)
				_, p := engineFor(config)
				n := &nomad{t: t, config: config, store: &store.Memory{}, reply: flaky(p.Reply)}
				n.begin()
				record := n.run(n.advance(flow.Opened{}))
				assert.Equal(t, flow.StateCompleted, record.State)
				assert.Equal(t, undisturbed(t, config), canonical(t, record))
				for info, err := range n.store.List(t.Context(), store.Filter{}) {
					require.NoError(t, err)
					assert.Empty(t, info.Owner, "nobody has the lease of a debate that is over")
				}
			})
		})
	}
}

// The machines' clocks differ by hours. What is waited for takes as long as the runtime waits.
func TestARuntimeWaitsByItsOwnClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := twoDebaters()
		config.ID, config.Patience = "d", 0
		_, p := engineFor(config)
		failed := 0
		n := &nomad{t: t, config: config, store: &store.Memory{}}
		n.reply = func(r *provider.Request) scripted.Reply {
			if failed++; failed <= 3 {
				return scripted.Reply{Err: &provider.Error{Kind: provider.KindNetwork, NotSent: true}}
			}
			return p.Reply(r)
		}
		n.begin()
		ahead := &aheadStore{Store: n.store, by: time.Hour} // all that is read was written by a clock that is ahead
		n.store = ahead
		began := time.Now()
		record := n.run(n.advance(flow.Opened{}))
		assert.Equal(t, flow.StateCompleted, record.State)
		assert.Less(t, time.Since(began), 10*time.Minute)
	})
}

// aheadStore shows logs as one would have written them whose clock is ahead.
type aheadStore struct {
	store.Store
	by time.Duration
}

func (s *aheadStore) Read(ctx context.Context, id string, after int64) iter.Seq2[flow.Event, error] {
	return func(yield func(flow.Event, error) bool) {
		for event, err := range s.Store.Read(ctx, id, after) {
			event.At = event.At.Add(s.by)
			if !yield(event, err) {
				return
			}
		}
	}
}

// A crash between two steps loses nothing, and no call is made again whose outcome is recorded.
func TestARuntimeThatDiesAnywhere(t *testing.T) {
	config := twoDebaters()
	config.ID = "d"
	want := undisturbed(t, config)
	n := &nomad{t: t, config: config, store: &store.Memory{}}
	n.begin()
	next := n.advance(flow.Opened{})
	for step := 0; !next.Over; step++ {
		call := next.Calls[0]
		engine := n.engine()
		switch step % 3 {
		case 0: // it dies with what the call brings: the call is lost, and is made again
			lost := n.advance(call)
			require.Len(t, lost.Calls, 1)
			assert.Equal(t, call.Attempt+1, lost.Calls[0].Attempt)
			call = lost.Calls[0]
			fallthrough
		case 1: // it dies after the append, before anybody learns of it: the call is settled
			_, err := engine.Call(t.Context(), config.ID, "nomad", call, nil)
			require.NoError(t, err)
			asked := len(n.asked)
			next, err = n.engine().Call(t.Context(), config.ID, "nomad", call, nil)
			require.NoError(t, err)
			assert.Len(t, n.asked, asked, "what is recorded is not asked again")
			again := n.advance(call)
			assert.Equal(t, next, again, "nor lost")
		default: // another takes over
			next = n.advance(flow.Opened{})
			require.Len(t, next.Calls, 1)
			var err error
			next, err = engine.Call(t.Context(), config.ID, "nomad", next.Calls[0], nil)
			require.NoError(t, err)
		}
	}
	record, err := n.engine().Record(t.Context(), config.ID)
	require.NoError(t, err)
	assert.Equal(t, want, canonical(t, record))
}

// A session and a runtime never both work on a debate.
func TestARuntimeBesideASession(t *testing.T) {
	config := twoDebaters()
	config.ID = "d"
	n := &nomad{t: t, config: config, store: &store.Memory{}}
	n.begin()
	_ = n.advance(flow.Opened{})
	_, err := n.engine().Open(t.Context(), config.ID)
	require.ErrorIs(t, err, debate.ErrLeased)
	_, err = n.engine().Advance(t.Context(), config.ID, "another", flow.Opened{})
	require.ErrorIs(t, err, debate.ErrLeased)
	_, err = n.engine().Hold(t.Context(), config.ID, "another")
	require.ErrorIs(t, err, debate.ErrLeased)

	require.NoError(t, n.engine().Control(t.Context(), config.ID, flow.Pause{}), "controls need no lease")
	held, err := n.engine().Hold(t.Context(), config.ID, "nomad")
	require.NoError(t, err)
	next := n.advance(nil)
	assert.Equal(t, next, held, "who makes a call sees that it is to be aborted")
	require.Len(t, next.Calls, 1)
	assert.Equal(t, []string{next.Calls[0].Call}, next.Abort)
	next, err = n.engine().Call(t.Context(), config.ID, "nomad", next.Calls[0], nil)
	require.NoError(t, err)
	assert.Empty(t, n.asked, "a call that was aborted before it was made is not made")
	assert.True(t, next.Idle)
	assert.Equal(t, flow.StatePaused, next.State)
	session, err := n.engine().Open(t.Context(), config.ID)
	require.NoError(t, err, "a debate that rests has no lease")
	require.NoError(t, session.Resume(t.Context()))
	_, err = session.Wait(t.Context())
	require.NoError(t, err)
	require.NoError(t, session.Close())
	next = n.advance(nil)
	assert.True(t, next.Over)
	assert.Equal(t, flow.StateCompleted, next.State)
}

// What a runtime may not do is refused, and changes nothing.
func TestWhatARuntimeMayNotDo(t *testing.T) {
	config := twoDebaters()
	config.ID = "d"
	n := &nomad{t: t, config: config, store: &store.Memory{}}
	n.begin()
	engine := n.engine()
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
	lacking := &debate.Engine{Store: n.store}
	_, err := lacking.Advance(t.Context(), "d", "nomad", flow.Opened{})
	require.ErrorIs(t, err, debate.ErrLacking)
	record, err := engine.Record(t.Context(), "d")
	require.NoError(t, err)
	assert.Zero(t, record.InFlight())
	next := n.advance(flow.Opened{})
	_, err = lacking.Call(t.Context(), "d", "nomad", next.Calls[0], nil)
	require.ErrorIs(t, err, debate.ErrLacking)
	held, err := n.engine().Hold(t.Context(), "d", "nomad")
	require.NoError(t, err)
	assert.Equal(t, next, held, "a call that could not be made is left to others")
	result := flow.Result{Call: next.Calls[0].Call, Attempt: next.Calls[0].Attempt, Text: "I was paid for."}
	next, err = lacking.Advance(t.Context(), "d", "nomad", result)
	require.ErrorIs(t, err, debate.ErrLacking)
	assert.Empty(t, next.Calls)
	record, err = engine.Record(t.Context(), "d")
	require.NoError(t, err)
	require.Len(t, record.Turns, 1, "what a call has brought is recorded all the same")
}

// An engine that keeps the folded log reads only the events that are new; one that has no room for it reads the log again.
func TestFoldedLogsAreKept(t *testing.T) {
	for name, folded := range map[string]int64{"kept": 0, "no room": 1} {
		t.Run(name, func(t *testing.T) {
			config := twoDebaters()
			config.ID = "d"
			counted := &countingStore{Store: &store.Memory{}}
			n := &nomad{t: t, config: config, store: counted}
			n.begin()
			engine := n.engine()
			engine.Folded = folded
			next, err := engine.Advance(t.Context(), "d", "nomad", flow.Opened{})
			require.NoError(t, err)
			looks := int64(2)
			for ; !next.Over; looks += 2 {
				next, err = engine.Call(t.Context(), "d", "nomad", next.Calls[0], nil)
				require.NoError(t, err)
			}
			if folded == 0 {
				assert.LessOrEqual(t, counted.events.Load(), looks, "the last event, by which the log is known again")
			} else {
				assert.Greater(t, counted.events.Load(), 3*next.Seq)
			}
		})
	}
}

// A control of another process is taken although the debate makes a step whenever its log has been read.
func TestAControlCatchesAFastDebate(t *testing.T) {
	config := twoDebaters()
	config.ID = "d"
	n := &nomad{t: t, config: config, store: &store.Memory{}}
	n.begin()
	next, tries := n.advance(flow.Opened{}), 0
	fast := &racingStore{Store: n.store, race: func() {
		tries++
		if len(next.Calls) > 0 {
			var err error
			next, err = n.engine().Call(t.Context(), config.ID, "nomad", next.Calls[0], nil)
			require.NoError(t, err)
		}
	}}
	controller := &debate.Engine{Store: fast}
	require.NoError(t, controller.Control(t.Context(), config.ID, flow.Pause{}))
	assert.LessOrEqual(t, tries, 2, "to step, and to see whether a call is left to record")
	assert.Equal(t, flow.StatePaused, n.advance(nil).State)
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

// countingStore counts the events that are read.
type countingStore struct {
	store.Store
	events atomic.Int64
}

func (s *countingStore) Read(ctx context.Context, id string, after int64) iter.Seq2[flow.Event, error] {
	return func(yield func(flow.Event, error) bool) {
		for event, err := range s.Store.Read(ctx, id, after) {
			s.events.Add(1)
			if !yield(event, err) {
				return
			}
		}
	}
}

// A store that fails after it has appended makes no event twice, and a call that was begun so is made.
func TestARuntimeAndAStoreInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := twoDebaters()
		config.ID = "d"
		doubtful := &doubtfulStore{Store: &store.Memory{}}
		n := &nomad{t: t, config: config, store: doubtful}
		n.begin()
		doubtful.on = true
		record := n.run(n.advance(flow.Opened{}))
		assert.Equal(t, undisturbed(t, config), canonical(t, record))
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
		config := twoDebaters()
		config.ID = "d"
		n := &nomad{t: t, config: config, store: &store.Memory{}}
		n.begin()
		stubborn := make(chan struct{})
		engine := n.engine()
		engine.Providers = map[string]provider.Provider{"test": providerFunc(
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

// flaky fails the first attempt at Ben's second turn, and spoils the judge's first answer of round two.
func flaky(reply func(*provider.Request) scripted.Reply) func(*provider.Request) scripted.Reply {
	return func(req *provider.Request) scripted.Reply {
		r := reply(req)
		switch {
		case strings.Contains(req.ID, "/r2.") && strings.HasSuffix(req.ID, ".Ben/1"):
			r.Err = &provider.Error{Kind: provider.KindNetwork, Message: "cut off", NotSent: true}
		case strings.HasSuffix(req.ID, "/r2.assessment.judge/1"):
			r.Text = "Ada was better."
		}
		return r
	}
}
