//go:build unix

package tool_test

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

// alone lets a program outlive whoever ends the group that it was started in.
func alone(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// emptied waits until what was written to a pipe has been read, on systems that say how much has not.
func emptied(pipe *os.File) {
	const unread = 0x541b // FIONREAD of Linux
	for left := int32(1); runtime.GOOS == "linux" && left > 0; <-time.After(time.Millisecond) {
		if _, _, failed := syscall.Syscall(syscall.SYS_IOCTL, pipe.Fd(), unread, uintptr(unsafe.Pointer(&left))); failed != 0 {
			return
		}
	}
}

func killSelf() int {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}
