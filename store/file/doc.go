// Package file stores conversations in the files of a folder: one append-only, readable journal for each
// conversation, and no database. It is the store for a single machine. Several processes may open the folder at
// once if it is on a local disk: locks and syncs of a network file system cannot be trusted.
//
//	store, err := file.Open("debates")
//	engine := &debate.Engine{Store: store, …}
//	defer store.Close() // after engine.Shutdown
//
// With [Open], each commit is on the disk before it is acknowledged. A [Store] that you make yourself has
// more options: Report receives what a crash has torn, of which otherwise the default log gets a warning, and Sync
// can turn off waiting for the disk.
//
// # Durability
//
// A commit that Append has acknowledged survives the end of the process at any moment and, with
// [SyncAlways], a power loss. A commit that was not acknowledged is stored completely or not at all.
//
// Readers see a commit once it is on the disk, and never wait for a writer. While a process appends to a conversation,
// or is stopped in an append, readers see what precedes that commit. If a process is killed between writing and
// syncing, readers see its commit; the process that changes the conversation next syncs the commit first.
//
// If writing or syncing fails, the outcome is unknown, as the error says. The journal is cut back to its
// previous end if possible, and it is read again before the next append. Bytes that may not be on the
// disk are written and synced again before they count. When the disk is full, the journal remains
// readable.
//
// # Tears and corruption
//
// A tear is what a crash has left, behind the last whole commit, of one commit that was never
// acknowledged. It has one of two forms:
//
//   - The beginning of a commit, in a file that is too short.
//   - A commit of which sectors never reached the disk. They read as zeros, up to a multiple of 512 bytes
//     or the end of the file. A journal contains no other zeros.
//
// Readers skip a tear. The next append removes it, saves it in a file beside the journal, and calls
// Store.Report or writes a warning to slog.Default.
//
// Any other damage was not left by a crash, and is a [*CorruptError]: a complete commit with other bytes
// than were written, even if it is the last or only one; damage before a whole commit; a file that does
// not begin as a journal of its conversation. Read yields everything before the damage and then the error.
// List sets it in Info.Err, beside what precedes the damage. Append refuses, and no byte is changed. A conversation is
// [flow.ErrNotFound] only if it has no journal, or only the tear of its first commit.
//
// This rule has a limit. A file does not say how long it once was. If a journal later loses its end, at
// whatever byte, or zeros replace it, then all commits from there on are lost, though they were acknowledged. What
// is left of the first of them looks like a commit that was never finished, and is treated as a tear. So whatever
// shortens files, such as an unfinished copy or the repair of a file system, loses commits. Two things show it: the
// report of the tear, and a list that knows from the index that the journal was longer, which calls Store.Report or
// warns too. If the cut is exactly behind a commit, and no list has seen the journal before, nothing shows it. A
// conversation that has lost its end continues from what is left, and makes the later calls again.
//
// # The journal
//
// Each line is a checksum of eight hexadecimal digits, a space, and JSON. The first line is a header with
// the id of the conversation. Then come commits: the events, in the form of encoding/json, and the line that
// closes the commit.
//
//	49eb51a3 {"journal":1,"id":"cars"}
//	f14348ab {"seq":1,"at":"2026-03-04T05:06:07Z","kind":"round","body":{"n":1,"of":3}}
//	b4f24066 {"seq":2,"at":"2026-03-04T05:06:07Z","kind":"transition","body":{"from":"","to":"paused","on":""}}
//	c84d850e {"commit":{"first":1,"last":2,"bytes":192,"prev":"49eb51a3","writer":"some%20host","state":"paused",…}}
//
// The checksum is CRC-32C (RFC 3720, appendix B.4). That of an event covers its JSON. That of a commit
// covers the lines of its events, with their checksums and newlines, and then its own JSON. A commit has
// these fields:
//
//   - bytes is the length of the lines of its events.
//   - prev is the checksum of the commit before it, or of the header. So the last commit stands for the
//     whole journal.
//   - writer is the token of the writer, escaped as in a URL.
//   - state, since (when the conversation has come to it), round, at (the time of the last event) and start (the offset of the line
//     of the start event) serve lists, which need not read the events.
//
// So these commands work, and copying the file works, at any time:
//
//	grep '"kind":"turn"' debates/cars.log | cut -c 10- | jq -r .body.text
//	tail -n 1 debates/cars.log | cut -c 10- | jq .commit
//
// A journal holds the conversation's secret seed and all its texts. Only the current user can read the folder
// and its files.
//
// # The folder
//
//	cars.log         the journal of conversation cars
//	cars.torn        what was cut off it, if anything ever was
//	cars.blobs       the bytes of the conversation's files, if it has any
//	cars.lease       who works on the conversation, while somebody does
//	cars.alarm       what SetAlarm has set, and the number of the last event, for which that holds; a person's time is in the journal
//	cars.quarantine  why the conversation could not be opened, and until when workers leave it alone
//	cars.lock        locked while any of these files is changed; its size says how far readers may read
//	ab-c+09.log      the journal of conversation Ab-C: some systems ignore case, so the positions of capitals are a bit set
//	kq3….live        locked by a handle while it lives
//	index            describes journals for lists
//	clock            is written to ask the file system for the time
//	work             changes when a conversation may have come to need a process
//
// The index is written by lists, not by appends, and only repeats what the journals say. A list uses its line of a
// journal if the line's checksum is right, and the journal's size and time of modification are those that the line
// names. Otherwise it reads the journal. So the index may be lost, damaged or old, and may be deleted at any time. But a
// list does not notice damage of a journal that leaves its size and time as they were; Read does.
//
// A stopped process delays only changes of the conversation that it was changing. Append and Delete then wait as long as
// their context allows. Lease reports [flow.ErrLeased] after two seconds.
//
// A lease ends when its time is over, or with the handle that acquired it. The system unlocks the file of
// a process that has died, however it died, so another process can continue at once. A process that hangs
// keeps its leases until their time is over.
//
// Files are open only while they are used: at most 256 for appending and leasing, however many conversations
// there are, and one for each loop over [Store.Read], which holds a lock at its beginning. While a conversation
// is watched, [Store.Watch] checks ten times a second for events of other processes. So does [Store.Announce] for work.
package file
