package sql

import (
	stdsql "database/sql"

	"github.com/jackc/pgx/v5"
)

// Tx is a transaction of the host program, or one in which the store calls it. Exactly one field is set.
type Tx struct {
	SQL *stdsql.Tx
	Pgx pgx.Tx // of the host program alone: the store's own transactions are of database/sql
}
