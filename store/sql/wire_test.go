package sql_test

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wire stands between stores and their server. It counts statements.
type wire struct {
	url        string
	statements atomic.Int64
	deaf       atomic.Bool // it brings no notification, as a pooler

	server string // the socket
	mu     sync.Mutex
	open   map[net.Conn]bool
	closed bool
	copies sync.WaitGroup
}

// newWire returns a wire to a server, for as long as the test runs.
func newWire(t testing.TB, server string) *wire {
	t.Helper()
	u := mustParse(t, server)
	query := u.Query()
	socket := ".s.PGSQL." + query.Get("port")
	w := &wire{server: filepath.Join(query.Get("host"), socket), open: make(map[net.Conn]bool)}
	folder, err := os.MkdirTemp("", "wire") //nolint:usetesting // the path of a socket must be short
	require.NoError(t, err)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(folder, socket))
	require.NoError(t, err)
	query.Set("host", folder)
	u.RawQuery = query.Encode()
	w.url = u.String()
	w.copies.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			w.join(client)
		}
	})
	t.Cleanup(func() {
		assert.NoError(t, listener.Close())
		w.mu.Lock()
		w.closed = true
		w.mu.Unlock()
		w.cut()
		w.copies.Wait()
		assert.NoError(t, os.RemoveAll(folder))
	})
	return w
}

// cut breaks all connections. New ones can be made.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for conn := range w.open {
		_ = conn.Close()
	}
}

func (w *wire) join(client net.Conn) {
	server, err := net.Dial("unix", w.server)
	if err != nil {
		_ = client.Close()
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open[client], w.open[server] = true, true
	if w.closed {
		_ = client.Close()
		_ = server.Close()
	}
	part := sync.OnceFunc(func() {
		_ = client.Close()
		_ = server.Close()
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.open, client)
		delete(w.open, server)
	})
	w.copies.Go(func() {
		defer part()
		_ = w.ask(server, client)
	})
	w.copies.Go(func() {
		defer part()
		_ = w.answer(client, server)
	})
}

// ask brings what a client sends. Its first message has no type.
func (w *wire) ask(server io.Writer, client io.Reader) error {
	in := bufio.NewReader(client)
	for typed := false; ; typed = true {
		message, err := receive(in, typed)
		if err != nil {
			return err
		}
		if typed && (message[0] == 'Q' || message[0] == 'E') { // Query, Execute
			w.statements.Add(1)
		}
		if _, err := server.Write(message); err != nil {
			return err
		}
	}
}

// answer brings what the server sends.
func (w *wire) answer(client io.Writer, server io.Reader) error {
	in := bufio.NewReader(server)
	for {
		message, err := receive(in, true)
		if err != nil {
			return err
		}
		if message[0] == 'A' && w.deaf.Load() { // NotificationResponse
			continue
		}
		if _, err := client.Write(message); err != nil {
			return err
		}
	}
}

// receive returns one message of PostgreSQL's protocol: its type, if it has one, its length and its content.
func receive(in *bufio.Reader, typed bool) ([]byte, error) {
	start := 0
	if typed {
		start = 1
	}
	head, err := in.Peek(start + 4)
	if err != nil {
		return nil, err
	}
	length := int(binary.BigEndian.Uint32(head[start:]))
	if length < 4 || length > 1<<26 {
		return nil, errors.New("this is no message")
	}
	message := make([]byte, start+length)
	_, err = io.ReadFull(in, message)
	return message, err
}
