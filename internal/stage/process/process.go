// Package process lets a test have other processes: its own program, which is started again with an order. What a process does is up to
// the test. Only tests import it.
package process

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// variable is the variable of the environment that makes a program another process of a test. It holds the order as JSON.
const variable = "DEBATE_TEST_ORDER"

// Process is another process of a test. It ends with the test, and with this process, however that ends: its input is then over.
type Process[O any] struct {
	Order O

	cmd    *exec.Cmd
	input  io.WriteCloser
	output *bufio.Scanner
}

// Launch starts a process that does what an order says. The order travels as JSON. If it has a field "off", a duration, the clock of the
// process leads by that.
func Launch[O any](t testing.TB, order O) *Process[O] {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	text, err := json.Marshal(order)
	require.NoError(t, err)
	p := &Process[O]{Order: order, cmd: exec.Command(self)}
	p.cmd.Env = append(os.Environ(), variable+"="+string(text))
	p.cmd.Stderr = os.Stderr
	p.input, err = p.cmd.StdinPipe()
	require.NoError(t, err)
	output, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	p.output = bufio.NewScanner(output)
	require.NoError(t, p.cmd.Start())
	t.Cleanup(p.Kill)
	return p
}

// Obey does what the order of this process says, and ends the process. It returns only in the process of the tests, which has no order.
func Obey[O any](do func(O) error) {
	text, ok := os.LookupEnv(variable)
	if !ok {
		return
	}
	var order O
	var clock struct {
		Off time.Duration `json:"off"`
	}
	err := errors.Join(json.Unmarshal([]byte(text), &order), json.Unmarshal([]byte(text), &clock))
	if err == nil && clock.Off != 0 {
		err = setClock(clock.Off)
	}
	if err == nil {
		err = do(order)
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		syscall.Exit(1) // os.Exit would write a profile of the tests'
	}
	syscall.Exit(0)
}

// NeedsClock skips a test where the clock of a process cannot be set.
func NeedsClock(t testing.TB) {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the clock of a process is set only on Linux with amd64")
	}
}

// Say gives the process a line to read.
func (p *Process[O]) Say(t testing.TB, line string) {
	t.Helper()
	_, err := io.WriteString(p.input, line+"\n")
	require.NoError(t, err)
}

// Hear waits for a line of the process.
func (p *Process[O]) Hear(t testing.TB) string {
	t.Helper()
	if !p.output.Scan() {
		_ = p.cmd.Wait()
		require.Fail(t, "a process has ended unexpectedly", "%s", p.cmd.ProcessState)
	}
	return p.output.Text()
}

// Wait waits until the process is gone. killed: it has killed itself; else it has done what it should, and last is the last line that it
// has written.
func (p *Process[O]) Wait(t testing.TB) (last string, killed bool) {
	t.Helper()
	for p.output.Scan() {
		last = p.output.Text()
	}
	if err := p.cmd.Wait(); err == nil {
		return last, false
	}
	require.Equal(t, "signal: killed", p.cmd.ProcessState.String())
	return last, true
}

// Kill ends the process as kill -9 does. It may have ended.
func (p *Process[O]) Kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// Stop ends the input of the process, and waits until it has done what it should.
func (p *Process[O]) Stop(t testing.TB) {
	t.Helper()
	require.NoError(t, p.input.Close())
	require.NoError(t, p.cmd.Wait())
}

// PID returns the number of the process.
func (p *Process[O]) PID() int { return p.cmd.Process.Pid }

// Used returns the processor time of a process that was killed.
func (p *Process[O]) Used() time.Duration {
	return p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
}
