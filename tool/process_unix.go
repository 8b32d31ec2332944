//go:build unix

package tool

import (
	"os/exec"
	"syscall"
)

// isolate starts a program in a session of its own: as the first of a process group, and without the terminal of this
// process, which it could read from.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	mortal(cmd.SysProcAttr)
}

// interrupt asks all programs of the group to end.
func interrupt(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// kill ends all programs of the group. The group outlives its first program if others are in it; if none is, the number
// is not given to another group that soon.
func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
