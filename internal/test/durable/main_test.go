// Package durable_test holds what is promised of a debate whose process dies, hands over or has rivals. The
// test binary starts itself again for each process that is needed.
//
//	go test -v .            a sample of the failpoints, of each kind some; each proof prints its figure
//	go test -v . -kill.all  all failpoints, and each again with a second kill in the process that goes on
//	go test -bench . .      what it costs that every step is durable
package durable_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

var killAll = flag.Bool("kill.all", false, "kill at every failpoint, and a second time in the process that goes on")

func TestMain(m *testing.M) {
	if text := os.Getenv(orderVariable); text != "" {
		os.Exit(obey(text))
	}
	goleak.VerifyTestMain(suite{m})
}

// suite runs the tests, and stops the PostgreSQL server that some of them have started.
type suite struct{ *testing.M }

func (s suite) Run() int {
	code := s.M.Run()
	if err := cluster.stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

// figuref prints what a proof has found.
func figuref(format string, args ...any) { fmt.Printf("    "+format+"\n", args...) }
