//go:build !unix

package tool

import "os"

// openFlag opens for reading.
const openFlag = os.O_RDONLY

// changeFlag opens what may be written, to read it.
const changeFlag = os.O_RDWR
