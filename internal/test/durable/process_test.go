package durable_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/stage/offclock"
)

// orderVariable is the variable of the environment that makes this program another process of a test. It
// holds the order as JSON.
const orderVariable = "DURABLE_ORDER"

// order says what a process does.
type order struct {
	Task    string        `json:"task"` // the name of one of the tasks
	Place   place         `json:"place"`
	Ledger  string        `json:"ledger"` // its file
	Play    string        `json:"play,omitempty"`
	IDs     []string      `json:"ids,omitempty"`
	Kill    death         `json:"kill,omitzero"`
	Lease   time.Duration `json:"lease,omitempty"`
	Latency time.Duration `json:"latency,omitempty"` // of calls
	Off     time.Duration `json:"off,omitempty"`     // what the clock of the process leads by
	Starts  bool          `json:"starts,omitempty"`  // by Engine.Start, and not by Engine.Open
}

// process is another process of a test. It ends with this one, however that ends: its input is then over.
type process struct {
	cmd    *exec.Cmd
	input  io.WriteCloser
	output *bufio.Scanner
	errors bytes.Buffer
}

// launch starts a process.
func launch(t testing.TB, o order) *process {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	text, err := json.Marshal(o)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	p := &process{cmd: exec.CommandContext(ctx, self)}
	p.cmd.Env = append(os.Environ(), orderVariable+"="+string(text))
	p.cmd.Stderr = &p.errors
	p.input, err = p.cmd.StdinPipe()
	require.NoError(t, err)
	output, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	p.output = bufio.NewScanner(output)
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() { // of a test that has failed
		cancel()
		_ = p.cmd.Wait()
	})
	return p
}

// say gives the process a line to read.
func (p *process) say(t testing.TB, line string) {
	t.Helper()
	_, err := io.WriteString(p.input, line+"\n")
	require.NoError(t, err)
}

// hear waits for a line of the process.
func (p *process) hear(t testing.TB) string {
	t.Helper()
	if !p.output.Scan() {
		_ = p.cmd.Wait()
		require.Fail(t, "a process has ended unexpectedly", "%s\n%s", p.cmd.ProcessState, p.errors.String())
	}
	return p.output.Text()
}

// wait waits until the process is gone. killed: it has killed itself; else it has done what it should, and
// last is the last line that it has written.
func (p *process) wait(t testing.TB) (last string, killed bool) {
	t.Helper()
	for p.output.Scan() {
		last = p.output.Text()
	}
	if err := p.cmd.Wait(); err == nil {
		return last, false
	}
	_ = p.input.Close()
	require.Equal(t, killedStatus, p.cmd.ProcessState.String(), p.errors.String())
	return last, true
}

// killedStatus is how the end of a process by kill -9 reads.
const killedStatus = "signal: killed"

// pid is the number of the process.
func (p *process) pid() int { return p.cmd.Process.Pid }

// obey is the other side: it does what an order says, and yields the exit code.
func obey(text string) int {
	var o order
	err := json.Unmarshal([]byte(text), &o)
	if err == nil && o.Off != 0 {
		err = offclock.Set(o.Off)
	}
	if err == nil {
		err = o.perform()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
