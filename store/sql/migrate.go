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

// ready makes sure of the tables, as Options.Migrate says.
func (s *Store) ready(ctx context.Context, how Migration) error {
	if how == MigrateNever {
		return nil
	}
	scripts, err := migrations(s.dialect.name)
	if err != nil {
		return err
	}
	if how == MigrateAuto {
		return migrate(ctx, s.write, s.dialect, scripts)
	}
	have, err := version(ctx, s.read, s.dialect, len(scripts))
	if err == nil && have < len(scripts) {
		err = &VersionError{Have: have, Know: len(scripts)}
	}
	return err
}

// Version returns the version of the tables now, which is 0 if there are none, and the newest one that this release knows. If the tables
// are newer, and this release cannot use them, the error is a [*VersionError].
func (s *Store) Version(ctx context.Context) (have, know int, err error) {
	scripts, err := migrations(s.dialect.name)
	if err == nil {
		have, err = version(ctx, s.read, s.dialect, len(scripts))
	}
	return have, len(scripts), failed("version", err)
}

// migrate runs the scripts that the database has not had yet. Other processes that do the same wait, and
// then find nothing left to do. A database that has had them all is only read.
func migrate(ctx context.Context, db *stdsql.DB, d *dialect, scripts []string) error {
	return d.transact(ctx, func(ctx context.Context) error { return advance(ctx, db, d, scripts) })
}

func advance(ctx context.Context, db *stdsql.DB, d *dialect, scripts []string) error {
	if have, err := version(ctx, db, d, len(scripts)); err != nil || have >= len(scripts) {
		return err
	}
	tx, err := d.begin(ctx, db)
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
		if err := advanceTo(ctx, tx, scripts[have], have+1); err != nil {
			return fmt.Errorf("migration to version %d: %w", have+1, err)
		}
	}
	return tx.Commit()
}

// oldest is the oldest version whose programs can use the tables: the first one whose programs look for it. Only a script that breaks
// its predecessors raises it.
const oldest = 8

// advanceTo runs the script that leads to a version.
func advanceTo(ctx context.Context, tx *stdsql.Tx, script string, to int) error {
	if _, err := tx.ExecContext(ctx, script); err != nil {
		if postgresCode(err) == postgresDenied {
			err = fmt.Errorf("%w: %w", errOwner, err)
		}
		return err
	}
	if to < oldest { // whose table of versions has one column
		_, err := tx.ExecContext(ctx, `INSERT INTO debate_version (version) VALUES ($1)`, to)
		return err
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO debate_version (version, oldest) VALUES ($1, $2)`, to, oldest)
	return err
}

// querier is a database or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *stdsql.Row
}

// version returns the version of a database, or 0 if it has no tables for conversations yet. A newer one that programs of version know
// can use is no error.
func version(ctx context.Context, q querier, d *dialect, know int) (have int, err error) {
	var versioned bool
	if err := q.QueryRowContext(ctx, d.versioned).Scan(&versioned); err != nil || !versioned {
		return 0, err
	}
	if err := q.QueryRowContext(ctx, `SELECT coalesce(max(version), 0) FROM debate_version`).Scan(&have); err != nil {
		return 0, err
	}
	if have <= know {
		return have, nil
	}
	var needs int
	if err := q.QueryRowContext(ctx, `SELECT coalesce(max(oldest), 0) FROM debate_version`).Scan(&needs); err != nil {
		return have, err
	}
	if needs > know {
		return have, &VersionError{Have: have, Know: know}
	}
	return have, nil
}
