package store_test

import (
	"context"
	"iter"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// scripted is a store that has a list, a clock, and nothing else.
type scripted struct {
	store.Store
	now   time.Time
	infos []store.Info
}

func (s *scripted) List(_ context.Context, filter store.Filter) iter.Seq2[store.Info, error] {
	return func(yield func(store.Info, error) bool) {
		for _, info := range s.infos {
			if filter.Matches(info) && !yield(info, nil) {
				return
			}
		}
	}
}

func (s *scripted) Time(context.Context) (time.Time, error) { return s.now, nil }

func TestCountStates(t *testing.T) {
	now := time.Unix(1000, 0)
	at := func(ago time.Duration) time.Time { return now.Add(-ago) }
	kept := store.Quarantine{Count: 1, Reason: "it is damaged", Left: flow.Duration(time.Second)}
	over := store.Quarantine{Count: 1, Reason: "it was damaged"}
	s := &scripted{now: now, infos: []store.Info{
		{ID: "a", Seq: 1, State: flow.StateRunning, Since: at(time.Minute), LastAt: at(time.Second)},
		{ID: "b", Seq: 1, State: flow.StateRunning, Since: at(time.Hour), LastAt: at(time.Minute), Quarantine: over},
		{ID: "c", Seq: 1, State: flow.StateRunning, Since: at(time.Second), Owner: "me"},
		{ID: "d", Seq: 1, State: flow.StateRunning, Since: at(time.Second), Quarantine: kept},
		{ID: "e", Seq: 1, State: flow.StateError, LastAt: at(time.Minute)},
		{ID: "f", Seq: 1, State: flow.StateCompleted, Since: at(time.Hour)},
		{ID: "g", Seq: 1, State: flow.StateCanceled, Since: at(time.Hour)},
		{ID: "h", Seq: 1, State: flow.StatePaused, Since: at(-time.Hour)}, // by a clock that was ahead
		{ID: "i", Err: store.ErrDamaged},
	}}
	counts, err := store.CountStates(t.Context(), s, store.Filter{})
	require.NoError(t, err)
	assert.Equal(t, []store.StateCount{
		{Count: 1},
		{State: flow.StateError, Count: 1, Oldest: time.Minute},
		{State: flow.StatePaused, Count: 1},
		{State: flow.StateRunning, Count: 2, Oldest: time.Hour},
		{State: flow.StateRunning, Quarantined: true, Count: 1, Oldest: time.Second},
		{State: flow.StateRunning, Held: true, Count: 1, Oldest: time.Second},
	}, counts)
	counts, err = store.CountStates(t.Context(), s, store.Filter{After: "d", States: []flow.State{flow.StateRunning, flow.StateCompleted}})
	require.NoError(t, err)
	assert.Equal(t, []store.StateCount{{Count: 1}}, counts, "what cannot be read is seen, and nothing that is over counts")
}

// What is due counts from when it has needed a process, however long it has been in its state.
func TestCountWhatIsDue(t *testing.T) {
	now := time.Unix(100_000, 0)
	at := func(ago time.Duration) time.Time { return now.Add(-ago) }
	s := &scripted{now: now, infos: []store.Info{
		{ID: "a", Seq: 1, State: flow.StateRunning, Since: at(time.Hour), LastAt: at(time.Minute)},
		{ID: "b", Seq: 1, State: flow.StateRunning, Since: at(time.Hour), LastAt: at(time.Hour), Alarm: flow.Duration(-time.Second)},
		{ID: "c", Seq: 1, State: flow.StateAwaitingInput, Since: at(time.Hour), LastAt: at(time.Hour), Alarm: flow.Duration(-time.Second)},
		{ID: "d", Seq: 1, State: flow.StateRunning, Since: at(time.Hour), LastAt: at(time.Hour), Owner: "me"},
	}}
	counts, err := store.CountStates(t.Context(), s, store.Filter{Due: true})
	require.NoError(t, err)
	assert.Equal(t, []store.StateCount{
		{State: flow.StateAwaitingInput, Count: 1, Oldest: time.Second}, {State: flow.StateRunning, Count: 2, Oldest: time.Minute},
	}, counts)
}

// Which conversations a worker should open, by what is kept of them beside their logs.
func TestWhatIsDue(t *testing.T) {
	for name, c := range map[string]struct {
		info store.Info
		due  bool
	}{
		"it works":                                {store.Info{State: flow.StateRunning}, true},
		"it works, and somebody has it":           {store.Info{State: flow.StateRunning, Owner: "me"}, false},
		"it works, and its quarantine lasts":      {store.Info{State: flow.StateRunning, Quarantine: store.Quarantine{Left: 1}}, false},
		"it works later":                          {store.Info{State: flow.StateRunning, Alarm: 1}, false},
		"it works, and its alarm has rung":        {store.Info{State: flow.StateRunning, Alarm: -1}, true},
		"it waits":                                {store.Info{State: flow.StateAwaitingInput}, false},
		"it waits, for some time":                 {store.Info{State: flow.StateAwaitingInput, Alarm: 1}, false},
		"it waits, and its alarm has rung":        {store.Info{State: flow.StateAwaitingInput, Alarm: -1}, true},
		"its alarm has rung, and somebody has it": {store.Info{State: flow.StateAwaitingInput, Alarm: -1, Owner: "me"}, false},
		"it is over":                              {store.Info{State: flow.StateCompleted}, false},
		"it is over, and an alarm has rung":       {store.Info{State: flow.StateCanceled, Alarm: -1}, false},
	} {
		c.info.ID, c.info.Seq = "a", 1
		assert.Equal(t, c.due, store.Filter{Due: true}.Matches(c.info), name)
	}
	assert.True(t, store.Filter{Due: true}.Matches(store.Info{ID: "a", Err: store.ErrDamaged}), "nothing of it can be read")
}
