package sql

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/agonist-dev/debate/store"
)

// ErrClosed reports that the store or the bus was closed. It is an [fs.ErrClosed].
var ErrClosed error = closedError{}

type closedError struct{}

func (closedError) Error() string { return "sql: the store is closed" }

func (closedError) Is(target error) bool { return target == fs.ErrClosed }

// ErrReadOnly reports that a PostgreSQL server accepts no changes.
var ErrReadOnly = errors.New("the server is a read-only standby, or default_transaction_read_only is on: " +
	"name the primary, or several hosts with target_session_attrs=read-write")

// errOlder says what helps where [MigrateNever] was wrong.
var errOlder = errors.New("tables are missing or older: run debate migrate --store URL, or open the database with MigrateAuto")

// errRights says what helps a role that may not use a table; errOwner, one that may not change it.
var (
	errRights = errors.New("let the owner of the tables grant this role the rights that docs/guides/machines.md lists")
	errOwner  = errors.New("this role may not change the tables: let their owner run debate migrate --store URL")
)

// VersionError reports that the tables of a database have a version that this release cannot use.
//
// A release that changes tables adds to them, so that programs of the release before can work on. If one breaks them, it records the
// oldest version whose programs can use its tables: older programs refuse them with this error.
type VersionError struct {
	Have int // the version of the database; 0: it has no tables yet
	Know int // the newest version that this release knows
}

// Error returns both versions, and says what helps.
func (e *VersionError) Error() string {
	if e.Have > e.Know {
		return fmt.Sprintf("the database has version %d, and this release supports versions up to %d: use a newer release", e.Have, e.Know)
	}
	return fmt.Sprintf("the database has version %d, and this release needs %d: run debate migrate --store URL, or open it for writing with "+
		"MigrateAuto", e.Have, e.Know)
}

// damage is a [store.ErrDamaged] with the place.
type damage struct{ text string }

func damaged(id string, err error) error {
	return &damage{fmt.Sprintf("sql: the log of %s is damaged: %v", id, err)}
}

func (d *damage) Error() string { return d.text }

func (d *damage) Unwrap() error { return store.ErrDamaged }

// ErrDamaged reports that the file of a database is damaged, or is no database. What is whole in it may still be read:
// other conversations, and with SQLite's own tools ("sqlite3 debates.db .recover").
var ErrDamaged = errors.New("the file is damaged, or is no database")

// ForeignError reports that a file of SQLite belongs to another program, so it is left as it is.
type ForeignError struct {
	Table       string // one of its tables, or another object; "" if there is none
	Application int64  // the application id in its header; 0 if there is none
}

// Error says by what the other program is recognised.
func (e *ForeignError) Error() string {
	if e.Table == "" {
		return fmt.Sprintf("the file belongs to another program: its application id is %d", e.Application)
	}
	return fmt.Sprintf("the file belongs to another program: it has the table %q, and none of this library", e.Table)
}

// poolClosed is what package database/sql says after Close. It exports no value for it.
const poolClosed = "sql: database is closed"

// failed adds what failed to an error, and what it means: that the store was closed, or what an error of a database says. It returns
// nil for nil.
func failed(op string, err error) error {
	if err == nil {
		return nil
	}
	if err.Error() == poolClosed {
		err = ErrClosed
	}
	_, hosts := errors.AsType[*wakeError](err)
	for _, meaning := range []error{sqliteMeaning(err), postgresMeaning(err)} {
		if meaning != nil && (!hosts || !errors.Is(meaning, errOlder) && !errors.Is(meaning, errRights)) {
			return fmt.Errorf("sql: %s: %w: %w", op, meaning, err)
		}
	}
	return fmt.Errorf("sql: %s: %w", op, err)
}
