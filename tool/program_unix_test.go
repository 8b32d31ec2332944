//go:build unix

package tool_test

import (
	"os"
	"os/exec"
	"syscall"
)

// alone lets a program outlive whoever ends the group that it was started in.
func alone(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

func killSelf() int {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}
