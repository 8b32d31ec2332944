package sql

import (
	"errors"
	"fmt"

	"github.com/agonist-dev/debate/store"
)

// ErrClosed reports that the store or the bus was closed.
var ErrClosed = errors.New("sql: the store is closed")

// VersionError reports that a newer release has migrated the database, so this release refuses it.
type VersionError struct {
	Have int // the version of the database
	Know int // the newest version that this release supports
}

// Error returns both versions.
func (e *VersionError) Error() string {
	return fmt.Sprintf("the database has version %d, and this release supports versions up to %d: use a newer release", e.Have, e.Know)
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

// failed adds what failed to an error, and what it means: that the store was closed, or what an error of SQLite says. It returns
// nil for nil.
func failed(op string, err error) error {
	if err == nil {
		return nil
	}
	if err.Error() == poolClosed {
		err = ErrClosed
	}
	if meaning := sqliteMeaning(err); meaning != nil {
		return fmt.Errorf("sql: %s: %w: %w", op, meaning, err)
	}
	return fmt.Errorf("sql: %s: %w", op, err)
}
