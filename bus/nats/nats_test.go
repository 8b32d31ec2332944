package nats_test

import (
	"context"
	"net"
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

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// embedded is a server in this process.
type embedded struct {
	*server.Server

	port int
}

func newServer(t testing.TB) *embedded {
	t.Helper()
	e := &embedded{port: server.RANDOM_PORT}
	e.start(t)
	t.Cleanup(e.stop)
	return e
}

// start starts the server, at the port of the first start.
func (e *embedded) start(t testing.TB) {
	t.Helper()
	var err error
	e.Server, err = server.NewServer(&server.Options{Host: "127.0.0.1", Port: e.port, NoSigs: true, NoLog: true})
	require.NoError(t, err)
	e.Start()
	require.True(t, e.ReadyForConnections(20*time.Second))
	address, ok := e.Addr().(*net.TCPAddr)
	require.True(t, ok)
	e.port = address.Port
}

func (e *embedded) stop() {
	e.Shutdown()
	e.WaitForShutdown()
}

// open opens a bus on a connection of its own.
func (e *embedded) open(t testing.TB) (*debatenats.Bus, *nats.Conn) {
	t.Helper()
	conn, err := nats.Connect(e.ClientURL(), nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond))
	require.NoError(t, err)
	b := debatenats.New(conn, "")
	t.Cleanup(func() {
		assert.NoError(t, b.Close())
		conn.Close()
	})
	return b, conn
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
	assert.Eventually(t, func() bool { return conn.NumSubscriptions() == before }, 20*time.Second, time.Millisecond)
}

func TestWithoutAServer(t *testing.T) {
	e := newServer(t)
	b, conn := e.open(t)
	e.stop()
	assert.Eventually(t, func() bool { return !conn.IsConnected() }, 20*time.Second, time.Millisecond)
	message := []bus.Message{{Topic: "a", Data: []byte("lost")}}
	require.ErrorIs(t, b.Publish(t.Context(), message), nats.ErrDisconnected)
	b.Subscribe(t.Context(), "a")
	require.NoError(t, b.Close())
	require.ErrorIs(t, b.Publish(t.Context(), message), debatenats.ErrClosed)
	b.Subscribe(t.Context(), "a") // nothing comes
	conn.Close()
	require.NoError(t, b.Close())
}
