//go:build !unix

package tool_test

import "os/exec"

func alone(*exec.Cmd) {}

func killSelf() int { return 1 }
