// Package file keeps debates in the files of a folder: an append-only journal that people can read for each
// debate, and no database. It is the store for one machine. Several processes may have the folder open at once,
// as long as it is on a disk of that machine: locks and syncs are not to be trusted on a network's.
//
//	store, err := file.Open("debates")
//	engine := &debate.Engine{Store: store, …}
//	defer store.Close() // after engine.Shutdown
//
// [Open] has each commit on the disk before it is acknowledged. A [Store] that one makes oneself can be told
// otherwise: where to report what a crash has torn (Report), or not to wait for the disk (Sync).
//
// # What is kept
//
// What Append has acknowledged survives the end of the process at any moment, and with [SyncAlways] the loss of
// power too. A commit that was not acknowledged is there as a whole or not at all.
//
// Readers see a commit once it is on the disk: while another process, or another handle of this one, appends to a debate
// they wait for its sync, and for one that hangs over it as long as their context lets them. Of a process that is killed
// between the writing and the sync nothing is left to wait for: its commit is shown, and is made sure of before anything
// is appended to it.
//
// If writing or syncing fails the outcome is unknown, as the error says. The journal is cut back to where it ended
// where that is possible, and read again before anything else is appended: what cannot be known to be on the disk is
// written and synced once more before it counts. A disk that is full leaves a journal that can be read.
//
// # Tears and corruption
//
// A tear is what a crash has left of one commit that nobody was told of, behind the last whole one. It is the beginning
// of a commit, as far as a file that is too short has it; or a commit of which sectors never came to the disk: what they
// should hold are zeros, up to a multiple of 512 bytes or the end of the file. No journal holds a zero otherwise. Readers
// pass over a tear. The next append takes it off, keeps it in a file beside the journal and calls Store.Report.
//
// Whatever else is wrong was not left by a crash, and is a [*CorruptError]: a commit that is all there and has other bytes
// than were written, though it be the last or the only one; damage that a whole commit follows; a file that does not begin
// as a journal of its debate. Read yields what is before it and then the error, List yields the error after all debates,
// Append refuses, and no byte is changed. Only a debate of which there is nothing, or no more than the tear of its
// first commit, is [debate.ErrNotFound].
//
// The rule has a limit: if the last commit, once acknowledged, loses its end to something that shortens the file, or a
// sector to something that fills it with zeros, it cannot be told from one that was never finished, and is a tear. It is
// kept in the file beside the journal then.
// # The journal
//
// Each line is a checksum of eight hexadecimal digits, a space, and JSON. A header names the debate. Then come
// commits: the events, as encoding/json has them, and the line that closes them.
//
//	49eb51a3 {"journal":1,"id":"cars"}
//	7c45e669 {"seq":1,"at":"2026-03-04T05:06:07Z","kind":"round","round":{"n":1,"of":3}}
//	278e35b0 {"seq":2,"at":"2026-03-04T05:06:07Z","kind":"transition","transition":{"from":"","to":"paused","on":""}}
//	30cca9cb {"commit":{"first":1,"last":2,"bytes":199,"prev":"49eb51a3","writer":"some%20host","state":"paused",…}}
//
// The checksum is CRC-32C (RFC 3720, appendix B.4): of the JSON, and for a commit of the lines of its events, with
// their checksums and newlines, and then its own JSON. In a commit, bytes is the length of these lines, prev the
// checksum of the commit before it or of the header, so that the last commit stands for all of the journal, and writer
// the token of who appended it, with what is no plain character escaped as in a URL. State, round, at (the time of the
// last event) and start (the offset of the line of the start event) are what a list of debates needs without reading
// them. So these work, and so does copying the file, at any time:
//
//	grep '"kind":"turn"' debates/cars.log | cut -c 10- | jq -r .turn.text
//	tail -n 1 debates/cars.log | cut -c 10- | jq .commit
//
// A journal holds the debate's secret seed and all that was said. The folder and its files are for the eyes of one
// user only.
//
// # The folder
//
//	cars.log         the journal of debate cars
//	cars.torn        what was cut off it, if ever anything was
//	cars.lease       who goes on with the debate; while somebody does
//	cars.lock        what is locked while any of these is changed
//	ab-c+09.log      the journal of debate Ab-C: not every system tells capital letters, so their places are told in bits
//	kq3….live        what a handle keeps locked while it lives
//
// A lease ends with its time, or with the handle that took it: the system unlocks the file of a process that has died,
// however it died, and another process goes on at once. One that hangs keeps its leases until their time is over.
//
// Files are open only while they are used: at most 256 for appending and leasing, however many debates there are, and
// one for each loop over [Store.Read], with a lock while it begins. [Store.Watch] learns of other processes by looking
// ten times a second, while somebody watches.
package file
