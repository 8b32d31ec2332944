package test_test

import (
	"context"
	"errors"
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
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/store"
)

// polled is a store that cannot watch.
type polled struct{ store.Store }

// eachStore runs a test on a clock of its own, with a store that watches and with one that is looked at now and then.
func eachStore(t *testing.T, test func(t *testing.T, store *store.Memory, through store.Store)) {
	t.Helper()
	for name, through := range map[string]func(store.Store) store.Store{
		"watching": func(s store.Store) store.Store { return s },
		"polling":  func(s store.Store) store.Store { return polled{s} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &store.Memory{}
				test(t, store, through(store))
			})
		})
	}
}

// pausedDebate returns a session that has paused its debate, and listens.
func pausedDebate(t *testing.T, s *stage, id string) *debate.Session {
	t.Helper()
	session, err := s.Start(t.Context(), config(id, 2))
	require.NoError(t, err)
	untilChunk(t, session, "Ben")
	require.NoError(t, session.Pause(t.Context()))
	awaitKind(t, session, flow.EventFailed)
	return session
}

func TestCloseWhileListening(t *testing.T) {
	eachStore(t, func(t *testing.T, store *store.Memory, through store.Store) {
		s := newStage(t, store, holding("Ben", make(chan struct{})))
		s.Store = through
		session := pausedDebate(t, s, "resting")
		require.NoError(t, session.Close())
		finishPaused(t, store, "resting")
	})
}

// finishPaused goes on with a paused debate by an engine of its own.
func finishPaused(t *testing.T, store *store.Memory, id string) {
	t.Helper()
	s := newStage(t, store, speak)
	session, err := s.Open(t.Context(), id)
	require.NoError(t, err)
	require.NoError(t, session.Resume(t.Context()))
	record, err := session.Wait(t.Context())
	require.NoError(t, err)
	whole(t, record, 2)
}

// Nobody closes the session that listens: it ends with its debate, which another engine has finished.
func TestAListenerEndsWithItsDebate(t *testing.T) {
	eachStore(t, func(t *testing.T, store *store.Memory, through store.Store) {
		s := newStage(t, store, holding("Ben", make(chan struct{})))
		s.Store = through
		session := pausedDebate(t, s, "passed")
		synctest.Wait() // it has left the lease: nobody works for it who would hear of the resumption
		var waiting sync.WaitGroup
		waiting.Go(func() {
			record, err := session.Wait(t.Context())
			assert.NoError(t, err)
			assert.Equal(t, flow.StateCompleted, record.State)
		})
		waiting.Go(func() {
			for _, err := range session.Events(t.Context(), 0) {
				assert.NoError(t, err)
			}
		})
		waiting.Go(func() {
			for event, err := range s.Events(t.Context(), "passed", 0) {
				assert.NoError(t, err)
				if body.As[flow.Turn](event) != nil {
					return // readers come and go
				}
			}
		})
		finishPaused(t, store, "passed")
		waiting.Wait()
	})
}

func TestAListenerTakesTheDebateUp(t *testing.T) {
	eachStore(t, func(t *testing.T, store *store.Memory, through store.Store) {
		hold := make(chan struct{})
		s := newStage(t, store, holding("Ben", hold))
		s.Store = through
		session := pausedDebate(t, s, "woken")
		close(hold)
		require.NoError(t, newStage(t, store, speak).Control(t.Context(), "woken", flow.Resume{}))
		record, err := session.Wait(t.Context())
		require.NoError(t, err)
		whole(t, record, 2)
	})
}

func TestShutdownOfManyListeners(t *testing.T) {
	const debates = 100
	eachStore(t, func(t *testing.T, store *store.Memory, through store.Store) {
		s := newStage(t, store, holding("Ben", make(chan struct{})))
		s.Store, s.Grace = through, time.Hour
		var pausing sync.WaitGroup
		for i := range debates {
			pausing.Go(func() { pausedDebate(t, s, fmt.Sprint("rest-", i)) })
		}
		pausing.Wait()
		began := time.Now()
		require.NoError(t, s.Shutdown(t.Context()))
		assert.Zero(t, time.Since(began), "nobody waits for the end of a grace")
		for i := range debates {
			finishPaused(t, store, fmt.Sprint("rest-", i))
		}
	})
}

// failing is a store that can be made to fail, or to hang until it is asked no more.
type failing struct {
	store.Store

	fails, hangs atomic.Bool
}

var errFailing = errors.New("no connection")

func (s *failing) now(ctx context.Context) error {
	if s.hangs.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	if s.fails.Load() {
		return errFailing
	}
	return nil
}

func (s *failing) Append(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
	if err := s.now(ctx); err != nil {
		return err
	}
	return s.Store.Append(ctx, id, after, writer, events)
}

func (s *failing) Lease(ctx context.Context, id, owner string, d time.Duration) error {
	if err := s.now(ctx); err != nil {
		return err
	}
	return s.Store.Lease(ctx, id, owner, d)
}

func (s *failing) Release(ctx context.Context, id, owner string) error {
	if err := s.now(ctx); err != nil {
		return err
	}
	return s.Store.Release(ctx, id, owner)
}

// A session that is dropped for a store that has failed for longer than a lease leaves nothing behind, and
// neither does one that is closed meanwhile.
func TestAStoreThatFails(t *testing.T) {
	for name, fail := range map[string]func(*failing){
		"fails": func(s *failing) { s.fails.Store(true) },
		"hangs": func(s *failing) { s.hangs.Store(true) },
	} {
		for how, shutdown := range map[string]bool{"dropped": false, "shut down": true} {
			t.Run(name+"/"+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					hold := make(chan struct{})
					memory := &store.Memory{}
					store := &failing{Store: memory}
					s := newStage(t, memory, holding("Ben", hold))
					s.Store, s.Lease = store, 300*time.Millisecond
					resting := pausedDebate(t, s, "resting")
					session, err := s.Start(t.Context(), config("failing", 2))
					require.NoError(t, err)
					untilChunk(t, session, "Ben")
					fail(store)
					close(hold) // there is something to be saved
					if !shutdown {
						_, err := session.Wait(t.Context())
						require.Error(t, err)
					}
					require.NoError(t, s.Shutdown(t.Context()))
					for _, closed := range []*debate.Session{session, resting} {
						_, err := closed.Wait(t.Context())
						require.Error(t, err)
					}
					assert.Zero(t, s.now.Load(), "nothing runs after Shutdown")
				})
			})
		}
	}
}
