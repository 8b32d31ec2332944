package tool

import "syscall"

// mortal lets the program die with this process, even if that is killed.
func mortal(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
