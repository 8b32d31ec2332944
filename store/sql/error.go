package sql

import (
	"errors"
	"fmt"

	"github.com/agonist-dev/debate/store"
)

// ErrClosed reports that the store was closed.
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

// failed adds what failed to an error. It returns nil for nil.
func failed(op string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("sql: %s: %w", op, err)
}
