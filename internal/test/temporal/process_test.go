package temporal_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/test/temporal/server"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/runtime/temporal"
	"github.com/agonist-dev/debate/store/sql"
)

// queue is the task queue of all tests.
const queue = "debates"

// lease is that of all workers: how long a killed one is waited for.
const lease = 2 * time.Second

// order is what a process does.
type order struct {
	Task    string        `json:"task"` // serve or work
	Folder  string        `json:"folder"`
	Port    int           `json:"port"`
	Long    int           `json:"long,omitempty"`    // after how many events a history is long
	Latency time.Duration `json:"latency,omitempty"` // of a call
	Poor    bool          `json:"poor,omitempty"`    // a worker without providers
}

// obey does what an order says. It returns once the standard input is at its end: with the test that has started it.
func obey(text string) int {
	var o order
	err := json.Unmarshal([]byte(text), &o)
	if err == nil {
		err = o.do()
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func (o *order) do() error {
	ctx := context.Background()
	var end func() error
	switch o.Task {
	case "serve":
		s, err := server.Start(server.Options{
			File: filepath.Join(o.Folder, "temporal.db"), Port: o.Port, LongHistory: o.Long,
			Attributes: map[string]enums.IndexedValueType{
				temporal.StateAttribute: enums.INDEXED_VALUE_TYPE_KEYWORD, temporal.FlowAttribute: enums.INDEXED_VALUE_TYPE_KEYWORD,
				temporal.LabelsAttribute: enums.INDEXED_VALUE_TYPE_KEYWORD_LIST,
			},
		})
		if err != nil {
			return err
		}
		end = s.Stop
	case "work":
		engine, err := o.engine(ctx)
		if err != nil {
			return err
		}
		connection, err := dial(ctx, o.Port)
		if err != nil {
			return err
		}
		w := worker.New(connection, queue, worker.Options{WorkerStopTimeout: 5 * time.Second})
		if err := temporal.Register(w, engine); err != nil {
			return err
		}
		if err := w.Start(); err != nil {
			return err
		}
		end = func() error { w.Stop(); return nil }
	default:
		return fmt.Errorf("%q is no task", o.Task)
	}
	fmt.Println("ready")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return end()
}

// engine is that of a worker, or of the test. Its provider notes each request that it is asked.
func (o *order) engine(ctx context.Context) (*debate.Engine, error) {
	store, err := sql.OpenSQLite(ctx, filepath.Join(o.Folder, "debates.db"))
	if err != nil {
		return nil, err
	}
	ledger, err := os.OpenFile(filepath.Join(o.Folder, "ledger"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	engine, script := stage.Engine(stage.TwoDebaters())
	engine.Store, engine.Lease, engine.TrustModels = store, lease, true
	engine.Seed = func() string { return "seed" }
	script.Record = false
	reply := script.Reply
	script.Reply = func(r *provider.Request) scripted.Reply {
		_, _ = ledger.WriteString(r.ID + "\n")
		answer := reply(r)
		answer.Delay = o.Latency
		return answer
	}
	if o.Poor {
		engine.Providers = nil
	}
	return engine, nil
}

// dial waits until the server answers.
func dial(ctx context.Context, port int) (client.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		connection, err := client.DialContext(ctx, client.Options{HostPort: server.Address(port), Namespace: server.Namespace, Logger: quiet{}})
		if err == nil {
			return connection, nil
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// process is a process of a test. It ends with the test.
type process struct {
	cmd   *exec.Cmd
	input io.Closer
	order order
}

// launch starts a process, and returns once it is ready.
func launch(t testing.TB, o order) *process {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	text, err := json.Marshal(o)
	require.NoError(t, err)
	p := &process{cmd: exec.Command(self), order: o}
	p.cmd.Env = append(os.Environ(), orderVariable+"="+string(text))
	p.cmd.Stderr = os.Stderr
	p.input, err = p.cmd.StdinPipe()
	require.NoError(t, err)
	output, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() { p.kill() })
	line, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready", strings.TrimSpace(line))
	return p
}

// kill ends a process as kill -9 does. It may have ended.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// again starts a process anew that was killed.
func (p *process) again(t testing.TB) *process {
	t.Helper()
	return launch(t, p.order)
}

// stage is a server, and a test's own connection to it.
type cluster struct {
	order  order
	server *process
	client *temporal.Client
}

func newCluster(t testing.TB, o order) *cluster {
	t.Helper()
	var err error
	o.Folder, o.Task = t.TempDir(), "serve"
	o.Port, err = server.FreePort()
	require.NoError(t, err)
	c := &cluster{order: o, server: launch(t, o)}
	engine, err := o.engine(t.Context())
	require.NoError(t, err)
	connection, err := dial(t.Context(), o.Port)
	require.NoError(t, err)
	t.Cleanup(connection.Close)
	c.client = &temporal.Client{Engine: engine, Temporal: connection, TaskQueue: queue, Attributes: true}
	return c
}

// worker starts a worker.
func (c *cluster) worker(t testing.TB) *process {
	t.Helper()
	o := c.order
	o.Task = "work"
	return launch(t, o)
}

// quiet is a logger of Temporal's that says nothing.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}
