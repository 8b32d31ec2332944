// Package store says how the logs of conversations are kept.
package store

import (
	"context"
	"iter"
	"time"

	"github.com/agonist-dev/debate/flow"
)

// Store keeps the logs of debates. It is safe for concurrent use, and several processes may have the same storage
// open. Package store/storetest tests what a Store has to do.
//
// If [CheckID] refuses an id, the error is of kind validation. Any other failure may be any error. The engine
// retries for as long as Engine.Lease lasts, and then gives up the debate.
type Store interface {
	// Append adds events to the log in one commit: all or none. They are numbered from after+1 without gaps.
	//
	// If the log does not end at after, Append returns [flow.ErrConflict] and changes nothing. One case is not a
	// conflict: if the same writer has appended exactly these events already (a retry of a commit whose outcome was
	// unknown), Append returns nil. A writer's token belongs to one owner. The empty token matches no writer.
	//
	// Once Append returns nil, the events survive a crash. The caller may reuse the slice. What the events point to
	// is shared and never changes. No lease is needed. Without events Append does nothing.
	Append(ctx context.Context, id string, after int64, writer string, events []flow.Event) error
	// Read yields the events with numbers above after that the log has now. It yields whole commits only, and all
	// events that were appended before the call. If there is no such debate, the error is [flow.ErrNotFound]. Of a
	// damaged log Read yields what precedes the damage, then an error.
	Read(ctx context.Context, id string, after int64) iter.Seq2[flow.Event, error]
	// List yields the debates that match, in the order of their ids. UUIDv7s sort by time.
	List(ctx context.Context, filter Filter) iter.Seq2[Info, error]
	// Delete removes a debate and its lease, whichever owner holds it. It is no error if there is no such debate.
	//
	// The caller makes sure that no session has the debate open. Such a session would write into another debate
	// that is started under the same id.
	Delete(ctx context.Context, id string) error
	// Lease acquires or renews the lease of a debate for owner. It lasts for d from now. The debate need not exist
	// yet. If several owners ask at once, one gets it.
	//
	// If another owner holds the lease, the error is [flow.ErrLeased]. That ends when the lease's time is over, or,
	// where the store can tell, when the owner's process is gone.
	Lease(ctx context.Context, id, owner string, d time.Duration) error
	// Release releases the lease. It is no error if owner does not hold it.
	Release(ctx context.Context, id, owner string) error
}

// Watcher is an optional ability of a [Store]. The channel gets a value after the log of id has grown, whichever
// process appended to it. Values merge: one may stand for several commits. Watching ends when ctx is done.
//
// Readers of a store without this ability look four times a second.
type Watcher interface {
	Watch(ctx context.Context, id string) <-chan struct{}
}
