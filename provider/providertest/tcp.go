package providertest

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
)

// over makes one request, over real connections to a URL.
func (x *bench) over(url string) answer {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	s := x.server(&http.Client{Transport: transport})
	s.URL, s.IdleTimeout = url, 0
	return x.ask(context.Background(), x.h.Connect(x.t, s), request(), nil)
}

// dialed makes one request over TCP. On each connection, script answers when the request has been read;
// then the connection is closed.
func (x *bench) dialed(script func(c *net.TCPConn)) answer {
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		x.t.Fatal(err)
	}
	var group sync.WaitGroup
	var requests int
	group.Go(func() {
		for {
			c, err := listener.AcceptTCP()
			if err != nil {
				return
			}
			if req, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				requests++
				_, _ = io.Copy(io.Discard, req.Body)
				script(c)
			}
			_ = c.Close()
		}
	})
	a := x.over("http://" + listener.Addr().String())
	_ = listener.Close()
	group.Wait()
	if requests != 1 {
		x.errorf("%d requests reached the server, want 1: an adapter does not retry", requests)
	}
	return a
}
