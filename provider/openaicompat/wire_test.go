package openaicompat_test

import (
	"bufio"
	"bytes"
	"flag"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openaicompat"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

// canary stands for a key: a fixture's {{KEY}} becomes it.
const canary = "sk-canary-5f1d7a0c93be"

// golden compares got with a file under testdata.
func golden(t *testing.T, path, got string) {
	t.Helper()
	path = filepath.Join("testdata", path)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "make it with -update")
	assert.Equal(t, string(want), got)
}

// fixtures returns the files that match, with the key in its place.
func fixtures(t testing.TB, pattern string) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", pattern))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	all := map[string][]byte{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		all[name] = bytes.ReplaceAll(data, []byte("{{KEY}}"), []byte(canary))
	}
	return all
}

// raw serves one answer, byte by byte as it is written, to each connection.
func raw(t *testing.T, answer []byte) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var group sync.WaitGroup
	group.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			group.Go(func() {
				defer func() { _ = c.Close() }()
				if req, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
					_, _ = io.Copy(io.Discard, req.Body)
					_, _ = c.Write(answer)
				}
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		group.Wait()
	})
	return "http://" + listener.Addr().String() + "/v1"
}

// playback is a transport that answers with bytes, without a network.
type playback struct {
	answer []byte
	wrap   func(io.Reader) io.Reader
}

func (p playback) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
	response, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(p.answer)), req)
	if err == nil && p.wrap != nil {
		response.Body = io.NopCloser(p.wrap(response.Body))
	}
	return response, err
}

func played(answer []byte) *openaicompat.Provider {
	p := openaicompat.Compatible("http://model.test/v1", canary)
	p.Client = &http.Client{Transport: playback{answer: answer}}
	return p
}

func request() *provider.Request {
	return &provider.Request{
		ID: "r1.opening.ada/1", Model: "model-1", System: "You are Ada.", Self: "Ada",
		Last: provider.Message{Text: "Open."},
	}
}

// ask calls Generate and gathers the chunks.
func ask(t *testing.T, p *openaicompat.Provider, req *provider.Request) (*provider.Response, []string, error) {
	t.Helper()
	var chunks []string
	r, err := p.Generate(t.Context(), req, func(c provider.Chunk) {
		if c.Recall {
			chunks = nil
		}
		if !c.Reasoning {
			chunks = append(chunks, c.Text)
		}
	})
	return r, chunks, err
}

// failure asserts that err is a provider.Error of a kind.
func failure(t *testing.T, err error, kind provider.Kind) *provider.Error {
	t.Helper()
	var e *provider.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, kind, e.Kind, "%v", err)
	return e
}
