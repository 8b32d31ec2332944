package provider

import "context"

// Clock runs against a call: the time that its caller allows it. Pause stops it, and resume, which is
// called once, lets it go on. Pauses may overlap: the clock stands until all of them are over.
type Clock interface {
	Pause() (resume func())
}

// ClockKey is the key under which a context holds the [Clock] of its call, if there is one.
type ClockKey struct{}

// Waiting stops the clock that runs against the call of ctx, and yields what lets it go on: a call that
// queues for its turn has not begun. While the clock stands, ctx has no deadline of the call's. A wrapper
// that lets calls wait uses it around the wait; without a clock it does nothing.
func Waiting(ctx context.Context) (resume func()) {
	if clock, ok := ctx.Value(ClockKey{}).(Clock); ok {
		return clock.Pause()
	}
	return func() {}
}
