package command_test

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/cmd/debate/internal/command"
)

// TestUnwritableStores: one that may only be read is opened for reading, whatever the reason is.
func TestUnwritableStores(t *testing.T) {
	for err, want := range map[error]bool{syscall.EROFS: true, syscall.EACCES: true, syscall.ENOSPC: false, errors.New("damaged"): false} {
		assert.Equal(t, want, command.Unwritable(fmt.Errorf("open the store: %w", &fs.PathError{Op: "open", Path: "x", Err: err})), err)
	}
}
