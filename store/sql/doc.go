// Package sql keeps debates in a database: SQLite, which is a file and needs no server, for the processes of one
// machine, or PostgreSQL, for any number of machines. It is one store over both.
//
//	store, err := sql.OpenSQLite(ctx, "debates.db")
//	store, err := sql.OpenPostgres(ctx, "postgres://user:password@host/database")
//	engine := &debate.Engine{Store: store, …}
//	defer store.Close() // after engine.Shutdown
//
// # What is kept
//
// What Append has acknowledged is on the disk: SQLite's connection that writes has synchronous=FULL, and PostgreSQL
// has its own synchronous_commit, which is on unless somebody turned it off. A commit is there as a whole or not at
// all. If Append fails, or its context ends while the database works, the outcome may be unknown, and the error says
// so; the same writer tries again, and an earlier try that has succeeded is recognised. What the database cannot do (it
// is locked, its server is gone, the disk is full) is an error, never success; the next call tries anew, on a new
// connection if need be.
//
// Leases go by the clock of the database, so that the clocks of several machines may differ. SQLite's leases do not
// wait for the disk: whoever holds one is on this machine, and a power cut ends both. In PostgreSQL only a release does
// not wait; one that is lost lets the lease run out.
//
// # What it costs
//
// A step of a debate is one statement, one round trip and one wait for the disk, and what it writes does not grow with
// the debate. Appends to different debates that come at the same time share a transaction (one in SQLite, up to two at
// once in PostgreSQL), so that a thousand debates do not wait a thousand times; one that comes alone waits for nobody.
// One that the database refuses fails alone.
//
// # The tables
//
//	debate          a row per debate: what a list tells of it
//	debate_commit   a row per commit: its events as JSON, one a line
//	debate_label    labels, to find debates by
//	debate_lease    who runs which debate
//	debate_version  what the database was brought to
//
// They are plain tables with plain texts, and a program may read them:
//
//	SELECT c.body FROM debate d JOIN debate_commit c ON c.key / 4294967296 = d.no WHERE d.id = 'cars' ORDER BY c.key
//
// Opening a database brings it to the version of this release, under a lock, in one transaction; any number of
// processes may open an empty one at once. One that a newer release has been at is refused: [*VersionError].
//
// All ids, labels and texts travel as parameters. Bodies are JSON, in which PostgreSQL's text has no trouble with
// NUL; where a raw message holds what is not UTF-8, U+FFFD is written, which is what any decoder would have read.
// A debate's log holds its secret seed and all that was said: the file of SQLite is for the eyes of one user only,
// and errors do not show the password of a URL.
//
// # Lists
//
// All conditions of a [debate.Filter] are the query's; state, labels, times and the order of ids have indexes. Text is
// first looked for by the database with LIKE, in all bodies of the debates that meet the other conditions, then by
// [debate.Filter.Finds] in what it has found. Lists and logs are read in pages, and no connection is held between them:
// a loop over one may use the store.
//
// # PostgreSQL behind a pooler
//
// Statements are prepared once per connection. A pooler that hands connections out per transaction must know of
// that (PgBouncer since 1.21), or the URL must say ?default_query_exec_mode=exec.
package sql
