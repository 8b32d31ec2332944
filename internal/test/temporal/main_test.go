// Package temporal_test plays debates on a real Temporal server, with workers that are processes. It is a module of its own outside
// of go.work, because building the server takes minutes.
//
//	go test -v .                                  a sample; each proof prints its figures
//	go test -v -run Kill -kills 300 -timeout 2h . more kills
//	go test -v -run Long -rounds 500 .            a long debate
//	go test -v -run Throughput -crowd 2000 -latency 1s -places 10 -timeout 1h .
//	go test -run Record -release v0.2.0 .         histories of a release, for the tests of runtime/temporal
package temporal_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/agonist-dev/debate/internal/stage/process"
)

func TestMain(m *testing.M) {
	process.Obey(func(o order) error { return o.do() })
	os.Exit(m.Run())
}

// figuref prints what a proof has found.
func figuref(format string, args ...any) { fmt.Printf("    "+format+"\n", args...) }
