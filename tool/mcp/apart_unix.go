//go:build unix

package mcp

import (
	"os/exec"
	"syscall"
)

// apart keeps a command from getting the Ctrl-C that is meant for this program, unless the caller has decided otherwise.
func apart(c *exec.Cmd) {
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	}
}
