package flow

import (
	"context"
	"time"
)

// Expected is what a caller expects of the conversation that has an id: when a conversation was deleted, another one may have its id.
type Expected struct {
	// StartedAt is the time of its first event ([Record].StartedAt). If the conversation began at another time, it is not found
	// ([ErrNotFound]). Zero: it may have begun at any time.
	StartedAt time.Time
	// Holds is asked right before a control is given, with the record that the control acts on, and again if somebody else was faster. Its
	// error refuses the control. It must not change the record, and must not ask the engine anything. nil: nothing more is expected.
	//
	// A deletion asks it too, under the lease under which it deletes. With the id "" it is asked about the conversation that a fork or a
	// reopening makes, right before that is stored, with the record that it begins with.
	Holds func(*Record) error
}

// expectedKey is the key under which a context has what is expected of the conversation with an id.
type expectedKey string

// Expecting returns a context for calls of an engine: what they do with the conversation that has the id, they do only if it is as
// expected. A server that checks a right, and acts later, needs it.
//
//	info, err := store.InfoOf(ctx, engine.Store, id)
//	…
//	ctx = flow.Expecting(ctx, id, flow.Expected{StartedAt: info.StartedAt})
//	err = engine.Delete(ctx, id)
func Expecting(ctx context.Context, id string, e Expected) context.Context {
	return context.WithValue(ctx, expectedKey(id), e)
}

// ExpectedOf returns what a context says of the conversation with an id; the zero value: nothing.
func ExpectedOf(ctx context.Context, id string) Expected {
	e, _ := ctx.Value(expectedKey(id)).(Expected)
	return e
}
