//go:build unix

package tool

import (
	"os"
	"syscall"
)

// openFlag opens for reading. It does not wait for a writer if the file has become a pipe in the
// meantime.
const openFlag = os.O_RDONLY | syscall.O_NONBLOCK

// changeFlag opens what may be written, to read it, and does not wait either.
const changeFlag = os.O_RDWR | syscall.O_NONBLOCK
