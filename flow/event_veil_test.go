package flow_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
)

// TestAVeilKeepsHiddenTurnsBack: with all that follows them, until the others may read them too. The chunks of their calls are not shown.
func TestAVeilKeepsHiddenTurnsBack(t *testing.T) {
	const debating flow.State = "debating"
	moves := func(from, to flow.State, on flow.Trigger) *flow.Transition {
		return &flow.Transition{From: from, To: to, On: on}
	}
	pause, ask := moves(debating, flow.StatePaused, flow.TriggerPause), moves(debating, flow.StateAwaitingInput, flow.TriggerAsk)
	for name, c := range map[string]struct {
		between []flow.Body // after a hidden turn
		held    bool
	}{
		"a reply of another call":  {[]flow.Body{&flow.Turn{Text: "Aside."}}, true},
		"a pause":                  {[]flow.Body{pause}, true},
		"what goes on after it":    {[]flow.Body{pause, moves(flow.StatePaused, debating, flow.TriggerResume)}, true},
		"the conclusion after it":  {[]flow.Body{pause, moves(flow.StatePaused, flow.StateCompleting, flow.TriggerStop)}, false},
		"what continues to end":    {[]flow.Body{pause, moves(flow.StatePaused, flow.StateCompleting, flow.TriggerResume)}, true},
		"a question":               {[]flow.Body{ask}, true},
		"its answer":               {[]flow.Body{ask, moves(flow.StateAwaitingInput, debating, flow.TriggerAnswered)}, true},
		"the limit at a question":  {[]flow.Body{ask, moves(flow.StateAwaitingInput, flow.StateCompleting, flow.TriggerLimit)}, false},
		"an error":                 {[]flow.Body{moves(debating, flow.StateError, flow.TriggerFail)}, true},
		"the next state":           {[]flow.Body{moves(debating, "judging", "spoken")}, false},
		"the same state once more": {[]flow.Body{moves(debating, debating, "spoken")}, false},
		"a cancellation":           {[]flow.Body{pause, moves(flow.StatePaused, flow.StateCanceled, flow.TriggerCancel)}, false},
	} {
		bodies := append([]flow.Body{
			&flow.Intent{Call: "ada", Hidden: true}, &flow.Intent{Call: "ben"}, &flow.Turn{Text: "Secret.", Hidden: true},
		}, c.between...)
		var veil flow.Veil
		var seen []int64
		for i, body := range bodies {
			for _, e := range veil.Lift(flow.Event{Seq: int64(i) + 1, Body: body}) {
				seen = append(seen, e.Seq)
			}
			for _, live := range []flow.Body{&flow.Chunk{Call: "ada", Text: "Sec"}, &flow.Chunk{Call: "eve", Hidden: true, Text: "Sec"}} {
				if i < 3 {
					assert.Empty(t, veil.Lift(flow.Event{Body: live}), name)
				}
			}
			assert.Len(t, veil.Lift(flow.Event{Body: &flow.Chunk{Call: "ben", Text: "Open."}}), 1, name)
			beat := veil.Lift(flow.Event{Seq: int64(i) + 1, Body: &flow.Heartbeat{}})
			require.Len(t, beat, 1, name)
			assert.Equal(t, seen[len(seen)-1], beat[0].Seq, "whoever continues after it misses nothing")
		}
		want, first := []int64{1, 2}, int64(3)
		if !c.held {
			want, first = want[:0], 0
			for i := range bodies {
				want = append(want, int64(i)+1)
			}
		}
		assert.Equal(t, want, seen, name)
		assert.Equal(t, first, veil.Held(), name)
	}
}

// TestAVeilForgetsWhatIsRedacted: the reader is told at once, and gets what was kept back, as it is read again, once it is revealed.
func TestAVeilForgetsWhatIsRedacted(t *testing.T) {
	var veil flow.Veil
	require.Empty(t, veil.Lift(flow.Event{Seq: 2, Body: &flow.Turn{Text: "Secret.", Hidden: true}}))
	told := veil.Lift(flow.Event{Seq: 3, Body: &flow.Redacted{}})
	require.Len(t, told, 1)
	assert.Equal(t, flow.EventRedacted, told[0].Kind())
	assert.EqualValues(t, 1, told[0].Seq, "whoever continues after it misses nothing")
	assert.EqualValues(t, 2, veil.Held(), "from where the events are read again")
	reveals := flow.Event{Seq: 4, Body: &flow.Transition{From: "a", To: "b"}}
	assert.Empty(t, veil.Lift(reveals), "they are not read again yet")
	assert.Empty(t, veil.Lift(flow.Event{Seq: 2, Body: &flow.Turn{Text: "[redacted].", Hidden: true}}))
	assert.Empty(t, veil.Lift(flow.Event{Seq: 3, Body: &flow.Redacted{}}), "the reader knows")
	all := veil.Lift(reveals)
	require.Len(t, all, 3)
	turn, ok := all[0].Body.(*flow.Turn)
	require.True(t, ok)
	assert.Equal(t, "[redacted].", turn.Text)
	assert.EqualValues(t, 3, all[1].Seq)
	assert.Zero(t, veil.Held())
}
