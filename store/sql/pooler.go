package sql

import (
	"context"
	stdsql "database/sql"
	"database/sql/driver"
	"errors"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// errPooler reports that a URL goes to a pooler: what a connection begins with was refused, or swallowed.
var errPooler = errors.New("the URL goes to a pooler, which lends a connection for each transaction")

// refusesSettings reports whether connecting has failed because of a setting that the connection was to begin with.
func refusesSettings(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "08P01" && strings.Contains(e.Message, "startup parameter")
}

// postgresPooled connects to a pooler. Statements have no names, since the next one may run elsewhere. No request to cancel a statement
// is sent: some poolers crash on one, or cancel another client's statement.
func postgresPooled(config *pgx.ConnConfig, options []stdlib.OptionOpenDB) driver.Connector {
	if config.DefaultQueryExecMode != pgx.QueryExecModeSimpleProtocol {
		config.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	dial := config.DialFunc
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if ctx.Value(connecting{}) == nil { // pgx dials to cancel a statement, with a context of its own
			return nil, errors.New("the URL goes to a pooler, to which no request to cancel a statement is sent")
		}
		return dial(ctx, network, address)
	}
	return pooledConnector{stdlib.GetConnector(*config, options...)}
}

// connecting is the key of contexts with which a connection is made.
type connecting struct{}

type pooledConnector struct{ driver.Connector }

func (c pooledConnector) Connect(ctx context.Context) (driver.Conn, error) {
	return c.Connector.Connect(context.WithValue(ctx, connecting{}, true))
}

// postgresLocal are the settings of a transaction whose connection is another client's before and after. They end with it.
const postgresLocal = `
	SET LOCAL lock_timeout = '200ms'; SET LOCAL idle_in_transaction_session_timeout = '5s'; SET LOCAL enable_seqscan = off`

// postgresBeginShortly begins a transaction behind a pooler.
func postgresBeginShortly(ctx context.Context, db *stdsql.DB) (*stdsql.Tx, error) {
	tx, err := db.BeginTx(ctx, &stdsql.TxOptions{Isolation: stdsql.LevelReadCommitted})
	if err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, postgresLocal); err != nil {
		_ = tx.Rollback()
		return nil, err
	}
	return tx, nil
}

// postgresAloneShortly runs a statement in a transaction.
func postgresAloneShortly(ctx context.Context, db *stdsql.DB, statement string, args ...any) (int64, error) {
	tx, err := postgresBeginShortly(ctx, db)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }()
	n, err := standard{tx}.exec(ctx, statement, args...)
	if err != nil {
		return 0, err
	}
	return n, tx.Commit()
}

// postgresWriteShortly writes steps in one transaction: all of them are kept, or none.
func postgresWriteShortly(ctx context.Context, db *stdsql.DB, steps []*step) (err error) {
	tx, err := postgresBeginShortly(ctx, db)
	if err != nil {
		return err
	}
	defer func() {
		_ = tx.Rollback()
		if err != nil {
			for _, s := range steps {
				s.kept = false
			}
		}
	}()
	on := standard{tx}
	for _, s := range steps {
		if s.tells() {
			if s.kept, err = postgresAdd(ctx, on, s); err != nil {
				return err
			}
		}
	}
	if err := postgresShare(ctx, on, steps); err != nil {
		return err
	}
	return tx.Commit()
}
