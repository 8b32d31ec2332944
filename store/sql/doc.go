// Package sql stores conversations in a database: SQLite or PostgreSQL. SQLite is a file and needs no server;
// it is for the processes of one machine. PostgreSQL is for any number of machines. Both have the same
// store.
//
//	store, err := sql.OpenSQLite(ctx, "debates.db")
//	store, err := sql.OpenPostgres(ctx, "postgres://user:password@host/database")
//	engine := &debate.Engine{Store: store, …}
//	defer store.Close() // after engine.Shutdown
//
// # Durability
//
// A commit that Append has acknowledged is on the disk: the SQLite connection that writes has
// synchronous=FULL, and PostgreSQL has its own synchronous_commit, which is on unless somebody turned it
// off. A commit is stored completely or not at all.
//
// If Append fails, or its context ends while the database works, the outcome may be unknown, and the
// error says so. The same writer then retries, and an earlier attempt that succeeded is recognised. If
// the database is locked, its server is unreachable, or the disk is full, a call fails; it never reports
// success. The next call tries again, on a new connection if necessary.
//
// Leases use the clock of the database, so the clocks of several machines may differ. SQLite's leases do
// not wait for the disk: a lease's owner is on the same machine, and a power cut ends both. In PostgreSQL
// only a release does not wait. If it is lost, the lease expires. In SQLite, a lease also ends when its owner's process is gone: while an
// owner has leases, its process keeps a file locked beside the database.
//
// The store is also a limit.Ledger of package provider/limit, by which machines on one database share the limits of their
// accounts.
//
// # Cost
//
// A step of a conversation takes one statement, one round trip and one wait for the disk. What it writes does
// not grow with the conversation. Simultaneous appends to different conversations share a transaction (one at a time
// in SQLite, up to two in PostgreSQL), so that a thousand conversations do not wait a thousand times. An append
// that comes alone does not wait for others. An append that the database refuses fails alone.
//
// # Watching
//
// All logs that a store watches cost one statement together, however many watch each: while nothing happens, one in two seconds in
// PostgreSQL and five in two seconds in SQLite, which are reads of this machine's memory. A store that has changed logs of PostgreSQL
// names them to the others by NOTIFY, after the commit and at most ten times a second, whatever the number of conversations. A store
// that hears of a log that it watches asks for its end. What is not heard, because a connection or a process was lost, is found by
// the statement that asks for all. SQLite has no server that could tell: each store looks at the time of its write-ahead log.
//
// # Stopped processes and damage
//
// A process may be stopped at any moment, and a conversation may be damaged; neither holds up other conversations.
// In PostgreSQL, only changes of the same conversation wait for a locked row, and the server ends a transaction that is idle
// for five seconds. There is one exception: SQLite has one writer. A process
// that is stopped within the milliseconds of a transaction keeps the others from writing until it continues or ends.
// They read meanwhile.
//
// # Jobs of a queue
//
// [Options.OnWake] is called in the transaction of an append after which a conversation needs a process: it was started,
// forked or imported, or somebody has answered or given another control. A host program whose workers take jobs from a
// table of the same database inserts one there. The job then exists if and only if the events do.
//
// [SubmitTx] goes the other way: it starts a conversation in a transaction of the host program, of package database/sql or of pgx. The
// conversation, its files and its job then exist if and only if what the host program has written does.
//
// # Removing texts
//
// [Store.Redact] and [Store.Delete] remove texts from the tables at once. What the files keep differs:
//
//   - SQLite: Redact rewrites the file and empties the write-ahead log, unless [Options].VacuumLater is set. With VacuumLater,
//     and after Delete, SQLite has overwritten with zeros what it has deleted, but a copy may stay where rows have moved, and
//     in the write-ahead log until it is emptied. [Store.Vacuum] removes both.
//   - PostgreSQL: old rows stay in the files of the tables until [Store.Vacuum], which is VACUUM FULL: an ordinary VACUUM frees
//     their room and leaves the bytes. The server's write-ahead log, its archive, replicas and backups hold them for as long as
//     the server is set to keep those.
//
// Neither reaches the blocks that a file system or a disk no longer uses.
//
// # The tables
//
//	debate             a row per conversation: what lists show
//	debate_commit      a row per commit: its events as JSON, one per line
//	debate_label       labels, to find conversations by
//	debate_blob        the bytes of files
//	debate_lease       who works on which conversation
//	debate_quarantine  which conversations could not be opened, and why
//	debate_work        in SQLite: how often work was announced
//	debate_limit       what machines share of the limits of accounts
//	debate_version     the version of the tables
//
// They are ordinary tables with ordinary texts, and a program may read them:
//
//	SELECT c.body FROM debate d JOIN debate_commit c ON c.key / 4294967296 = d.no WHERE d.id = 'cars' ORDER BY c.key
//
// Opening a database migrates it to the version of this release, under a lock, in one transaction. Any
// number of processes may open an empty database at once. A file of SQLite with the tables of another program is not opened
// ([*ForeignError]).
//
// [Options].Migrate leaves the tables as they are. A program whose role may only read and write rows, without any right to change tables,
// works on a migrated database; MigrateCheck has it fail at once on another. The tables' owner migrates them by "debate migrate --store
// URL", or opens a store. Building an index keeps writers waiting for some seconds per million conversations.
//
// A release adds to tables, and takes nothing away that the release before uses. So the programs of a deployment may be of two releases:
// migrate first, then replace the programs. Tables of a newer release that this one cannot use are refused with a [*VersionError].
//
// All ids, labels and texts are passed as parameters. Bodies are JSON, in which PostgreSQL can store NUL
// characters. If a raw message holds invalid UTF-8, U+FFFD is written in its place, which any decoder
// would have read. A conversation's log holds its secret seed and all its texts: only the current user can read
// the file of SQLite, and errors do not show the password of a URL.
//
// # Lists
//
// The query contains all conditions of a [store.Filter]. State, labels, times and the order of ids have
// indexes. What is Due is found by an index of its own, which does not reach conversations whose alarm is still to ring. The database
// searches for Text with LIKE, in all bodies of the conversations that meet the other conditions, and then [store.Filter.Finds] checks
// what it found. Lists and logs are read in pages, and no connection is held between them: a loop over one may use the store.
//
// [Store.Sum] is one statement over the same rows. For 10,000 conversations of one label it has taken 30 ms in SQLite and 60 ms in
// PostgreSQL, a fifth and a twentieth of the time of a list. [Store.CountStates] is one statement too.
//
// # PostgreSQL behind a pooler
//
// A connection begins with settings of its own, such as lock_timeout, in the message that opens it. A server takes them. A pooler that
// lends a connection for each transaction refuses them, as PgBouncer does, or swallows them (ignore_startup_parameters). By that a store
// recognises it, and the URL needs nothing that suits a pooler. The store then works as follows, and [Options].Logger has a line:
//
//   - It changes no setting beyond a transaction, since the connection is another client's next. Each append, lease and release is a
//     transaction of four round trips: BEGIN, SET LOCAL, the statement, COMMIT. Without a pooler, each is one.
//   - Statements are not prepared, and each read is one statement.
//   - Nothing listens. [Store.Announce] announces only what this store appends: workers find the work of other processes by their looks.
//     [Store.Watch] asks for the watched logs once in two [Options].Poll. [OpenBus] refuses the URL.
//   - A read whose context ends closes its connection. No request to cancel it is sent, on which some poolers crash.
//
// This was tried with PgBouncer in transaction mode. A pooler that takes settings and mixes its clients' sessions all the same is not
// recognised.
//
// # Failover
//
// With several hosts and target_session_attrs=read-write in its URL, a store finds the server that accepts changes. If a connection's
// server says that it accepts none any more, or that it ends, the store drops all its connections of that time: the next ones go to the
// server that accepts changes by then. Meanwhile calls fail with [ErrReadOnly] or the error of the connection, and the engine retries.
// A store takes up to Options.Connections + 4 connections, and a [Bus] two.
package sql
