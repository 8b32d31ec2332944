package sql

import (
	"context"
	stdsql "database/sql"

	"github.com/jackc/pgx/v5"
)

// statements is a database or a transaction, of either driver.
type statements interface {
	// exec runs a statement, and returns how many rows it has changed.
	exec(ctx context.Context, statement string, args ...any) (changed int64, err error)
	// each calls row for each row of a query, whose columns row reads by scan. The first error ends it. row runs no statement.
	each(ctx context.Context, row func(scan scanner) error, query string, args ...any) error
}

// scanner reads the columns of a row.
type scanner func(dest ...any) error

// first reads the columns of the first row of a query, and reports whether there is one.
func first(ctx context.Context, on statements, dest []any, query string, args ...any) (found bool, err error) {
	err = on.each(ctx, func(scan scanner) error {
		if found {
			return nil
		}
		found = true
		return scan(dest...)
	}, query, args...)
	return found, err
}

// standard runs statements by package database/sql.
type standard struct{ executor }

// executor is a database or a transaction.
type executor interface {
	ExecContext(ctx context.Context, query string, args ...any) (stdsql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*stdsql.Rows, error)
}

func (s standard) exec(ctx context.Context, statement string, args ...any) (int64, error) {
	return changed(s.ExecContext(ctx, statement, args...))
}

// changed returns how many rows a statement has changed.
func changed(result stdsql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (s standard) each(ctx context.Context, row func(scan scanner) error, query string, args ...any) error {
	rows, err := s.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// native runs statements by pgx.
type native struct{ tx pgx.Tx }

func (n native) exec(ctx context.Context, statement string, args ...any) (int64, error) {
	tag, err := n.tx.Exec(ctx, statement, args...)
	return tag.RowsAffected(), err
}

func (n native) each(ctx context.Context, row func(scan scanner) error, query string, args ...any) error {
	rows, err := n.tx.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}
