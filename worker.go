package debate

import (
	"context"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/engine"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// Submit validates a config and stores its debate, as Start does, but does not run it: another process opens it, or this one
// later. It returns the debate's id. [Engine.Work] of a worker finds it.
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

// Work says which debates a worker runs. The zero value runs up to 100 at a time.
type Work struct {
	// Slots is how many debates are open at a time; 0 means 100. A debate has no slot while it is paused, waits for a person, or
	// makes no call and begins its next one in more than a minute. [Engine].MaxCalls bounds the calls.
	//
	// If the store keeps no alarms ([store.Alarms]), a debate whose next call is due later keeps its slot.
	Slots int
	// Filter selects debates. Due is implied. After, Limit, Newest, Text, Per and Each are refused.
	Filter store.Filter
	// Fair is a label, such as "tenant", whose values share the slots. Each value that has debates waiting gets an equal part, however
	// many these are. What one value does not need goes to the others. Debates without the label have one value together. If Fair is
	// empty, debates get slots in any order.
	//
	// A debate keeps its slot until it rests or ends, and each worker divides its own slots. While there is more to do than slots for
	// long, debates whose ids come last wait: those that the engine makes begin with the time, so the oldest come first.
	Fair string
	// Drain is how long calls in flight may take once ctx is done; 0 means a minute. Then they are aborted.
	Drain time.Duration
	// With is called with each session that Work opens, on a goroutine of its own, for readers such as package otel. It returns when its
	// reader ends: ctx ends [Engine].Grace after the session, and Work returns after With has returned. nil: nothing is called.
	With func(ctx context.Context, s *Session)
}

// Work runs stored debates that need a process until ctx is done: new ones, answered ones, and those of a process that has
// disappeared. Then it drains those that it has open, and returns. Any number of processes may work on one store.
//
//	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
//	defer stop()
//	err := engine.Work(ctx, debate.Work{Slots: 50})
//
// Work waits for the store to announce work ([store.Announcer]). It also looks for expired leases, six times in the time of a lease
// but at least every 5 s. If the store announces nothing, it looks every second.
//
// A debate that cannot be opened is put in quarantine, as by [Engine.Open], and gets no slot until that is over. Work leaves alone
// what this engine has open already. While the store fails, Work tries again; the first failure in a row has a line in the log.
//
// While Work drains, calls in flight finish and are recorded, and no other call starts. Sessions that others have opened, and the
// Bus, are left to [Engine.Shutdown].
//
// Work returns one of these:
//   - nil, if it has drained all that it had open.
//   - An error that wraps [context.DeadlineExceeded], and counts the debates whose calls were aborted after Drain.
//   - An error of kind validation for each field of work that is invalid. Nothing was opened.
//   - An error that wraps [flow.ErrClosed], if the engine is shut down, or that of the store, if it is closed.
func (e *Engine) Work(ctx context.Context, work Work) error {
	l, err := e.freeze()
	if err != nil {
		return err
	}
	own := engine.Work{Slots: work.Slots, Filter: work.Filter, Fair: work.Fair, Drain: work.Drain}
	if work.With != nil {
		own.With = func(ctx context.Context, s *engine.Session) {
			face, _ := s.Face.(*Session)
			work.With(ctx, face)
		}
	}
	return l.Work(ctx, own)
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
// quarantine. It keeps workers away ([Engine.Work]), but does not prevent Advance.
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
