//go:build unix

package tool

import (
	"os"
	"syscall"
)

// openFlag opens for reading. It does not wait for a writer if the file has become a pipe in the
// meantime.
const openFlag = os.O_RDONLY | syscall.O_NONBLOCK
