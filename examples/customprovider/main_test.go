package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
)

const (
	pace = 60 * time.Millisecond
	card = "a-calling-card"
)

const said = `Eliza: Why do you say that you have nothing to say?
Carl: I think that my words fall into a well.
Eliza: Why do you say that you think that your words fall into a well?
Carl: I know that you only turn round what I say.
Eliza: Why do you say that you know that I only turn round what you say?
Carl: I am sure that nobody is there.
`

func TestTheDebate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		began := time.Now()
		require.NoError(t, run(t.Context(), &out, inMemory(t)))
		assert.Equal(t, said, out.String())
		assert.Greater(t, time.Since(began), 3*time.Second, "it was spoken word by word")
	})
}

func TestAnInterruptEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, run(ctx, io.Discard, inMemory(t)), context.DeadlineExceeded)
	})
}

// The program itself opens a port.
func TestServe(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, serve(t.Context(), &out, 0))
	assert.Equal(t, said, out.String())
}

// Strangers, wrong doors and mumbled questions are answered with a status.
func TestTheServerRefuses(t *testing.T) {
	parlour := inMemory(t)
	for _, tt := range []struct {
		name, path string
		key        string
		body       string
		want       provider.Kind
	}{
		{"stranger", "v1/speak", "another", "{}", provider.KindAuthentication},
		{"wrong door", "v1/sing", card, "{}", provider.KindValidation},
		{"mumbled", "v1/speak", card, "{", provider.KindValidation},
	} {
		t.Run(tt.name, func(t *testing.T) {
			endpoint := parlour.Endpoint
			endpoint.Key = provider.StaticKey(tt.key)
			x, err := endpoint.Open(t.Context(), "")
			require.NoError(t, err)
			defer x.Close()
			err = x.Send(http.MethodPost, tt.path, []byte(tt.body))
			var e *provider.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, tt.want, e.Kind)
		})
	}
}

// inMemory connects to a server without a port, so that its time can be the bubble's.
func inMemory(t *testing.T) *Parlour {
	t.Helper()
	visits := pipes{make(chan net.Conn), make(chan struct{})}
	server := &http.Server{Handler: &Server{Key: card, Speak: words(pace)}}
	go func() { _ = server.Serve(visits) }() // until Close
	client := &http.Client{Transport: &http.Transport{DialContext: visits.dial}}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		assert.NoError(t, server.Close())
	})
	parlour := New("http://parlour.test", card)
	parlour.Client = client
	return parlour
}

// pipes is a net.Listener in memory.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.conns <- there:
		return here, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error {
	close(p.closed)
	return nil
}

func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }
