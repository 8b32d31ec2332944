package river_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/provider"
	worker "github.com/agonist-dev/debate/worker/river"
)

// orderVariable makes this program a worker of a test. It holds the order as JSON.
const orderVariable = "RIVER_ORDER"

// order says how a process works.
type order struct {
	Place   place         `json:"place"`
	Name    string        `json:"name"`
	Ledger  string        `json:"ledger"` // its file
	Lease   time.Duration `json:"lease"`
	Latency time.Duration `json:"latency"` // of calls
	Slots   int           `json:"slots"`
	Calm    bool          `json:"calm"` // it polls and sweeps as rarely as it does by default
}

// process is a worker of its own. It ends with this one, however that ends: its input is then over.
type process struct {
	cmd    *exec.Cmd
	name   string
	errors *bytes.Buffer
}

// launch starts a worker, and waits until it works.
func launch(t testing.TB, o order) *process {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	text, err := json.Marshal(o)
	require.NoError(t, err)
	p := &process{cmd: exec.CommandContext(context.WithoutCancel(t.Context()), self), name: o.Name, errors: &bytes.Buffer{}}
	p.cmd.Env = append(os.Environ(), orderVariable+"="+string(text))
	p.cmd.Stderr = p.errors
	_, err = p.cmd.StdinPipe()
	require.NoError(t, err)
	output, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	t.Cleanup(p.kill)
	lines := bufio.NewScanner(output)
	require.True(t, lines.Scan(), "%s does not work: %s", o.Name, p.errors)
	return p
}

// kill ends the process as kill -9 does.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	_ = p.cmd.Wait()
}

// obey is the other side: it works until its input is over.
func obey(text string) {
	if err := serve(text); err != nil {
		fmt.Fprintln(os.Stderr, err)
		syscall.Exit(1)
	}
	syscall.Exit(0)
}

func serve(text string) error {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	ctx := context.Background()
	ledger, err := flows.OpenLedger(o.Ledger, o.Name)
	if err != nil {
		return err
	}
	var b *base
	for began := time.Now(); ; { // the database may be restarting
		if b, err = o.Place.open(ctx, worker.Options{}); err == nil || time.Since(began) > patience {
			break
		}
	}
	if err != nil {
		return err
	}
	engine := engineOn(b.store, func(ctx context.Context, req *provider.Request) error {
		if err := ledger.Note(req); err != nil {
			return err
		}
		return slowly(o.Latency)(ctx, req)
	})
	engine.Lease = o.Lease
	config := worker.Config{Queues: map[string]int{worker.DefaultQueue: o.Slots}, Sweep: time.Second, River: soon()}
	if o.Calm {
		config.Sweep, config.River = 0, nil
	}
	w, err := b.jobs.Worker(engine, config)
	if err != nil {
		return err
	}
	for began := time.Now(); ; {
		if err = w.Start(ctx); err == nil || time.Since(began) > patience {
			break
		}
	}
	if err != nil {
		return err
	}
	fmt.Println("working")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
