package debate

import (
	"context"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// Advance steps a stored debate, saves what follows, and returns what is left to do: the calls in flight, those to abort, and the
// next wait. It is all that a runtime of the host program's own needs, beside [Engine.Call], which makes a call and advances the
// debate with its outcome. The runtime may forget everything between two calls, and make each in another process. [Engine.Submit]
// stores a debate for it.
//
// If others have appended to the log meanwhile, Advance reads it again and steps again. The engine keeps the folded log for the next
// call ([Engine.Folded]), and then reads only the events that are new.
//
// The signal is one of these:
//   - [flow.Tick], or nil: nothing has happened that the log does not know. Advance finds what is due by the store's clock, or
//     by this process's if the store has none ([store.Clock]). With the Seq of a Next, the Wait of that Next is over by the clock of
//     the runtime; it counts if the log has not grown since.
//   - [flow.Opened]: the runtime takes the debate over. All calls in flight are lost: charged in full, and made again. It is the
//     first signal of a runtime, and the first after a time longer than a lease in which it did nothing. Give it an ID that no other
//     Opened of this debate has.
//   - [flow.Lost]: whoever made this call is gone.
//   - a control, as for [Engine.Control].
//   - [flow.Result], [flow.Failed] and [flow.Late], which [Engine.Perform] returns.
//
// owner names the runtime's run of this debate, and nobody else's. It holds the lease of the debate for Engine.Lease from each
// Advance on, until no process needs to work on the debate. If another owner has the lease, the error wraps [ErrLeased], and nothing
// has changed. If calls or waits take longer than a lease, the runtime renews it with [Engine.Hold].
//
// If the engine lacks what the debate needs, the error wraps [ErrLacking]. Then only the outcome of a call is recorded, and the Next
// beside the error is valid. A signal that does not fit the debate's state is an error of kind state or validation, as for a control.
//
// A signal may be given again if it is not known whether it was taken: what is settled is ignored. An Opened with the same ID is
// ignored too, until the outcome of a call that it has begun is known, or another owner has taken the debate over. An Opened without
// an ID is another one each time: it charges the calls in flight, also those that nobody has made. A control is refused if it does
// not fit any more. Advance is safe for concurrent use.
//
// A debate that cannot be opened, or whose work breaks down, is put in quarantine as by [Engine.Open], and a step that succeeds ends
// that. Quarantine keeps workers away ([Engine.Due]), but refuses no Advance.
func (e *Engine) Advance(ctx context.Context, id, owner string, signal flow.Signal) (flow.Next, error) {
	l, err := e.freeze()
	if err != nil {
		return flow.Next{}, err
	}
	switch signal.(type) {
	case flow.Pause, flow.Resume, flow.Stop, flow.Cancel, flow.Retry, flow.Answer, flow.Sent, flow.Amendment:
		if signal, err = l.hostControl(ctx, id, signal); err != nil {
			return flow.Next{}, err
		}
	}
	return l.host.Advance(ctx, id, owner, signal)
}

// Call makes one of the calls of a [flow.Next], and advances the debate with its outcome; see [Engine.Advance]. emit is called
// with each piece of text as it arrives; nil: nobody reads along. If the call is no longer in flight, it is not made.
//
// If ctx ends, the call is broken off, and that is its outcome. Call returns soon after, or when [Engine.Grace] has given up
// code that ignores its context. Before the call is made, it waits for a free slot under MaxCalls.
//
// If the engine lacks what the debate needs, the error wraps [ErrLacking]: either the call was not made, and another engine may make
// it, or its outcome is recorded.
func (e *Engine) Call(ctx context.Context, id, owner string, call flow.Lost, emit func(provider.Chunk)) (flow.Next, error) {
	l, err := e.freeze()
	if err != nil {
		return flow.Next{}, err
	}
	return l.host.Call(ctx, id, owner, call, emit)
}

// Hold renews the lease of a debate for its owner; see [Engine.Advance]. It steps nothing. The Next is what the log says, without a
// Wait: a runtime that makes a call sees whether the call is still in flight, or is to be aborted. If another owner has the lease,
// the error wraps [ErrLeased].
func (e *Engine) Hold(ctx context.Context, id, owner string) (flow.Next, error) {
	l, err := e.freeze()
	if err != nil {
		return flow.Next{}, err
	}
	return l.host.Hold(ctx, id, owner)
}
