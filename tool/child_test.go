package tool_test

import (
	"os"
	"syscall"
	"testing"
)

// childVariable makes the test binary play another program: the one that its value names.
const childVariable = "TOOL_TEST_CHILD"

func TestMain(m *testing.M) {
	play, ok := map[string]func(args []string) int{"writer": writerChild, "program": programChild, "host": hostChild}[os.Getenv(childVariable)]
	if ok {
		syscall.Exit(play(os.Args[1:])) // not os.Exit, which prints something where coverage is counted
	}
	os.Exit(m.Run())
}
