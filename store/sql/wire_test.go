package sql_test

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wire stands between stores and their server. It counts statements, and requests to cancel one.
type wire struct {
	url        string
	statements atomic.Int64
	cancels    atomic.Int64
	deaf       atomic.Bool // it brings no notification, as a pooler
	settings   string      // what it does with those that a connection begins with: "refuse" or "swallow", as poolers; "": it brings them
	lasting    texts       // statements that change more than their transaction

	server string // the socket
	mu     sync.Mutex
	open   map[net.Conn]bool
	closed bool
	copies sync.WaitGroup
}

// newWire returns a wire to a server, for as long as the test runs.
func newWire(t testing.TB, server, settings string) *wire {
	t.Helper()
	u := mustParse(t, server)
	query := u.Query()
	socket := ".s.PGSQL." + query.Get("port")
	w := &wire{server: filepath.Join(query.Get("host"), socket), open: make(map[net.Conn]bool), settings: settings}
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
func (w *wire) ask(server io.Writer, client io.ReadWriter) error {
	in := bufio.NewReader(client)
	for typed := false; ; typed = true {
		message, err := receive(in, typed)
		if err != nil {
			return err
		}
		if typed {
			w.note(message)
		} else if message, err = w.begin(message, client); err != nil {
			return err
		}
		if _, err := server.Write(message); err != nil {
			return err
		}
	}
}

// note counts a statement, and keeps it if it changes more than its transaction.
func (w *wire) note(message []byte) {
	text := string(message[min(5, len(message)):])
	switch message[0] {
	case 'Q': // Query
		w.statements.Add(1)
		for statement := range strings.SplitSeq(strings.TrimRight(text, "\x00"), ";") {
			statement = strings.ToUpper(strings.TrimSpace(statement))
			if strings.HasPrefix(statement, "LISTEN") || strings.HasPrefix(statement, "SET ") && !strings.HasPrefix(statement, "SET LOCAL ") {
				w.lasting.add(statement)
			}
		}
	case 'E': // Execute
		w.statements.Add(1)
	case 'P': // Parse: a name, and the statement
		if name, _, _ := strings.Cut(text, "\x00"); name != "" {
			w.lasting.add("PREPARE " + name)
		}
	}
}

// settings are those that stores and buses begin their connections with.
var settings = []string{
	"default_transaction_isolation", "enable_seqscan", "idle_in_transaction_session_timeout", "lock_timeout", "plan_cache_mode",
	"statement_timeout",
}

// begin changes the message with which a connection begins as a pooler would.
func (w *wire) begin(message []byte, client io.Writer) ([]byte, error) {
	if len(message) < 8 {
		return nil, errors.New("this is no message")
	}
	if binary.BigEndian.Uint32(message[4:]) == 80877102 { // CancelRequest
		w.cancels.Add(1)
	}
	if w.settings == "" || binary.BigEndian.Uint32(message[4:])>>16 != 3 { // the version of the protocol
		return message, nil
	}
	kept := slices.Clone(message[:8])
	words := strings.Split(strings.TrimRight(string(message[8:]), "\x00"), "\x00")
	for pair := range slices.Chunk(words, 2) {
		switch {
		case !slices.Contains(settings, pair[0]):
			kept = append(kept, strings.Join(pair, "\x00")+"\x00"...)
		case w.settings == "refuse":
			fields := "SFATAL\x00VFATAL\x00C08P01\x00Munsupported startup parameter: " + pair[0] + "\x00\x00"
			answer := append(binary.BigEndian.AppendUint32([]byte{'E'}, uint32(4+len(fields))), fields...)
			_, err := client.Write(answer)
			return nil, errors.Join(err, errors.New("it was refused"))
		}
	}
	kept = append(kept, 0)
	binary.BigEndian.PutUint32(kept, uint32(len(kept)))
	return kept, nil
}

// texts are gathered by several goroutines.
type texts struct {
	mu  sync.Mutex
	all []string
}

func (t *texts) add(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, text)
}

func (t *texts) list() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.all)
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
