package provider

import "context"

// Clock measures the time that the caller of a call allows it. Pause stops the clock. The resume that it
// returns starts the clock again and is called once. Pauses may overlap: the clock runs again when all of
// them have ended.
type Clock interface {
	Pause() (resume func())
}

// ClockKey is the key under which a context holds the [Clock] of its call. A context need not hold one.
type ClockKey struct{}

// Waiting pauses the clock of the call that ctx belongs to, and returns the function that resumes it. A
// wrapper that queues calls uses it around the wait, because a call that waits for its turn has not
// begun. While the clock is paused, the time limit of the call does not end ctx. Without a clock, Waiting
// does nothing.
//
// If the engine drains, it recalls waiting calls: it ends their ctx, at the beginning of a wait or during it. The wrapper
// then fails with an [Error] of kind canceled and NotSent set, and the call costs nothing. After a wait, a wrapper resumes
// the clock first, and then checks ctx. If ctx has not ended, it sends the request, and the engine lets the call finish.
func Waiting(ctx context.Context) (resume func()) {
	if clock, ok := ctx.Value(ClockKey{}).(Clock); ok {
		return clock.Pause()
	}
	return func() {}
}
