package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain lets the test's program be a worker too.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "-work") {
		if err := run(context.Background(), os.Stdout, os.Args[1:]); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err)
			syscall.Exit(1)
		}
		syscall.Exit(0)
	}
	os.Exit(m.Run())
}

func TestADebateOutlivesItsWorker(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out, nil))
	shown, last, _ := strings.Cut(out.String(), "4 calls, ")
	assert.Equal(t, `The debate is submitted, and has a job. Worker 1 starts.
Ada: It belongs to its log. Whoever holds the lease may speak for it, and nobody else.
Ben: A log does nothing by itself. It is the process that asks us, and pays us.
Worker 1 is killed while Ada speaks. Worker 2 starts.
Ada: My sentence was cut off with the process, and another process has asked me for it again.
Ben: Then it is the job that belongs to nobody, and finds somebody each time.
`, shown)
	// A machine that stands still for longer than a lease interrupts calls too.
	assert.Regexp(t, `^4 turns; recorded and asked again: 0; in flight and asked again: [1-9]\d*\n$`, last)
	require.NoError(t, run(t.Context(), &out, []string{"-h"}))
	require.Error(t, run(t.Context(), &out, []string{"-unknown"}))
}
