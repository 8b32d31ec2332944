// Package temporal_test plays debates on a real Temporal server, with workers that are processes. It is a module of its own outside
// of go.work, because building the server takes minutes.
//
//	go test -v .                                  a sample; each proof prints its figures
//	go test -v -run Kill -kills 300 -timeout 1h . more kills
//	go test -v -run Long -rounds 500 .            a long debate
//	go test -v -run Throughput -crowd 2000 -latency 1s -places 10 -timeout 1h .
package temporal_test

import (
	"fmt"
	"os"
	"syscall"
	"testing"
)

// orderVariable makes this program another process of a test. It holds the order as JSON.
const orderVariable = "DEBATE_TEMPORAL_ORDER"

func TestMain(m *testing.M) {
	if text := os.Getenv(orderVariable); text != "" {
		syscall.Exit(obey(text)) // os.Exit would write a profile of the test's
	}
	os.Exit(m.Run())
}

// figuref prints what a proof has found.
func figuref(format string, args ...any) { fmt.Printf("    "+format+"\n", args...) }
