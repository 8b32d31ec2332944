package session_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// The company's engines keep the lease that they have by default, which is renewed and looked at after a third.
const (
	beatTime = stage.LeaseTime / 3
	pollTime = 250 * time.Millisecond
)

func TestTheLeaseIsGivenBackAtRest(t *testing.T) {
	noKey := &provider.Error{Kind: provider.KindAuthentication, Status: 401}
	noQuota := &provider.Error{Kind: provider.KindQuota, Status: 429}
	for name, test := range map[string]struct {
		change func(*debate.Config)
		fail   *provider.Error
		call   string // that fails
		then   func(*testing.T, *debate.Session)
		state  debate.State
	}{
		"paused": {
			then:  func(t *testing.T, s *debate.Session) { require.NoError(t, s.Pause(t.Context())) },
			state: flow.StatePaused,
		},
		"an error": {fail: noQuota, call: stage.AdasOpening, state: flow.StateError},
		"a question": {
			change: func(c *debate.Config) { c.Unattended = false },
			fail:   noKey, call: "r2.rebuttal.Ben", state: flow.StateAwaitingInput,
		},
		"a warning": {
			change: func(c *debate.Config) {
				c.Unattended, c.Budget = false, &debate.Budget{Warn: debate.USD / 1000, Confirm: true}
			},
			state: flow.StateAwaitingInput,
		},
		"canceled": {
			then:  func(t *testing.T, s *debate.Session) { require.NoError(t, s.Cancel(t.Context())) },
			state: flow.StateCanceled,
		},
		"completed": {state: flow.StateCompleted},
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.TwoDebaters()
			if test.change != nil {
				test.change(&config)
			}
			stage.InCompany(t, config, func(t *testing.T, c *stage.Company, join func() *stage.Member) {
				if test.fail != nil {
					c.Failing(test.call, test.fail)
				}
				s := join().Begun()
				assert.NotEmpty(t, c.Owner(s.ID()))
				stage.Pass(500 * time.Millisecond)
				if test.then != nil {
					test.then(t, s)
				}
				stage.Pass(30 * time.Second)
				assert.Equal(t, test.state, s.State())
				assert.Empty(t, c.Owner(s.ID()), "whoever says something next may be in another process")
				var idle []string
				for info, err := range join().List(t.Context(), debate.Filter{Idle: true}) {
					require.NoError(t, err)
					idle = append(idle, info.ID)
				}
				assert.Equal(t, []string{s.ID()}, idle)
				other := join().Opened(s.ID())
				assert.Equal(t, test.state, other.State())
				assert.Empty(t, c.Owner(s.ID()), "who opens it takes no lease either")
			})
		})
	}
}

func TestTheLeaseIsKeptWhileACallIsInFlight(t *testing.T) {
	for name, do := range map[string]func(context.Context, *debate.Session) error{
		"a draining pause": func(ctx context.Context, s *debate.Session) error { return s.Control(ctx, flow.Pause{Drain: true}) },
		// The provider goes on: what was broken off is still to be charged.
		"a pause": func(ctx context.Context, s *debate.Session) error { return s.Pause(ctx) },
		"the end": func(ctx context.Context, s *debate.Session) error { return s.Cancel(ctx) },
	} {
		t.Run(name, func(t *testing.T) {
			stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
				c.Slow("Ada", time.Minute)
				m := join()
				m.Providers["test"], m.Grace = stubborn{m}, 2*time.Minute
				s := m.Begun()
				stage.Pass(500 * time.Millisecond)
				require.NoError(t, do(t.Context(), s))
				stage.Pass(time.Minute)
				assert.NotEmpty(t, c.Owner(s.ID()))
				_, err := join().Open(t.Context(), s.ID())
				require.ErrorIs(t, err, debate.ErrLeased)
				stage.Pass(time.Second)
				assert.Empty(t, c.Owner(s.ID()))
				assert.Zero(t, c.Record(s.ID()).InFlight())
			})
		})
	}
}

// stubborn is a provider that does not hear that it is broken off.
type stubborn struct{ debate.Provider }

func (p stubborn) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	return p.Provider.Generate(context.WithoutCancel(ctx), req, emit)
}

// A session that is closed gives its lease back slowly, while the same engine opens the debate again: what
// it gives back is not the new session's.
func TestADebateIsOpenedWhileItIsClosed(t *testing.T) {
	stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		a := join()
		a.Goes(func(_ context.Context, op string, do func() error) error {
			if op == "release" {
				stage.Pass(2 * time.Second)
			}
			return do()
		})
		first := a.Begun()
		stage.Pass(500 * time.Millisecond)
		var group sync.WaitGroup
		group.Go(func() { assert.NoError(t, first.Close()) })
		stage.Pass(time.Second)
		again, err := a.Open(t.Context(), first.ID())
		group.Wait()
		if errors.Is(err, debate.ErrLeased) || again == first { // not yet
			again, err = a.Open(t.Context(), first.ID())
		}
		require.NoError(t, err)
		stage.Pass(1100 * time.Millisecond)
		assert.NotEmpty(t, c.Owner(first.ID()))
		_, err = join().Open(t.Context(), first.ID())
		require.ErrorIs(t, err, debate.ErrLeased)
		stage.Ended(t, again)
		c.Finished(first.ID())
	})
}

// A lease is given back and taken again while its renewal waits for its turn. It is not renewed twice from
// then on, and nobody waits for a renewal when the session is closed.
func TestALeaseIsRenewedOnceAtATime(t *testing.T) {
	config := stage.TwoDebaters()
	stage.Pausing(&config, time.Minute) // nothing is in flight then
	stage.InCompany(t, config, func(t *testing.T, _ *stage.Company, join func() *stage.Member) {
		a := join()
		var slow atomic.Bool
		var leases atomic.Int64
		a.Goes(func(_ context.Context, op string, do func() error) error {
			switch {
			case op == "append" && slow.Load():
				stage.Pass(200 * time.Millisecond)
			case op == "lease":
				leases.Add(1)
			}
			return do()
		})
		s := a.Begun()
		stage.Pass(2*beatTime - 100*time.Millisecond)
		slow.Store(true)
		var group sync.WaitGroup
		group.Go(func() { assert.NoError(t, s.Pause(t.Context())) })
		stage.Pass(50 * time.Millisecond)
		group.Go(func() { assert.NoError(t, s.Resume(t.Context())) })
		group.Wait()
		slow.Store(false)
		before := leases.Load()
		stage.Pass(4*beatTime + time.Second)
		assert.EqualValues(t, 4, leases.Load()-before)
		began := time.Now()
		require.NoError(t, s.Close())
		assert.Zero(t, time.Since(began))
	})
}
