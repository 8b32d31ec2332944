package tool

import (
	"fmt"
	"os"
	"syscall"
)

// mortal lets the program die with this process, even if that is killed.
func mortal(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// pathOf returns a path of an open folder that leads to it whatever stands at its place by now. It is for a program to start in:
// between fork and exec that has the open files of this process, under their numbers.
func pathOf(folder *os.File, named string) string {
	path := fmt.Sprintf("/proc/self/fd/%d", folder.Fd())
	if _, err := os.Stat(path); err != nil {
		return named // there is no /proc
	}
	return path
}
