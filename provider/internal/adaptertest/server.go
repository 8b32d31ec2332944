package adaptertest

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
)

// Playback is a transport that answers with bytes, head and body, without a network.
type Playback struct {
	Answer string
	Wrap   func(body io.Reader) io.Reader // what is read in place of the answer's body; nil: that itself
	Body   []byte                         // of the last request
}

// RoundTrip reads the request and answers.
func (p *Playback) RoundTrip(req *http.Request) (*http.Response, error) {
	p.Body = nil
	if req.Body != nil {
		p.Body, _ = io.ReadAll(req.Body)
		_ = req.Body.Close()
	}
	response, err := http.ReadResponse(bufio.NewReader(strings.NewReader(p.Answer)), req)
	if err == nil && p.Wrap != nil {
		response.Body = io.NopCloser(p.Wrap(response.Body))
	}
	return response, err
}

// Transport is a function as a transport.
type Transport func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f Transport) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// Picky is a server that refuses, with status 400, each request whose body has one of some texts in it.
type Picky struct {
	Refuses [][2]string      // a text, and the answer to a request with it
	Say     http.HandlerFunc // answers other requests
	Bodies  []string         // of all requests
}

// ServeHTTP answers a request.
func (s *Picky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.Bodies = append(s.Bodies, string(body))
	for _, refusal := range s.Refuses {
		if strings.Contains(string(body), refusal[0]) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, refusal[1])
			return
		}
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.Say(w, r)
}

// Learns asks the server twice, and requires that what it refuses is left out, and named in each reply if it is in left. That is
// remembered for the model: the second question takes one request. Learns returns the body of that.
func (s *Picky) Learns(t *testing.T, p provider.Provider, req *provider.Request, left ...string) (last string) {
	t.Helper()
	for range 2 {
		r, _, err := Ask(t, p, req)
		require.NoError(t, err)
		assert.ElementsMatch(t, left, r.Left)
	}
	require.Len(t, s.Bodies, len(s.Refuses)+2, "the second call pays nothing")
	return s.Bodies[len(s.Bodies)-1]
}
