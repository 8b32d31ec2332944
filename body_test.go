package debate_test

import "github.com/agonist-dev/debate"

// as yields the body of an event if it is a T; nil: it is another.
func as[T any](e debate.Event) *T {
	if read, err := debate.DebateFlow().DecodeEvent(e); err == nil {
		e = read
	}
	body, _ := any(e.Body).(*T)
	return body
}

// readBodies decodes the bodies of a debate's own events, which JSON alone leaves as they are.
func readBodies(events []debate.Event) []debate.Event {
	for i := range events {
		if read, err := debate.DebateFlow().DecodeEvent(events[i]); err == nil {
			events[i] = read
		}
	}
	return events
}

// view yields the debate of a record; an empty one if it is of another flow.
func view(r *debate.Record) *debate.Debate {
	if d, ok := debate.Of(r); ok {
		return d
	}
	return &debate.Debate{Record: r}
}
