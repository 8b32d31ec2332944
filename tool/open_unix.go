//go:build unix

package tool

import (
	"os"
	"syscall"
)

// openFlag opens for reading, without waiting for whoever writes into what has become a pipe in the meantime.
const openFlag = os.O_RDONLY | syscall.O_NONBLOCK
