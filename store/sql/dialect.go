package sql

import (
	"context"
	stdsql "database/sql"
)

// dialect holds what differs between databases. Everything else is the same SQL for all of them.
type dialect struct {
	name string // also the folder of its migrations
	// now is the database's clock, in microseconds since 1970.
	now string
	// began is the time at which the statement has begun, by that clock: an index can be searched by it.
	began string
	// due is the condition that a conversation needs a process now, in exactly the words of an index.
	due string
	// dueIndex makes a query with that condition use the index; "": the database finds that by itself.
	dueIndex string
	// like is the operator that matches a pattern and ignores the case of ASCII letters.
	like string
	// json returns the expression of a number in the JSON of a column, which may be empty.
	json func(column string, path ...string) string
	// ends returns id, number and last event of the conversations whose ids are in a JSON array.
	ends string
	// release deletes a lease.
	release string
	// versioned returns whether there is a table of versions.
	versioned string
	// lock makes sure that only one transaction migrates at a time.
	lock string
	// write commits steps of different conversations, in the order of their ids. It sets kept of each step that
	// is committed. If there is no error and kept is not set, the log of the step ends elsewhere.
	write func(ctx context.Context, db *stdsql.DB, steps []*step) error
	// add writes one step in a transaction, and reports whether it is kept if the transaction is committed.
	add func(ctx context.Context, on statements, s *step) (kept bool, err error)
	// begin begins a transaction that writes.
	begin func(ctx context.Context, db *stdsql.DB) (*stdsql.Tx, error)
	// alone runs a statement that writes, as a transaction of its own, and returns how many rows it has changed.
	alone func(ctx context.Context, db *stdsql.DB, statement string, args ...any) (changed int64, err error)
	// turn waits until this process may write. end is called after the transaction.
	turn func(ctx context.Context) (end func())
	// rewrite replaces the body of a commit, whose key is $1, by $2. The commit holds nothing else of its events.
	rewrite string
	// purge removes from the database's other files what the tables no longer hold.
	purge func(ctx context.Context, db *stdsql.DB) error
	// vacuum are the statements that write all tables anew.
	vacuum []string
	// lend does the same with a statement on leases, or on what may get lost as they may.
	lend func(ctx context.Context, db *stdsql.DB, statement string, args ...any) (changed int64, err error)
	// again reports whether a transaction that was tried that often and failed with this error should be
	// retried, because it failed only on account of concurrent transactions.
	again func(err error, tried int) bool
	// single reports whether an error may be due to one of several steps, so that the others would
	// succeed without it.
	single func(err error) bool
}
