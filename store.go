package debate

import (
	"context"
	"iter"
	"time"
)

// Store keeps the logs of debates. It is safe for concurrent use, and several processes may hold one
// and the same storage open. Package store/storetest says by tests what is expected of one.
//
// An id that [CheckID] refuses is an error of kind validation. Whatever else goes wrong may be any
// error: the engine tries again for as long as [Engine.Lease] lasts, then lets go of the debate.
type Store interface {
	// Append adds events, which are numbered from after+1 without gaps, in one commit: all or none.
	// When it returns nil they are kept, whatever becomes of the process. The events belong to the
	// caller and may be overwritten after the call; what they point to is shared and is never written
	// again. If the log does not end at after it is an [ErrConflict], unless what follows was appended
	// by the same writer: then an earlier try has succeeded, and so does this one. A writer's token
	// belongs to one owner and is not used by another; "" is nobody's. No lease is needed. Without
	// events nothing happens.
	Append(ctx context.Context, id string, after int64, writer string, events []Event) error
	// Read yields the events with numbers above after, as far as there are any now: whole commits only,
	// and what was appended before the call is among them. [ErrNotFound] if there is no such debate. A
	// log that is damaged gives what stands before the damage, then an error.
	Read(ctx context.Context, id string, after int64) iter.Seq2[Event, error]
	// List yields the debates that match, in the order of their ids; that of UUIDv7 is that of time.
	List(ctx context.Context, filter Filter) iter.Seq2[Info, error]
	// Delete forgets a debate and its lease, whoever holds it; it is no error if there is none. Whoever
	// deletes makes sure that nobody goes on with it: a session that does would write into another debate
	// that is begun under the same id.
	Delete(ctx context.Context, id string) error
	// Lease takes a debate for owner, or renews it, for d from now; [ErrLeased] if somebody else holds
	// it and neither its time is over nor, where the store can tell, its process. The debate does not
	// need to exist yet. Of several owners who ask at once one gets it.
	Lease(ctx context.Context, id, owner string, d time.Duration) error
	// Release gives it back; it is no error if owner does not hold it.
	Release(ctx context.Context, id, owner string) error
}

// Watcher is an optional ability of a Store: the channel gets a value after the log of id has grown,
// whoever appended to it. Values merge: one may stand for several commits. Watching ends with ctx.
// Readers of a store that cannot watch look every quarter of a second.
type Watcher interface {
	Watch(ctx context.Context, id string) <-chan struct{}
}
