package providertest

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"syscall"
)

const (
	home    = "model.test"
	homeURL = "http://" + home
)

// network holds one server, in memory, and refuses every other address.
type network struct {
	script func(v *visit)
	refuse error // the error of dialing, if not nil
	hole   bool  // dialing never ends

	group sync.WaitGroup
	mu    sync.Mutex
	conns []net.Conn
	dials int
	away  []string // other addresses that were dialed
	seen  []*visit
}

// visit is one request with its connection.
type visit struct {
	net.Conn

	request *http.Request
	body    []byte
	number  int           // of the request, from 1
	gone    chan struct{} // closed once the connection is
	left    atomic.Bool   // the client closed it
	ours    atomic.Bool   // the server closed it
	keep    bool          // the connection serves another request
}

func (n *network) client() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: n.dial, MaxResponseHeaderBytes: int64(benchMaxBody())}}
}

func (n *network) dial(ctx context.Context, _, address string) (net.Conn, error) {
	refused := func(err error) (net.Conn, error) { return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	n.mu.Lock()
	n.dials++
	strange := address != home+":80"
	if strange {
		n.away = append(n.away, address)
	}
	n.mu.Unlock()
	switch {
	case strange:
		return refused(syscall.ECONNREFUSED)
	case n.refuse != nil:
		return refused(n.refuse)
	case n.hole:
		<-ctx.Done()
		return refused(ctx.Err())
	}
	client, server := net.Pipe()
	n.mu.Lock()
	n.conns = append(n.conns, server)
	n.mu.Unlock()
	n.group.Go(func() { n.serve(server) })
	return client, nil
}

// serve answers the requests of a connection.
func (n *network) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	in := bufio.NewReader(conn)
	for {
		request, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		v := &visit{Conn: conn, request: request, gone: make(chan struct{})}
		v.body, _ = io.ReadAll(request.Body)
		n.mu.Lock()
		n.seen = append(n.seen, v)
		v.number = len(n.seen)
		n.mu.Unlock()
		next := make(chan error, 1)
		n.group.Go(func() {
			_, err := in.Peek(1)
			if err != nil {
				v.left.Store(!v.ours.Load())
				close(v.gone)
			}
			next <- err
		})
		n.script(v)
		if !v.keep {
			v.ours.Store(true)
			_ = conn.Close()
		}
		if <-next != nil {
			return
		}
	}
}

// send writes, and reports whether all of it was written.
func (v *visit) send(data []byte) bool {
	_, err := v.Write(data)
	return err == nil
}

// hold waits until the client closes the connection.
func (v *visit) hold() { <-v.gone }

// close closes all connections and waits until the server has ended.
func (n *network) close(client *http.Client) {
	client.CloseIdleConnections()
	n.mu.Lock()
	for _, c := range n.conns {
		_ = c.Close()
	}
	n.mu.Unlock()
	n.group.Wait()
}

// visits returns the requests so far.
func (n *network) visits() []*visit {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]*visit(nil), n.seen...)
}

// strangers returns the other addresses that were dialed.
func (n *network) strangers() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string(nil), n.away...)
}

// playback is a transport that answers with bytes, without a connection.
type playback struct {
	answer []byte
	end    error // the error of reading beyond the answer
	asked  atomic.Int32
}

// RoundTrip reads the request and answers.
func (p *playback) RoundTrip(req *http.Request) (*http.Response, error) {
	p.asked.Add(1)
	// An adapter may learn from these hooks whether its request was sent.
	if trace := httptrace.ContextClientTrace(req.Context()); trace != nil {
		if trace.GetConn != nil {
			trace.GetConn(home + ":80")
		}
		if trace.GotConn != nil {
			trace.GotConn(httptrace.GotConnInfo{})
		}
	}
	if req.Body != nil {
		_, _ = io.Copy(io.Discard, req.Body)
		_ = req.Body.Close()
	}
	return http.ReadResponse(bufio.NewReader(&ending{p.answer, p.end}), req)
}

// ending is bytes with an error at their end.
type ending struct {
	data []byte
	err  error
}

func (e *ending) Read(b []byte) (int, error) {
	if len(e.data) == 0 {
		return 0, e.err
	}
	n := copy(b, e.data)
	e.data = e.data[n:]
	return n, nil
}
