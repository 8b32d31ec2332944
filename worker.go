package debate

import (
	"context"
	"iter"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/engine"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// Submit validates a config and stores its debate, as Start does, but does not run it: another process opens it, or this one
// later. It returns the debate's id. [Engine.Due] of a worker finds it.
//
// If a debate exists under config.ID already, nothing is stored. If the configs are the same, Submit returns the id, wherever
// the debate runs and however far it is, and asks no provider anything. If they differ, the error is of kind conflict. So a
// caller that does not know whether a Submit with an id has succeeded can repeat it.
//
// To store a new debate, the engine needs all that the config names: providers, judges, tools, context managers and detectors.
// The start freezes what the providers report about the models.
func (e *Engine) Submit(ctx context.Context, config flow.Config) (id string, err error) {
	return on(e, func(l *engine.Engine) (string, error) { return l.Submit(ctx, config) })
}

// Due yields debates as they come to need a process, until ctx is done or the loop is left. These are the debates that
// [Filter].Due selects, except those that this engine was unable to open. A worker opens each of them:
//
//	for info, err := range engine.Due(ctx) { … engine.Open(ctx, info.ID) … }
//
// Due waits for the store to announce work ([store.Announcer]). It also polls for expired leases, once in the time of a lease
// but at least every 30 s. If the store announces nothing, Due polls every second. A debate comes again with each poll until
// some process works on it. Workers get the debates of a poll in different orders. If the body of the loop takes long, Due
// polls again before it continues.
//
// A debate that cannot be opened is put in quarantine by [Engine.Open], and does not come again until that is over. An error
// means that the store has failed; if the loop goes on, Due tries again.
func (e *Engine) Due(ctx context.Context) iter.Seq2[store.Info, error] {
	return each(e, func(l *engine.Engine) iter.Seq2[store.Info, error] { return l.Due(ctx) })
}

// Advance steps a stored debate, saves what follows, and returns what is left to do: the calls in flight, those to abort, and the
// next wait. A runtime of the host program's own needs only Advance and [Engine.Call], which makes a call and advances the
// debate with its outcome. The runtime may be stateless, and call Advance from another process each time. [Engine.Submit]
// stores a debate for it.
//
// If others have appended to the log meanwhile, Advance reads it again and steps again. The engine keeps the folded log for the next
// call ([Engine.CacheBytes]), and then reads only the events that are new.
//
// The signal is one of these:
//   - none (nil). Advance renews the lease and steps nothing. The Next is what the log says, without a Wait: a runtime that makes a
//     call sees whether the call is still in flight, or is to be aborted.
//   - [flow.Tick]: nothing new has happened. Advance finds what is due by the store's clock, or by this process's if
//     the store has none ([store.Clock]). A Tick with the Seq of a Next reports that the Wait of that Next is over by the clock
//     of the runtime; it counts only if the log has not grown since.
//   - [flow.Opened]: the runtime takes the debate over. All calls in flight are lost: they count as broken off, and are made again. A
//     runtime sends it first, and again after it was inactive for longer than a lease. Give it an ID that no other Opened of
//     this debate has.
//   - [flow.Lost]: the process that made this call is gone.
//   - a control, as for [Engine.Control].
//   - [flow.Result], [flow.Failed] and [flow.GivenUp], from a runtime that makes calls itself. [flow.Outcomes] are several of them,
//     which are saved in one commit.
//
// owner identifies this run of the runtime, and must be unique. Each Advance acquires or renews the owner's lease for
// Engine.Lease, until no process needs to work on the debate. If another owner has the lease, the error wraps [ErrLeased], and
// nothing has changed. If calls or waits take longer than a lease, the runtime renews it with an Advance without a
// signal.
//
// If the engine lacks what the debate needs, the error wraps [ErrMissing]. Then Advance records only outcomes of calls, and returns
// a valid Next along with the error. Next.Calls holds those that the same Advance had begun before the lack showed. A signal that
// does not fit the debate's state is an error of kind state or validation, as for a control.
//
// If it is unknown whether a signal was recorded, it may be sent again: what is recorded already is ignored. A repeated Opened
// with the same ID is ignored too, until the outcome of a call that it has begun is known, or another owner has taken the debate
// over. An Opened without an ID is never recognised as a repeat: each one records all calls in flight as broken off, even if none was
// sent. A repeated control is refused if it no longer fits the state. Advance is safe for concurrent use.
//
// A debate that cannot be opened or advanced is put in quarantine as by [Engine.Open]; the next successful step ends the
// quarantine. It keeps workers away ([Engine.Due]), but does not prevent Advance.
func (e *Engine) Advance(ctx context.Context, id, owner string, signal flow.Signal) (flow.Next, error) {
	return on(e, func(l *engine.Engine) (flow.Next, error) { return l.Advance(ctx, id, owner, signal) })
}

// Call makes one of the calls of a [flow.Next], and advances the debate with its outcome; see [Engine.Advance]. emit, which may
// be nil, is called with each piece of text as it arrives. If the call is no longer in flight, it is not made.
//
// If ctx ends, the call is aborted, and recorded as such. Call returns soon after, or after [Engine.Grace] if code ignores its
// context. Before the call is made, it waits for a free slot under MaxCalls.
//
// If the engine lacks what the debate needs, the error wraps [ErrMissing]: either the call was not made, and another engine may
// make it, or its outcome is recorded.
func (e *Engine) Call(ctx context.Context, id, owner string, call flow.Lost, emit func(provider.Chunk)) (flow.Next, error) {
	return on(e, func(l *engine.Engine) (flow.Next, error) { return l.Call(ctx, id, owner, call, emit) })
}
