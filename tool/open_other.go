//go:build !unix

package tool

import "os"

// openFlag opens for reading.
const openFlag = os.O_RDONLY
