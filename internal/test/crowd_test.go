package test_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// TestManyDebatesShareTheCalls: every call takes a second of a clock that stands while anybody works,
// so there are always as many at once as there may be.
func TestManyDebatesShareTheCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls = 16
		debates := longform.Or(1_000, 160)
		s := newStage(t, &store.Memory{}, func(req *provider.Request) scripted.Reply {
			r := speak(req)
			r.Delay = time.Second
			return r
		})
		s.MaxCalls = calls
		began := time.Now()
		var running sync.WaitGroup
		for i := range debates {
			running.Go(func() { crowded(t, s, i) })
		}
		running.Wait()
		assert.EqualValues(t, calls, s.most.Load())
		assert.Equal(t, time.Duration(4*debates/calls)*time.Second, time.Since(began), "no place was ever empty")
		t.Logf("%d debates, at most %d calls at once", debates, s.most.Load())
	})
}

// crowded plays the i-th debate of many.
func crowded(t *testing.T, s *stage, i int) {
	c := config(fmt.Sprint("crowd-", i), 2)
	if i%2 == 0 {
		c.Mode = debate.Simultaneous
	}
	session, err := s.Start(t.Context(), c)
	if !assert.NoError(t, err) {
		return
	}
	record, err := session.Wait(t.Context())
	assert.NoError(t, err)
	assert.Equal(t, flow.StateCompleted, record.State)
	assert.Len(t, record.Turns, 4)
	assert.NoError(t, session.Close())
}

// TestASlowReaderLosesNothing: it reads one event, waits until the debate is over, and reads the rest.
func TestASlowReaderLosesNothing(t *testing.T) {
	const rounds = 5
	s := newStage(t, &store.Memory{}, speak)
	session, err := s.Start(t.Context(), config("slow", rounds))
	require.NoError(t, err)
	defer session.Close()
	said, seq := map[string]string{}, int64(0)
	for event, err := range session.Events(t.Context(), 0) {
		require.NoError(t, err)
		if event.Kind() == flow.EventChunk {
			c := body.As[flow.Chunk](event)
			require.Equal(t, seq, event.Seq)
			said[c.Call] = said[c.Call][:c.Offset] + c.Text
			continue
		}
		if seq++; seq == 1 {
			_, err := session.Wait(t.Context())
			require.NoError(t, err)
		}
		require.Equal(t, seq, event.Seq)
		if event.Kind() == flow.EventTurn {
			said[body.As[flow.Turn](event).Call] = body.As[flow.Turn](event).Text
		}
	}
	assert.Len(t, said, 2*rounds)
	record, err := session.Wait(t.Context())
	require.NoError(t, err)
	assert.Equal(t, record.Seq, seq)
}

// TestManyReadersOfOneDebate: some read all, some leave early, some are called away; nobody hinders
// the debate or another reader.
func TestManyReadersOfOneDebate(t *testing.T) {
	const rounds, readers = 20, 60
	hold := make(chan struct{})
	s := newStage(t, &store.Memory{}, holding("Ada", hold))
	session, err := s.Start(t.Context(), config("watched", rounds))
	require.NoError(t, err)
	defer session.Close()
	untilChunk(t, session, "Ada") // all others join in the middle of her first turn
	var reading, joined sync.WaitGroup
	joined.Add(readers)
	for i := range readers {
		reading.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			read(ctx, t, cancel, session, i, &joined)
		})
	}
	joined.Wait()
	close(hold)
	record, err := session.Wait(t.Context())
	require.NoError(t, err)
	whole(t, record, rounds)
	reading.Wait()
}

// read is the i-th reader: of three, one reads to the end, one leaves and one is called away.
func read(ctx context.Context, t *testing.T, cancel func(), session *debate.Session, i int, joined *sync.WaitGroup) {
	said, seq, chunked := map[string]string{}, int64(0), false
	var once sync.Once
	for event, err := range session.Events(ctx, 0) {
		if err != nil {
			assert.Equal(t, 2, i%3, "%v", err)
			assert.ErrorIs(t, err, context.Canceled)
			return
		}
		switch event.Kind() {
		case flow.EventChunk:
			once.Do(joined.Done)
			c := body.As[flow.Chunk](event)
			if assert.LessOrEqual(t, c.Offset, len(said[c.Call])) {
				said[c.Call] = said[c.Call][:c.Offset] + c.Text
			}
			chunked = true
			continue
		case flow.EventTurn:
			assert.Equal(t, body.As[flow.Turn](event).Text, said[body.As[flow.Turn](event).Call], "the chunks add up to the turn")
		default:
		}
		seq++
		assert.Equal(t, seq, event.Seq)
		if seq == int64(10+i) && chunked {
			switch i % 3 {
			case 1:
				return
			case 2:
				cancel()
			default:
			}
		}
	}
	assert.Zero(t, i%3, "the events ended")
}

// TestControlsFromEverywhere: pauses and resumes from many goroutines at once change nothing in what is said.
func TestControlsFromEverywhere(t *testing.T) {
	const rounds = 40
	s := newStage(t, &store.Memory{}, speak)
	session, err := s.Start(t.Context(), config("pulled", rounds))
	require.NoError(t, err)
	defer session.Close()
	over, done := context.WithCancel(t.Context())
	defer done()
	var pulling sync.WaitGroup
	for i := range 8 {
		pulling.Go(func() {
			for n := 0; n < 50 && over.Err() == nil; n++ {
				switch (i + n) % 4 {
				case 0:
					_ = session.Pause(over)
				case 1:
					_ = session.Pause(over, debate.Drain)
				case 2:
					_, _ = session.Record(over)
				default:
					_ = session.Resume(over)
				}
			}
		})
	}
	pulling.Wait()
	if session.State() == flow.StatePaused {
		require.NoError(t, session.Resume(t.Context()))
	}
	record, err := session.Wait(t.Context())
	require.NoError(t, err)
	whole(t, record, rounds)
}
