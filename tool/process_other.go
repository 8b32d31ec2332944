//go:build !unix

package tool

import "os/exec"

func isolate(*exec.Cmd) {}

// interrupt ends the program: this system has no way to ask.
func interrupt(cmd *exec.Cmd) { kill(cmd) }

// kill ends the program, but none that it has started.
func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
