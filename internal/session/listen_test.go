package session_test

import (
	"context"
	"errors"
	"iter"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
)

// reader collects what a session's Events and Wait give.
type reader struct {
	sync.WaitGroup

	facts  []debate.Event
	record *debate.Record
	err    error
}

// listening reads a session until its debate is over, or the session is.
func listening(t *testing.T, s *debate.Session) *reader {
	r := &reader{}
	r.Go(func() {
		for event, err := range s.Events(t.Context(), 0) {
			if err != nil {
				r.err = err
				return
			}
			if event.Kind() != flow.EventChunk {
				r.facts = append(r.facts, event)
			}
		}
	})
	r.Go(func() {
		for r.record == nil || !r.record.Final() { // it also returns where a person is needed
			record, err := s.Wait(t.Context())
			if err != nil && s.State() != flow.StateError && !errors.Is(err, debate.ErrAwaitingInput) {
				return
			}
			r.record = record
			stage.Pass(100 * time.Millisecond)
		}
	})
	return r
}

// sawAll checks that a reader was given the whole log, and the record of its end.
func (r *reader) sawAll(t *testing.T, c *stage.Company, id string) {
	t.Helper()
	r.Wait()
	require.NoError(t, r.err)
	require.NotNil(t, r.record)
	log := c.Log(id)
	for i := range log {
		log[i] = stage.Shown(log[i])
	}
	assert.Equal(t, log, r.facts)
	assert.Equal(t, stage.Canonical(t, c.Record(id)), stage.Canonical(t, r.record))
}

func TestAnotherEngineResumesWhatOnePaused(t *testing.T) {
	stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		a, b := join(), join()
		first := a.Begun()
		ra := listening(t, first)
		stage.Pass(1500 * time.Millisecond)
		require.NoError(t, first.Pause(t.Context()))
		stage.Pass(time.Hour)
		second := b.Opened(first.ID())
		rb := listening(t, second)
		require.NoError(t, second.Resume(t.Context()))
		stage.Pass(500 * time.Millisecond)
		owner := c.Owner(first.ID())
		assert.NotEmpty(t, owner)
		assert.Equal(t, second.State(), first.State(), "who listens sees the debate go on")
		ra.sawAll(t, c, first.ID())
		rb.sawAll(t, c, first.ID())
		assert.Equal(t, 11, c.Calls(), "ten calls and the one that was broken off")
		assert.Empty(t, c.Owner(first.ID()))
		c.Finished(first.ID())
	})
}

// A debate goes from one engine to the other and back.
func TestADebateIsPassedToAndFro(t *testing.T) {
	stage.InCompany(t, stage.Simultaneous(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		first := join().Begun()
		sessions := []*debate.Session{first}
		var readers []*reader
		stage.Pass(300 * time.Millisecond)
		require.NoError(t, first.Control(t.Context(), flow.Pause{Drain: true}))
		stage.Pass(time.Second)
		for range 2 {
			sessions = append(sessions, join().Opened(first.ID()))
		}
		for _, s := range sessions {
			readers = append(readers, listening(t, s))
		}
		for i := range 4 {
			s := sessions[(i+1)%len(sessions)]
			require.NoError(t, s.Resume(t.Context()))
			stage.Pass(300 * time.Millisecond)
			require.NoError(t, s.Control(t.Context(), flow.Pause{Drain: true}))
			stage.Pass(5 * time.Second)
			assert.Empty(t, c.Owner(first.ID()))
		}
		require.NoError(t, first.Resume(t.Context()))
		for _, r := range readers {
			r.sawAll(t, c, first.ID())
		}
		assert.Equal(t, 10, c.Calls())
		c.Finished(first.ID())
	})
}

func TestWhoListensTakesOverFromWhoIsGone(t *testing.T) {
	stage.InCompany(t, stage.Simultaneous(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		a, b := join(), join()
		first := a.Begun()
		stage.Pass(500 * time.Millisecond)
		require.NoError(t, first.Pause(t.Context()))
		stage.Pass(time.Second)
		second := b.Opened(first.ID())
		require.NoError(t, first.Resume(t.Context()))
		stage.Pass(500 * time.Millisecond)
		a.Die()
		gone := time.Now()
		stage.Ended(t, second)
		assert.Less(t, time.Since(gone), 2*stage.LeaseTime+8*time.Second, "the lease, a look at it, and what was left to say")
		c.Finished(first.ID())
	})
}

// What was in flight when its holder went away in a pause is settled by who listens.
func TestWhatADeadHolderHasLeftInAPauseIsSettled(t *testing.T) {
	for name, late := range map[string]bool{"by itself": true, "by a control": false} {
		t.Run(name, func(t *testing.T) {
			stage.InCompany(t, stage.Simultaneous(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
				c.Saved = c.Leased
				a, b := join(), join()
				first := a.Begun()
				stage.Pass(500 * time.Millisecond)
				require.NoError(t, first.Pause(t.Context()))
				stage.Pass(500 * time.Millisecond)
				second := b.Opened(first.ID())
				stage.Pass(500 * time.Millisecond)
				require.NoError(t, first.Resume(t.Context()))
				stage.Pass(500 * time.Millisecond)
				require.NoError(t, first.Control(t.Context(), flow.Pause{Drain: true}))
				a.Die()
				stage.Pass(stage.LeaseTime) // it has run out just now
				calls := c.Calls()
				if late {
					stage.Pass(stage.LeaseTime)
					assert.Zero(t, c.Record(first.ID()).InFlight())
					assert.Empty(t, c.Owner(first.ID()))
				}
				assert.Equal(t, calls, c.Calls(), "nothing is asked in a pause")
				require.NoError(t, second.Resume(t.Context()))
				stage.Pass(500 * time.Millisecond)
				assert.NotEmpty(t, c.Owner(first.ID()), "who goes on has the lease")
				assert.Equal(t, calls+2, c.Calls(), "each of the two is asked again once")
				stage.Ended(t, second)
				c.Finished(first.ID())
			})
		})
	}
}

func TestADebateIsDeletedUnderItsSessions(t *testing.T) {
	t.Run("at rest", func(t *testing.T) {
		stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
			first := join().Begun()
			stage.Pass(500 * time.Millisecond)
			require.NoError(t, first.Pause(t.Context()))
			stage.Pass(time.Second)
			second := join().Opened(first.ID())
			stage.Pass(time.Second)
			require.NoError(t, c.Store.Delete(t.Context(), first.ID()))
			deleted := time.Now()
			for _, s := range []*debate.Session{first, second} {
				_, err := s.Wait(t.Context())
				require.ErrorIs(t, err, debate.ErrNotFound)
				assert.LessOrEqual(t, time.Since(deleted), stage.LeaseTime)
				require.ErrorIs(t, s.Resume(t.Context()), debate.ErrNotFound)
			}
			nothing(c, first.ID())
		})
	})
	t.Run("at work", func(t *testing.T) {
		for name, after := range map[string]time.Duration{"noticed at the next result": 0, "noticed at the next look": time.Hour} {
			t.Run(name, func(t *testing.T) {
				stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
					c.Slow("Ada", after)
					first := join().Begun()
					stage.Pass(500 * time.Millisecond)
					require.NoError(t, c.Store.Delete(t.Context(), first.ID()))
					deleted := time.Now()
					_, err := first.Wait(t.Context())
					require.ErrorIs(t, err, debate.ErrNotFound)
					assert.LessOrEqual(t, time.Since(deleted), beatTime)
					stage.Pass(time.Second)
					nothing(c, first.ID())
				})
			})
		}
	})
}

// nothing checks that the store knows nothing of a debate: its id is free.
func nothing(c *stage.Company, id string) {
	c.T.Helper()
	_, err := c.Member().Record(c.T.Context(), id)
	require.ErrorIs(c.T, err, debate.ErrNotFound)
	require.NoError(c.T, c.Store.Lease(c.T.Context(), id, "anybody", time.Second))
}

// unwatched is a store that watches no longer than a moment.
type unwatched struct {
	debate.Store

	reads *atomic.Int64
}

func (unwatched) Watch(context.Context, string) <-chan struct{} {
	grown := make(chan struct{})
	close(grown)
	return grown
}

func (u unwatched) Read(ctx context.Context, id string, after int64) iter.Seq2[debate.Event, error] {
	if u.reads.Add(1) > 10_000 { // it would go on for ever
		return func(yield func(debate.Event, error) bool) { yield(debate.Event{}, stage.ErrBroken) }
	}
	return u.Store.Read(ctx, id, after)
}

// Who is no longer told that a log grows looks at it now and then, not all the time.
func TestAWatchThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := stage.NewCompany(t, stage.TwoDebaters())
		a, b := c.Member(), c.Member()
		var reads atomic.Int64
		b.Store = unwatched{b.Store, &reads}
		first := a.Begun()
		stage.Pass(500 * time.Millisecond)
		require.NoError(t, first.Pause(t.Context()))
		stage.Pass(500 * time.Millisecond)
		second := b.Opened(first.ID())
		var group sync.WaitGroup
		group.Go(func() {
			for _, err := range b.Events(t.Context(), first.ID(), 0) {
				assert.NoError(t, err)
			}
		})
		tail := c.Member()
		tail.Store = unwatched{tail.Store, &reads}
		group.Go(func() {
			for _, err := range tail.Events(t.Context(), first.ID(), 0) {
				assert.NoError(t, err)
			}
		})
		stage.Pass(time.Minute)
		require.NoError(t, first.Resume(t.Context()))
		stage.Ended(t, second)
		group.Wait()
		assert.Less(t, reads.Load(), int64(1000))
	})
}
