//go:build unix && !linux

package tool

import "syscall"

// mortal does nothing: on this system a program outlives this process.
func mortal(*syscall.SysProcAttr) {}
