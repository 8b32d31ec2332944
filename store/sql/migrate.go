package sql

import (
	"context"
	stdsql "database/sql"
	"embed"
	"fmt"
	"io/fs"
)

//go:embed schema
var schemas embed.FS

// migrations returns the scripts that lead from an empty database to the present version, one script for
// each version.
func migrations(dialect string) ([]string, error) {
	files, err := fs.Glob(schemas, "schema/"+dialect+"/*.sql") // in the order of their names
	if err != nil {
		return nil, err
	}
	scripts := make([]string, len(files))
	for i, file := range files {
		script, err := schemas.ReadFile(file)
		if err != nil {
			return nil, err
		}
		scripts[i] = string(script)
	}
	return scripts, nil
}

func (s *Store) migrate(ctx context.Context) error {
	scripts, err := migrations(s.dialect.name)
	if err != nil {
		return err
	}
	return migrate(ctx, s.write, s.dialect, scripts)
}

// migrated fails unless the database has the present version.
func (s *Store) migrated(ctx context.Context) error {
	scripts, err := migrations(s.dialect.name)
	if err != nil {
		return err
	}
	have, err := version(ctx, s.read, s.dialect, len(scripts))
	if err == nil && have < len(scripts) {
		err = fmt.Errorf("the database has version %d of %d and is opened read-only: open it for writing to migrate it", have, len(scripts))
	}
	return err
}

// migrate runs the scripts that the database has not had yet. Other processes that do the same wait, and
// then find nothing left to do. A database that has had them all is only read.
func migrate(ctx context.Context, db *stdsql.DB, d *dialect, scripts []string) error {
	return d.transact(ctx, func(ctx context.Context) error { return advance(ctx, db, d, scripts) })
}

func advance(ctx context.Context, db *stdsql.DB, d *dialect, scripts []string) error {
	if have, err := version(ctx, db, d, len(scripts)); err != nil || have == len(scripts) {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, d.lock); err != nil {
		return err
	}
	have, err := version(ctx, tx, d, len(scripts))
	if err != nil {
		return err
	}
	for ; have < len(scripts); have++ {
		if _, err := tx.ExecContext(ctx, scripts[have]); err != nil {
			return fmt.Errorf("migration to version %d: %w", have+1, err)
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO debate_version (version) VALUES ($1)`, have+1); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// querier is a database or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *stdsql.Row
}

// version returns the version of a database, or 0 if it has no tables for conversations yet.
func version(ctx context.Context, q querier, d *dialect, know int) (have int, err error) {
	var versioned bool
	if err := q.QueryRowContext(ctx, d.versioned).Scan(&versioned); err != nil || !versioned {
		return 0, err
	}
	if err := q.QueryRowContext(ctx, `SELECT coalesce(max(version), 0) FROM debate_version`).Scan(&have); err != nil {
		return 0, err
	}
	if have > know {
		return have, &VersionError{Have: have, Know: know}
	}
	return have, nil
}
