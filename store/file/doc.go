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
// power too. A commit that was not acknowledged is there as a whole or not at all. Readers take no lock, and may see
// a commit a moment before it is acknowledged.
//
// If writing or syncing fails the outcome is unknown, as the error says. The journal is cut back to where it ended
// where that is possible, and read again before anything else is appended: what cannot be known to be on the disk is
// written and synced once more before it counts. A disk that is full leaves a journal that can be read.
//
// What is found behind the last whole commit is a tear: what a crash has left of a commit, and nobody was told of.
// Readers pass over it. The next append takes it off, keeps it in a file beside the journal and calls Store.Report.
// Damage with a whole commit behind it is none that a crash can do, and a [*CorruptError]: Read yields what is before
// it, Append refuses, and no byte is changed.
//
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
// one for each loop over [Store.Read]. [Store.Watch] learns of other processes by looking ten times a second, while
// somebody watches.
package file
