package test_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/store"
)

func TestLeavingRunInMidStreamCancels(t *testing.T) {
	s := newStage(t, &store.Memory{}, holding("Ben", make(chan struct{})))
	for event, err := range s.Run(t.Context(), config("left", 3)) {
		require.NoError(t, err)
		if event.Kind() == flow.EventChunk && body.As[flow.Chunk](event).By == "Ben" {
			break
		}
	}
	assert.Zero(t, s.now.Load(), "nothing runs after the loop")

	record, err := s.Record(t.Context(), "left")
	require.NoError(t, err)
	assert.Equal(t, flow.StateCanceled, record.State)
	assert.Len(t, record.Turns, 1)
}

func TestLeavingRunSettlesWhatItBreaksOff(t *testing.T) {
	s := newStage(t, &store.Memory{}, holding("Ben", make(chan struct{})))
	for event, err := range s.Run(t.Context(), config("left", 3)) {
		require.NoError(t, err)
		if event.Kind() == flow.EventChunk && body.As[flow.Chunk](event).By == "Ben" {
			break
		}
	}
	record, err := s.Record(t.Context(), "left")
	require.NoError(t, err)
	assert.Zero(t, record.InFlight())
	assert.Equal(t, 2, record.Spent().Requests, "what was broken off is charged")
	last := flow.Event{}
	for event, err := range s.Events(t.Context(), "left", 0) {
		require.NoError(t, err, "the events of a canceled debate end")
		last = event
	}
	assert.Equal(t, record.Seq, last.Seq)
}

func TestRunEndsWithItsContextAndIsOpenedAgain(t *testing.T) {
	store := &store.Memory{}
	s := newStage(t, store, holding("Ben", make(chan struct{})))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var failure error
	for event, err := range s.Run(ctx, config("ended", 3)) {
		if err != nil {
			failure = err
		} else if event.Kind() == flow.EventChunk && body.As[flow.Chunk](event).By == "Ben" {
			cancel()
		}
	}
	require.ErrorIs(t, failure, context.Canceled)
	assert.Zero(t, s.now.Load())
	finish(t, store, "ended", 3)
}

// finish opens a debate with an engine of its own and lets it end.
func finish(t *testing.T, store *store.Memory, id string, rounds int) {
	t.Helper()
	session, err := newStage(t, store, speak).Open(t.Context(), id)
	require.NoError(t, err)
	record, err := session.Wait(t.Context())
	require.NoError(t, err)
	whole(t, record, rounds)
	require.NoError(t, session.Close())
}

func TestCloseInMidCall(t *testing.T) {
	store := &store.Memory{}
	s := newStage(t, store, holding("Ben", make(chan struct{})))
	session, err := s.Start(t.Context(), config("closed", 2))
	require.NoError(t, err)
	untilChunk(t, session, "Ben")
	before, err := s.Record(t.Context(), "closed")
	require.NoError(t, err)

	var closing sync.WaitGroup
	for range 4 {
		closing.Go(func() { assert.NoError(t, session.Close()) })
	}
	closing.Wait()
	assert.Zero(t, s.now.Load(), "nothing runs after Close")
	after, err := s.Record(t.Context(), "closed")
	require.NoError(t, err)
	assert.Equal(t, before.Seq, after.Seq, "Close records nothing")
	require.ErrorIs(t, session.Pause(t.Context()), flow.ErrClosed)
	_, err = session.Wait(t.Context())
	require.ErrorIs(t, err, flow.ErrClosed)
	for _, err := range session.Events(t.Context(), after.Seq) {
		require.ErrorIs(t, err, flow.ErrClosed)
	}
	finish(t, store, "closed", 2)
}

func TestShutdownWithManyDebates(t *testing.T) {
	const debates = 100
	store := &store.Memory{}
	s := newStage(t, store, holding("Ben", make(chan struct{})))
	var sessions []*debate.Session
	for i := range debates {
		session, err := s.Start(t.Context(), config(fmt.Sprint("many-", i), 2))
		require.NoError(t, err)
		sessions = append(sessions, session)
	}
	for _, session := range sessions {
		untilChunk(t, session, "Ben")
	}
	assert.EqualValues(t, debates, s.now.Load())
	require.NoError(t, s.Shutdown(t.Context()))
	assert.Zero(t, s.now.Load(), "nothing runs after Shutdown")
	for _, session := range sessions {
		_, err := session.Wait(t.Context())
		require.ErrorIs(t, err, flow.ErrClosed)
	}
	other := newStage(t, store, speak)
	for _, closed := range sessions {
		session, err := other.Open(t.Context(), closed.ID())
		require.NoError(t, err)
		record, err := session.Wait(t.Context())
		require.NoError(t, err)
		whole(t, record, 2)
	}
}

func TestPauseInMidStream(t *testing.T) {
	hold := make(chan struct{})
	s := newStage(t, &store.Memory{}, holding("Ben", hold))
	session, err := s.Start(t.Context(), config("paused", 2))
	require.NoError(t, err)
	defer session.Close()
	untilChunk(t, session, "Ben")
	require.NoError(t, session.Pause(t.Context()))
	awaitKind(t, session, flow.EventFailed)
	assert.Zero(t, s.now.Load(), "the stream is broken off")
	assert.Equal(t, flow.StatePaused, session.State())
	close(hold)
	require.NoError(t, session.Resume(t.Context()))
	record, err := session.Wait(t.Context())
	require.NoError(t, err)
	whole(t, record, 2)
}

func TestADrainingPauseInMidStream(t *testing.T) {
	hold := make(chan struct{})
	s := newStage(t, &store.Memory{}, holding("Ben", hold))
	session, err := s.Start(t.Context(), config("drained", 2))
	require.NoError(t, err)
	defer session.Close()
	untilChunk(t, session, "Ben")
	require.NoError(t, session.Pause(t.Context(), debate.Drain))
	assert.EqualValues(t, 1, s.now.Load(), "the speaker goes on")
	close(hold)
	awaitTurn(t, session, "Ben")
	assert.Equal(t, flow.StatePaused, session.State())
	paused, err := session.Record(t.Context())
	require.NoError(t, err)
	assert.Zero(t, paused.InFlight())
	assert.Len(t, paused.Turns, 2)
	require.NoError(t, session.Resume(t.Context()))
	record, err := session.Wait(t.Context())
	require.NoError(t, err)
	whole(t, record, 2)
	assert.Equal(t, 4, record.Spent().Requests, "nothing was asked twice")
}

// awaitKind reads a session's events up to the first of a kind.
func awaitKind(t *testing.T, session *debate.Session, kind flow.EventKind) {
	t.Helper()
	for event, err := range session.Events(t.Context(), 0) {
		require.NoError(t, err)
		if event.Kind() == kind {
			return
		}
	}
	require.Fail(t, "there was no "+string(kind))
}

func awaitTurn(t *testing.T, session *debate.Session, speaker string) {
	t.Helper()
	for event, err := range session.Events(t.Context(), 0) {
		require.NoError(t, err)
		if event.Kind() == flow.EventTurn && body.As[flow.Turn](event).Speaker == speaker {
			return
		}
	}
	require.Fail(t, speaker+" did not speak")
}

func TestEndingInMidStream(t *testing.T) {
	for state, end := range map[flow.State]func(*debate.Session, context.Context) error{
		flow.StateCanceled: (*debate.Session).Cancel, flow.StateCompleted: (*debate.Session).Stop,
	} {
		t.Run(string(state), func(t *testing.T) {
			s := newStage(t, &store.Memory{}, holding("Ben", make(chan struct{})))
			session, err := s.Start(t.Context(), config("over", 3))
			require.NoError(t, err)
			defer session.Close()
			untilChunk(t, session, "Ben")
			require.NoError(t, end(session, t.Context()))
			record, err := session.Wait(t.Context())
			require.NoError(t, err)
			assert.Equal(t, state, record.State)
			assert.Len(t, record.Turns, 1)
			assert.Zero(t, s.now.Load())
			assert.Zero(t, record.InFlight())
			assert.Equal(t, 2, record.Spent().Requests, "what was broken off is charged")
			for _, err := range session.Events(t.Context(), 0) {
				require.NoError(t, err)
			}
		})
	}
}
