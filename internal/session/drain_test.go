package session_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// A shutdown that drains lets the calls in flight finish, and starts none. What they bring is recorded, so that nothing
// is made again.
func TestAShutdownThatDrains(t *testing.T) {
	stage.InCompany(t, stage.Simultaneous(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		a, b := join(), join()
		hurry := c.Slow("Ada", 4*time.Second)
		s := a.Begun()
		c.Config.ID = "paused"
		paused := a.Begun()
		require.NoError(t, paused.Control(t.Context(), flow.Pause{Drain: true}))
		stage.Pass(1500 * time.Millisecond) // Ben has spoken
		began := time.Now()
		require.NoError(t, a.Shutdown(t.Context()))
		assert.Equal(t, 3500*time.Millisecond, time.Since(began), "Ada's speeches")
		_, err := s.Wait(t.Context())
		require.ErrorIs(t, err, flow.ErrClosed)
		hurry()
		for _, id := range []string{s.ID(), "paused"} {
			record := c.Record(id)
			assert.Len(t, record.Turns, 2)
			assert.Zero(t, record.InFlight())
			assert.Empty(t, c.Owner(id))
		}
		calls := c.Calls()
		assert.Equal(t, 4, calls)
		_, err = a.Open(t.Context(), s.ID())
		require.ErrorIs(t, err, flow.ErrClosed)

		again := b.Opened("paused")
		require.NoError(t, again.Resume(t.Context()))
		for _, s := range []*debate.Session{b.Opened(s.ID()), again} {
			stage.Ended(t, s)
			for _, e := range c.Log(s.ID()) {
				assert.Nil(t, body.As[flow.Failure](e), "nothing was lost")
			}
			c.Config.ID = s.ID()
			c.Finished(s.ID())
		}
	})
}

// A debate that is being opened when the engine begins to drain finishes the calls that it has begun.
func TestAShutdownDrainsWhatIsBeingOpened(t *testing.T) {
	stage.InCompany(t, stage.Simultaneous(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		a, b := join(), join()
		a.Goes(func(_ context.Context, op string, do func() error) error {
			err := do()
			if op == "append" {
				stage.Pass(time.Second) // the commit that begins the first calls takes its time
			}
			return err
		})
		began := make(chan *debate.Session, 1)
		go func() {
			s, err := a.Start(t.Context(), c.Config)
			assert.NoError(t, err)
			began <- s
		}()
		stage.Pass(500 * time.Millisecond)
		require.NoError(t, a.Shutdown(t.Context()))
		s := <-began
		record := c.Record(s.ID())
		assert.Len(t, record.Turns, 2)
		assert.Zero(t, record.InFlight())
		for _, e := range c.Log(s.ID()) {
			assert.Nil(t, body.As[flow.Failure](e), "nothing was broken off")
		}
		stage.Ended(t, b.Opened(s.ID()))
		c.Finished(s.ID())
	})
}

// A shutdown drains for as long as its context lasts. Then it aborts what is left.
func TestAShutdownDrainsWithinItsBound(t *testing.T) {
	stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		a := join()
		c.Slow("Ada", time.Minute)
		s := a.Begun()
		c.Config.ID = "another"
		a.Begun()
		stage.Pass(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		err := a.Shutdown(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.EqualError(t, err, "debate: shutdown: the calls of 2 of 2 open conversations were aborted: context deadline exceeded")
		assert.Equal(t, 5*time.Second, time.Since(began))
		assert.Empty(t, c.Owner(s.ID()))
	})
}

// While a session drains, a failed attempt is recorded, and its retry is left to another process.
func TestARetryIsLeftToAnotherProcess(t *testing.T) {
	stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		mend := c.Failing("r1.opening.Ada", &provider.Error{Kind: provider.KindAPI, Status: 500})
		hurry := c.Slow("Ada", 3*time.Second)
		a, b := join(), join()
		s := a.Begun()
		stage.Pass(time.Second)
		require.NoError(t, a.Shutdown(t.Context()))
		assert.Equal(t, 1, c.Calls())
		mend()
		hurry()
		record := stage.Ended(t, b.Opened(s.ID()))
		assert.Len(t, record.Turns, 6)
		assert.Equal(t, 11, c.Calls())
		c.Finished(s.ID())
	})
}

// A worker need not hold what is idle: it learns of a pause once no call is in flight.
func TestWaitingUntilADebateIsIdle(t *testing.T) {
	idle := func(t *testing.T, s *debate.Session, want error, after time.Duration) {
		t.Helper()
		began := time.Now()
		record, err := s.WaitIdle(t.Context())
		assert.Equal(t, after, time.Since(began))
		if want == nil {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, want)
		}
		require.NotNil(t, record)
		assert.Zero(t, record.InFlight())
	}
	t.Run("paused", func(t *testing.T) {
		stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
			s := join().Begun()
			stage.Pass(500 * time.Millisecond)
			require.NoError(t, s.Control(t.Context(), flow.Pause{Drain: true}))
			idle(t, s, debate.ErrPaused, 500*time.Millisecond)
			idle(t, s, debate.ErrPaused, 0)
			assert.Empty(t, c.Owner(s.ID()))
			require.NoError(t, s.Resume(t.Context()))
			idle(t, s, nil, 9*time.Second)
			c.Finished(s.ID())
		})
	})
	t.Run("paused elsewhere", func(t *testing.T) {
		stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, _ *stage.Company, join func() *stage.Member) {
			s, other := join().Begun(), join()
			stage.Pass(500 * time.Millisecond)
			require.NoError(t, other.Control(t.Context(), s.ID(), flow.Pause{}))
			_, err := s.WaitIdle(t.Context())
			require.ErrorIs(t, err, debate.ErrPaused)
		})
	})
	t.Run("a question, while another speaks", func(t *testing.T) {
		config := stage.Simultaneous()
		config.Unattended = false
		stage.InCompany(t, config, func(t *testing.T, c *stage.Company, join func() *stage.Member) {
			c.Failing("r1.opening.Ben", &provider.Error{Kind: provider.KindAuthentication, Status: 401})
			c.Slow("Ada", 5*time.Second)
			idle(t, join().Begun(), debate.ErrAwaitingInput, 6*time.Second)
		})
	})
}
