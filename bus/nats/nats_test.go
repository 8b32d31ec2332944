package nats_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/agonist-dev/debate/bus"
	"github.com/agonist-dev/debate/bus/bustest"
	debatenats "github.com/agonist-dev/debate/bus/nats"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 {
		var err error
		for range 300 { // some goroutines take their time to end on a busy machine: each look waits a little for them
			if err = goleak.Find(); err == nil {
				break
			}
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// embedded is a server in this process. It listens at another port after each start.
type embedded struct {
	mu      sync.Mutex
	running *server.Server
}

func newServer(t testing.TB) *embedded {
	t.Helper()
	e := &embedded{}
	e.start(t)
	t.Cleanup(e.stop)
	return e
}

func (e *embedded) start(t testing.TB) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	var err error
	e.running, err = server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true})
	require.NoError(t, err)
	e.running.Start()
	for !e.running.ReadyForConnections(time.Second) {
		require.True(t, e.running.Running(), "the server has ended")
	}
}

func (e *embedded) stop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.running.Shutdown()
	e.running.WaitForShutdown()
}

// Dial implements [nats.CustomDialer]: it connects to the server that runs now.
func (e *embedded) Dial(network, _ string) (net.Conn, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	at := e.running.Addr()
	if at == nil {
		return nil, errors.New("no server runs")
	}
	return net.Dial(network, at.String())
}

// open opens a bus on a connection of its own.
func (e *embedded) open(t testing.TB) (*debatenats.Bus, *nats.Conn) {
	t.Helper()
	conn, err := nats.Connect("nats://127.0.0.1", nats.SetCustomDialer(e), nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond),
		nats.RetryOnFailedConnect(true)) // a busy machine may take longer than the client waits for
	require.NoError(t, err)
	eventually(conn.IsConnected)
	b := debatenats.New(conn, "")
	t.Cleanup(func() {
		assert.NoError(t, b.Close())
		conn.Close()
	})
	return b, conn
}

// eventually waits until a condition holds, however busy the machine is.
func eventually(is func() bool) {
	for !is() {
		<-time.After(time.Millisecond)
	}
}

func TestConformance(t *testing.T) {
	bustest.Run(t, func(t testing.TB) bustest.Server {
		e := newServer(t)
		return bustest.Server{
			Open: func(t testing.TB) bus.Bus {
				b, _ := e.open(t)
				return b
			},
			Cut: func(t testing.TB) {
				e.stop()
				e.start(t)
			},
		}
	})
}

// Subscribers of one process share a subscription, and the last one ends it.
func TestSubscribersShareASubscription(t *testing.T) {
	e := newServer(t)
	b, conn := e.open(t)
	before := conn.NumSubscriptions()
	ctx, end := context.WithCancel(t.Context())
	for range 100 {
		b.Subscribe(ctx, "a")
	}
	assert.Equal(t, before+1, conn.NumSubscriptions())
	other, endOther := context.WithCancel(t.Context())
	in := b.Subscribe(other, "a")
	end()
	require.NoError(t, b.Publish(t.Context(), []bus.Message{{Topic: "a", Data: []byte("still here")}}))
	assert.Equal(t, "still here", string(<-in))
	endOther()
	eventually(func() bool { return conn.NumSubscriptions() == before })
}

func TestWithoutAServer(t *testing.T) {
	e := newServer(t)
	b, conn := e.open(t)
	e.stop()
	eventually(func() bool { return !conn.IsConnected() })
	message := []bus.Message{{Topic: "a", Data: []byte("lost")}}
	require.ErrorIs(t, b.Publish(t.Context(), message), nats.ErrDisconnected)
	b.Subscribe(t.Context(), "a")
	require.NoError(t, b.Close())
	require.ErrorIs(t, b.Publish(t.Context(), message), debatenats.ErrClosed)
	b.Subscribe(t.Context(), "a") // nothing comes
	conn.Close()
	require.NoError(t, b.Close())
}
