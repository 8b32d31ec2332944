package sql

import (
	"errors"
	"fmt"
)

// ErrClosed says that the store was closed.
var ErrClosed = errors.New("sql: the store is closed")

// VersionError says that a database was written by a newer release than this one, which therefore leaves
// it alone.
type VersionError struct {
	Have int // the version of the database
	Know int // the newest one that this release knows
}

// Error says which release it takes.
func (e *VersionError) Error() string {
	return fmt.Sprintf("the database has version %d, and this release knows versions up to %d: it takes a newer release", e.Have, e.Know)
}

// failed says what could not be done; of nil it is nil.
func failed(op string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("sql: %s: %w", op, err)
}
