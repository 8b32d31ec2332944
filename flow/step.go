package flow

import (
	"encoding/json"
	"slices"
)

// What most steps do. None of it is needed: a step is any function of the record.

// Missing makes a [Step].Calls from all calls of a state: those of them that have no result, and whose actor was not dropped.
// A call that has failed stays, so that its OnFail is read. The calls that are returned together run at the same time.
func Missing(calls func(r *Record) []Call) func(r *Record) []Call {
	return func(r *Record) []Call {
		return slices.DeleteFunc(slices.Clone(calls(r)), func(c Call) bool { return r.Done(c.ID) || r.IsDropped(c.By) })
	}
}

// Then makes a [Step].Next that fires always the same trigger.
func Then(on Trigger) func(r *Record) (Trigger, Exit, bool) {
	return func(*Record) (Trigger, Exit, bool) { return on, Exit{}, true }
}

// NextRound returns the round after the present one, of at most Terms.Rounds, with this expected number of turns. It is for
// Exit.Round.
func (r *Record) NextRound(calls int) *Round {
	return &Round{N: r.Round + 1, Of: r.terms.Rounds, Calls: calls}
}

// TurnOf returns the turn that is the result of a call. It is read only. nil: there is none, or its result is an event of the
// flow's own.
func (r *Record) TurnOf(call string) *Turn {
	for _, t := range slices.Backward(r.Turns) {
		if t.Call == call {
			return t
		}
	}
	return nil
}

// AnswerTo returns the structured answer that the turn of a call holds, as a T. false: there is no such turn, or what a log
// from elsewhere holds is no T.
func AnswerTo[T any](r *Record, call string) (answer T, ok bool) {
	t := r.TurnOf(call)
	ok = t != nil && len(t.Data) > 0 && json.Unmarshal(t.Data, &answer) == nil
	return answer, ok
}
