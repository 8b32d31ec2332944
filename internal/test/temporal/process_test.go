package temporal_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/worker"
	"google.golang.org/grpc"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/internal/stage/process"
	"github.com/agonist-dev/debate/internal/test/temporal/server"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/runtime/temporal"
	"github.com/agonist-dev/debate/store/sql"
)

// queue is the task queue of all tests.
const queue = "debates"

// lease is that of most workers: how long a killed one is waited for.
const lease = 2 * time.Second

// order is what a process does.
type order struct {
	Task    string        `json:"task"` // serve or work
	Folder  string        `json:"folder"`
	Long    int           `json:"long,omitempty"`    // after how many events a history is long
	Latency time.Duration `json:"latency,omitempty"` // of a call
	Poor    bool          `json:"poor,omitempty"`    // a worker without providers
	Name    string        `json:"name,omitempty"`    // of a worker
	Off     time.Duration `json:"off,omitempty"`     // what its clock leads by
	Lease   time.Duration `json:"lease,omitempty"`   // 0: lease
	Sealed  bool          `json:"sealed,omitempty"`  // payloads are encrypted
}

// do does what an order says. It returns once the standard input is at its end: with the test that has started it.
func (o *order) do() error {
	ctx := context.Background()
	var end func() error
	switch o.Task {
	case "serve":
		s, err := server.Start(server.Options{
			File: filepath.Join(o.Folder, "temporal.db"), LongHistory: o.Long,
			Attributes: map[string]enums.IndexedValueType{
				temporal.StateAttribute: enums.INDEXED_VALUE_TYPE_KEYWORD, temporal.FlowAttribute: enums.INDEXED_VALUE_TYPE_KEYWORD,
				temporal.LabelsAttribute: enums.INDEXED_VALUE_TYPE_KEYWORD_LIST,
			},
		})
		if err != nil {
			return err
		}
		if err := o.listens(s.Address); err != nil {
			return err
		}
		end = s.Stop
	case "work":
		engine, err := o.engine(ctx)
		if err != nil {
			return err
		}
		connection, err := o.dial(ctx)
		if err != nil {
			return err
		}
		w := worker.New(connection, queue, worker.Options{WorkerStopTimeout: time.Second})
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
	return o.engineBefore(ctx, flows.Slowly(o.Latency))
}

// engineBefore is an engine whose provider answers after a function.
func (o *order) engineBefore(ctx context.Context, before flows.Before) (*debate.Engine, error) {
	store, err := sql.OpenSQLite(ctx, filepath.Join(o.Folder, "debates.db"))
	if err != nil {
		return nil, err
	}
	ledger, err := flows.OpenLedger(o.ledger(), cmp.Or(o.Name, "test"))
	if err != nil {
		return nil, err
	}
	engine := flows.Engine(store, func(ctx context.Context, req *provider.Request) error {
		if err := ledger.Note(req); err != nil {
			return err
		}
		return before(ctx, req)
	})
	engine.Lease, engine.Seed = cmp.Or(o.Lease, lease), flows.Seed
	if o.Poor {
		engine.Providers = nil
	}
	return engine, nil
}

// ledger is the file in which all processes of a folder note what their providers are asked.
func (o *order) ledger() string { return filepath.Join(o.Folder, "ledger") }

// address is the file that says where the server of a folder listens. It listens elsewhere after each start.
func (o *order) address() string { return filepath.Join(o.Folder, "address") }

// listens notes where the server listens.
func (o *order) listens(at string) error {
	if err := os.WriteFile(o.address()+".new", []byte(at), 0o600); err != nil {
		return err
	}
	return os.Rename(o.address()+".new", o.address())
}

// dial connects to the server of the folder, wherever it listens, and waits until it answers.
func (o *order) dial(ctx context.Context, options ...grpc.DialOption) (client.Client, error) {
	options = append(options, grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
		at, err := os.ReadFile(o.address())
		if err != nil {
			return nil, err
		}
		return new(net.Dialer).DialContext(ctx, "tcp", string(at))
	}))
	payloads := converter.GetDefaultDataConverter()
	if o.Sealed {
		payloads = converter.NewCodecDataConverter(payloads, seal{})
	}
	for {
		connection, err := client.DialContext(ctx, client.Options{
			HostPort: "passthrough:///server", Namespace: server.Namespace, Logger: quiet{}, DataConverter: payloads,
			ConnectionOptions: client.ConnectionOptions{DialOptions: options},
		})
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

// launch starts a process, and returns once it is ready.
func launch(t testing.TB, o order) *process.Process[order] {
	t.Helper()
	p := process.Launch(t, o)
	require.Equal(t, "ready", p.Hear(t))
	return p
}

// cluster is a server, and a test's own connection to it.
type cluster struct {
	order    order
	server   *process.Process[order]
	client   *temporal.Client
	launched int // workers
}

func newCluster(t testing.TB, o order) *cluster {
	t.Helper()
	o.Folder, o.Task = t.TempDir(), "serve"
	c := &cluster{order: o, server: launch(t, o)}
	engine, err := o.engine(t.Context())
	require.NoError(t, err)
	connection, err := o.dial(t.Context())
	require.NoError(t, err)
	t.Cleanup(connection.Close)
	c.client = &temporal.Client{Engine: engine, Temporal: connection, TaskQueue: queue, Attributes: true}
	return c
}

// killServer kills the server, and starts it again.
func (c *cluster) killServer(t testing.TB) {
	t.Helper()
	require.NoError(t, os.Remove(c.order.address())) // nobody looks for it where another one may listen soon
	c.server.Kill()
	c.server = launch(t, c.server.Order)
}

// worker starts a worker. It has a name of its own.
func (c *cluster) worker(t testing.TB, changes ...func(*order)) *process.Process[order] {
	t.Helper()
	c.launched++
	o := c.order
	o.Task, o.Name = "work", fmt.Sprint("w", c.launched)
	for _, change := range changes {
		change(&o)
	}
	return launch(t, o)
}

// quiet is a logger of Temporal's that says nothing.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}
