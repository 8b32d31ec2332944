package debate_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
)

// logged yields the debate's facts.
func logged(t *testing.T, e *debate.Engine, id string) []debate.Event {
	t.Helper()
	return logOf(t, e, id).events
}

// intents yields who was asked with which model, as "call model".
func intents(events []debate.Event) (out []string) {
	for i := range events {
		if in := as[flow.Intent](events[i]); in != nil {
			out = append(out, in.Call+" "+in.Model)
		}
	}
	return out
}

// asksOnce requires that no call was done twice.
func asksOnce(t *testing.T, events []debate.Event) {
	t.Helper()
	done := map[string]int{}
	for i := range events {
		if turn := as[debate.Turn](events[i]); turn != nil {
			done[turn.Call]++
		}
		if a := as[debate.Assessment](events[i]); a != nil {
			done[a.Call]++
		}
		if v := as[debate.Verdict](events[i]); v != nil {
			done[v.Call]++
		}
	}
	for call, n := range done {
		assert.Equal(t, 1, n, call)
	}
}

// ended yields the last transition that gives a reason.
func ended(events []debate.Event) (last flow.Transition) {
	for i := range events {
		if change := as[flow.Transition](events[i]); change != nil && change.Reason != "" {
			last = *change
		}
	}
	return last
}

// told yields what events tell.
func told(events []debate.Event) (out []flow.EventKind) {
	for i := range events {
		out = append(out, events[i].Kind())
	}
	return out
}

// kept yields a debate's facts as its store has them.
func kept(t *testing.T, store debate.Store, id string) (events []debate.Event) {
	t.Helper()
	for event, err := range store.Read(t.Context(), id, 0) {
		require.NoError(t, err)
		events = append(events, event)
	}
	return events
}
