// Package durable_test holds what is promised of a debate whose process dies, hands over or has rivals. The
// test binary starts itself again for each process that is needed.
//
//	go test -v .            a sample of the failpoints, of each kind some; each proof prints its figure
//	go test -v . -kill.all  all failpoints, and each again with a second kill in the process that goes on
package durable_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage/process"
)

var killAll = flag.Bool("kill.all", longform.Asked(), "kill at every failpoint, and a second time in the process that goes on")

func TestMain(m *testing.M) {
	process.Obey(order.perform)
	code := m.Run()
	err := cluster.stop()
	if code == 0 && err == nil {
		for range 300 { // some goroutines take their time to end on a busy machine: each look waits a little for them
			if err = goleak.Find(); err == nil {
				break
			}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// figuref prints what a proof has found.
func figuref(format string, args ...any) { fmt.Printf("    "+format+"\n", args...) }
