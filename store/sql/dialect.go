package sql

import (
	"context"
	stdsql "database/sql"
)

// dialect is what is different between databases. Everything else is one text for all of them.
type dialect struct {
	name string // also the folder of its migrations
	// now is the database's clock, in microseconds since 1970.
	now string
	// like is the operator that finds a pattern whatever the case of ASCII letters.
	like string
	// ends yields id, number and last event of the debates whose ids are in a JSON array.
	ends string
	// release deletes a lease.
	release string
	// versioned reports whether there is a table of versions.
	versioned string
	// lock makes a transaction the only one that migrates.
	lock string
	// write commits steps of different debates, which come in the order of their ids. It sets kept of
	// those that are committed; what is not, though there is no error, finds the log at another end.
	write func(ctx context.Context, db *stdsql.DB, steps []*step) error
	// lend runs a statement on leases.
	lend func(ctx context.Context, db *stdsql.DB, statement string, args ...any) (stdsql.Result, error)
	// again reports whether a transaction that has failed so often, at last with this error, has failed only
	// because of others that ran beside it, and is to be tried again.
	again func(err error, tried int) bool
	// single reports whether an error may be due to one of several steps, so that the others succeed
	// without it.
	single func(err error) bool
}
