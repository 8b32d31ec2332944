package simulation_test

import (
	"context"
	"reflect"
	"strconv"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
)

// subscriber reads the debate's events all the while, now with one process and now with another.
type subscriber struct {
	sim  *storeSim
	last int64
	had  []debate.Event
}

func (r *subscriber) read() {
	s := r.sim
	for s.ctx.Err() == nil {
		s.mu.Lock()
		p := s.processes[s.chance.Below(len(s.processes))]
		s.mu.Unlock()
		ctx, cancel := context.WithTimeout(s.ctx, s.chance.UpTo(10*time.Second))
		ended := r.follow(ctx, p)
		cancel()
		if ended && s.over() {
			return
		}
		stage.Pass(s.chance.UpTo(time.Second))
	}
}

// follow reads until the events end, or something fails.
func (r *subscriber) follow(ctx context.Context, p *process) (ended bool) {
	for event, err := range p.Events(ctx, r.sim.id, r.last) {
		if err != nil {
			r.sim.tolerable(err)
			return false
		}
		if event.Kind() != flow.EventChunk {
			r.take(event)
		}
	}
	return true
}

// take checks that an event is the next one, and that it is in the log at its place.
func (r *subscriber) take(event debate.Event) {
	s := r.sim
	require.Equal(s.T, r.last+1, event.Seq, "seed %d: events have no gaps, and none comes twice", s.seed)
	r.last, r.had = event.Seq, append(r.had, event)
	for kept, err := range s.Store.Read(context.Background(), s.id, event.Seq-1) {
		require.NoError(s.T, err)
		require.True(s.T, same(stage.Shown(kept), event), "seed %d: event %d was told otherwise than it is saved", s.seed, event.Seq)
		return
	}
	require.Fail(s.T, "an event was told before it was saved", "seed %d: event %d", s.seed, event.Seq)
}

// checkCall checks that a call is made only once its intent is saved.
func (s *storeSim) checkCall(id string) {
	call, attempt := stage.CutAttempt(id)
	for event, err := range s.Store.Read(context.Background(), s.id, 0) {
		if in := body.As[flow.Intent](event); err == nil && in != nil && s.id+"/"+in.Call == call && strconv.Itoa(in.Attempt) == attempt {
			return
		}
	}
	assert.Fail(s.T, "a call is made before its intent is saved", "seed %d: %s", s.seed, id)
}

// check looks at what is left when all is over.
func (s *storeSim) check(readers []*subscriber) {
	log := s.Log(s.id)
	for _, r := range readers {
		assert.Len(s.T, r.had, len(log), "seed %d: a subscriber is given everything", s.seed)
		for i, event := range r.had {
			if i >= len(log) || !same(stage.Shown(log[i]), event) {
				s.seen.Vanished++
			}
		}
	}
	s.seen.Repeated = len(s.Repeated())
	var spent flow.Account
	requests, done := 0, make(map[string]int)
	for i := range log {
		e := &log[i]
		s.seen.note(e)
		if body.As[flow.Intent](*e) != nil {
			requests++
		}
		if spend := flow.SpendOf(e.Body); spend != nil {
			spent.Add(spend)
			if body.As[flow.Failure](*e) == nil && body.As[flow.Rejection](*e) == nil {
				done[spend.Call]++
			}
		}
	}
	for call, times := range done {
		assert.Equal(s.T, 1, times, "seed %d: %s has one result", s.seed, call)
	}
	s.Finished(s.id)
	record := s.Record(s.id)
	assert.Equal(s.T, spent.Cost, record.Spent().Cost, "seed %d", s.seed)
	assert.Equal(s.T, spent.Unsettled, record.Spent().Unsettled, "seed %d", s.seed)
	assert.Equal(s.T, requests, record.Spent().Requests, "seed %d", s.seed)
	assert.LessOrEqual(s.T, s.Calls(), requests, "seed %d: nothing is asked that was not intended", s.seed)
	assert.LessOrEqual(s.T, s.seen.Lost, s.lost, "seed %d: only what is in flight when a debate changes hands is asked again", s.seed)
	if s.T.Failed() {
		s.show()
	}
}

// show prints what happened.
func (s *storeSim) show() {
	s.T.Logf("seed %d: %+v", s.seed, s.seen)
	for _, e := range s.Log(s.id) {
		line := stage.JSON(e)
		s.T.Log(line[:min(1500, len(line))])
	}
}

// same reports whether two events say the same.
func same(a, b any) bool { return reflect.DeepEqual(a, b) }
