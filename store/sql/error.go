package sql

import (
	"errors"
	"fmt"
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

// failed adds what failed to an error. It returns nil for nil.
func failed(op string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("sql: %s: %w", op, err)
}
