// Package store is the contract of stores, which keep the logs of conversations.
//
// A [Store] has an append-only log for each conversation, a list of them, and a lease for each: the right of one process to make its
// calls. A log is all that a conversation is: another process continues it from there. These are stores:
//
//   - [Memory] keeps logs in this process.
//   - Package store/file keeps them in a folder, for the processes of one machine.
//   - Package store/sql keeps them in SQLite or PostgreSQL. PostgreSQL is for any number of machines.
//
// What a store can do beyond that are interfaces. The engine finds out which of them a store has, and does without the others:
//
//   - [Blobs] keeps files, and [Redactor] removes texts. Without them a conversation has no files, and nothing is removed.
//   - [Watcher] tells readers that a log has grown, and [Announcer] tells workers that there is work. Without them they look again
//     and again.
//   - [Clock] is one clock for all processes, and [Quarantines] keeps what could not be opened from all workers.
//   - [Alarms] keeps when a conversation needs a process next, so that none has to wait for that time.
//   - [Describer], [Summer] and [StateCounter] answer without reading logs what [InfoOf], [SumOf] and [CountStates] otherwise learn
//     from the list.
//
// A [Filter] says which conversations a list has, and [Info] describes each. [Prune] deletes what is older than a [Retention] allows.
// A damaged log is [ErrDamaged]; a store that only fails reports any other error.
//
// Package store/storetest is the conformance suite for a store of one's own.
package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/agonist-dev/debate/flow"
)

// ErrDamaged reports that the stored data of a conversation cannot be read, and that retrying does not help. A store that only
// fails reports other errors.
var ErrDamaged = errors.New("the stored data of the conversation is damaged")

// Store keeps the logs of conversations. It is safe for concurrent use, and several processes may have the same storage
// open. Package store/storetest tests what a Store has to do.
//
// If [CheckID] refuses an id, the error is of kind validation. The methods name other errors that callers compare with
// errors.Is. Any other error means that the store has failed: the engine retries for as long as Engine.Lease lasts, and
// then closes the session. A method that waits returns soon after its context is done.
type Store interface {
	// Append adds events to the log in one commit: all or none. They are numbered from after+1 without gaps.
	//
	// If the log does not end at after, Append returns [flow.ErrConflict] and changes nothing. One case is not a
	// conflict: if the same writer has appended exactly these events already (a retry of a commit whose outcome was
	// unknown), Append returns nil. A writer's token belongs to one owner. The empty token matches no writer.
	//
	// Under a lease, writer is the owner's token, or begins with that token and a slash.
	//
	// Once Append returns nil, the events survive a crash. The caller may reuse the slice. What the events point to
	// is shared and never changes. No lease is needed. Without events Append does nothing.
	Append(ctx context.Context, id string, after int64, writer string, events []flow.Event) error
	// Read yields the events with numbers above after that the log has now. It yields whole commits only, and all
	// events that were appended before the call. If there is no such conversation, the error is [flow.ErrNotFound]. If
	// the log is damaged, Read yields what precedes the damage, then an error that wraps [ErrDamaged].
	Read(ctx context.Context, id string, after int64) iter.Seq2[flow.Event, error]
	// List yields the conversations that match, in the order of their ids, compared byte by byte. UUIDv7s sort by time.
	// A conversation that cannot be read is listed with Info.Err. Neither it, nor one that another process is changing,
	// stops the list. An error of the loop means that the store has failed, and comes last.
	List(ctx context.Context, filter Filter) iter.Seq2[Info, error]
	// Delete removes a conversation with its blobs and its lease, whoever holds that. If there is none, it returns nil.
	//
	// The caller makes sure that no session has the conversation open. Such a session would write into another
	// conversation that is started under the same id.
	Delete(ctx context.Context, id string) error
	// Lease acquires or renews the lease of a conversation for owner: the right to make its calls. It lasts for d from
	// now. The conversation need not exist yet. If several owners ask at once, one gets it.
	//
	// If another owner holds the lease, the error is [flow.ErrLeased]. That lease ends when its time is over, or, where
	// the store can tell, when its owner's process is gone.
	Lease(ctx context.Context, id, owner string, d time.Duration) error
	// Release releases the lease of a conversation, if owner holds it. Otherwise it does nothing, without an error.
	Release(ctx context.Context, id, owner string) error
}

// Blobs is an optional ability of a [Store]: it keeps the bytes of files beside the logs of conversations. Without it a store
// keeps no conversation with files. Package store/storetest tests it.
//
// A blob belongs to one conversation; another conversation has a copy of its own. Store.Delete removes the blobs of a
// conversation, also if it has no log: a process may have ended between PutBlob and Append, or another process may have
// appended first. A PutBlob that is refused stores nothing. No lease is needed.
type Blobs interface {
	// PutBlob stores data under its hash, which is the data's SHA-256 in lower-case hexadecimal. The conversation need
	// not exist yet. Once PutBlob returns nil, the blob survives a crash, and every handle reads it. If the blob is there
	// already, PutBlob does nothing; if it is damaged there, PutBlob repairs it. If the hash is not that of the data, the
	// error is of kind validation, and nothing is stored. data must not change until PutBlob returns.
	PutBlob(ctx context.Context, id, hash string, data []byte) error
	// Blob returns the bytes of a blob. If the conversation has no such blob, or has other bytes in its place, the error is
	// [flow.ErrNoFile]. The caller must not write to the bytes.
	Blob(ctx context.Context, id, hash string) ([]byte, error)
}

// Announcer is an optional ability of a [Store]: it announces work, so that workers need not poll for it. The channel gets
// a value after a conversation may have come to need a process, whichever process has caused that:
//   - an append has brought it from a state in which nothing happens by itself (see [flow.State.Idle]), or from nothing, to
//     another state
//   - its lease was released, or its quarantine ended, while it was in such another state
//
// Values merge: one may stand for any number of conversations. A value may also come without a cause, but the steps of a
// running conversation cause none, nor does the release of an idle one. What happened before Announce returned need not be
// announced. Announcing ends when ctx is done; the channel is never closed.
//
// A lease that ends because its time is over announces nothing, and a value may get lost together with a connection. So a
// listener also calls List at least once per lease time. Engine.Work does both.
type Announcer interface {
	Announce(ctx context.Context) <-chan struct{}
}

// Describer is an optional ability of a [Store]: it describes one conversation without reading its log. The engine learns
// from it that another process works on a conversation. Without it the engine reads the log before it learns that.
// Package store/storetest tests it.
type Describer interface {
	// Describe returns what [Store].List would yield for the conversation, with Info.Err if it is damaged. Unless the log is
	// damaged, the cost grows neither with the log nor with the number of conversations. If there is no such conversation, the
	// error is [flow.ErrNotFound].
	Describe(ctx context.Context, id string) (Info, error)
}

// InfoOf describes one conversation of a store: as a [Describer] does, if it is one, or else by its list. If there is no such
// conversation, the error wraps [flow.ErrNotFound], and names the id.
func InfoOf(ctx context.Context, s Store, id string) (Info, error) {
	info, err := infoOf(ctx, s, id)
	if errors.Is(err, flow.ErrNotFound) {
		err = fmt.Errorf("%w: %.64q", flow.ErrNotFound, id)
	}
	return info, err
}

func infoOf(ctx context.Context, s Store, id string) (Info, error) {
	if d, ok := s.(Describer); ok {
		return d.Describe(ctx, id)
	}
	if err := CheckID(id); err != nil {
		return Info{}, err
	}
	for info, err := range s.List(ctx, Filter{After: id[:len(id)-1]}) {
		switch {
		case err != nil:
			return Info{}, err
		case info.ID == id:
			return info, nil
		case info.ID > id:
			return Info{}, flow.ErrNotFound
		}
	}
	return Info{}, flow.ErrNotFound
}

// Clock is an optional ability of a [Store]: it has a clock that all processes share. The engine takes the times of events from
// it, because processes that continue a conversation one after the other may have clocks that differ by hours. A process reads it
// when it acquires a lease, and counts by its own monotonic clock from then on. Without it, an event has the time of the process
// that writes it, and time limits hold only if the clocks of the processes agree. Package store/storetest tests it.
type Clock interface {
	// Time returns the time by the clock of the store at some moment of the call, to within two seconds.
	Time(ctx context.Context) (time.Time, error)
}

// Redactor is an optional ability of a [Store]: it rewrites events of a log, and leaves nothing of the old content. Package
// store/storetest tests it.
type Redactor interface {
	// Redact changes a log in one commit: all or nothing. Each event replaces the one with its number. Events numbered from
	// after+1 on, without gaps, are appended. The last event must be an appended one, so that readers of the log learn of the
	// change. No lease is needed. Lists and searches then find only the new content.
	//
	// blobs are the hashes of blobs of the conversation that are removed in the same commit, or right after it.
	//
	// If the log does not end at after, Redact returns [flow.ErrConflict] and changes nothing. If there is no such conversation,
	// the error is [flow.ErrNotFound].
	//
	// Once Redact returns nil, the change survives a crash, and the store's files hold nothing of what was replaced. If Redact
	// fails after the commit, they may still hold some of it: Redact without events, which appends nothing, removes that.
	// What a store cannot reach, such as backups and the blocks of a disk, the store names in its documentation.
	Redact(ctx context.Context, id string, after int64, events []flow.Event, blobs []string) error
}

// Watcher is an optional ability of a [Store]. The channel gets a value after the log of id has grown or was deleted,
// whichever process has done that. Values merge: one may stand for several commits. A value may also come without a cause.
// The conversation need not exist yet. Watching ends when ctx is done; the channel is never closed.
//
// A store that can be closed gives each channel a value then, and each that Watch returns afterwards has one: whoever watches
// reads, and gets the error of a closed store.
//
// A reader of a log asks nothing between two values. So a store must not lose one, also if its connection breaks. [Announcer] tells
// of leases that are released.
//
// Readers of a store without this ability read the log four times a second.
type Watcher interface {
	Watch(ctx context.Context, id string) <-chan struct{}
}
