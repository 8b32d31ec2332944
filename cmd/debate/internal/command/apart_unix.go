//go:build unix

package command

import (
	"os/exec"
	"syscall"
)

// apart keeps a program from getting the Ctrl-C that is meant for this one.
func apart(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
