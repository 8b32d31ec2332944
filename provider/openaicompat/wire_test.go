package openaicompat_test

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
	"github.com/agonist-dev/debate/provider/openaicompat"
)

const canary = adaptertest.Key

var (
	ask         = adaptertest.Ask
	failure     = adaptertest.Failure
	golden      = adaptertest.Golden
	assertNoKey = adaptertest.NoKey
)

// fixtures returns the files that match, with the key in place of {{KEY}}.
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

func played(answer []byte) *openaicompat.Provider {
	p := openaicompat.Compatible("http://model.test/v1", canary)
	p.Client = &http.Client{Transport: &adaptertest.Playback{Answer: string(answer)}}
	return p
}

func request() *provider.Request {
	return &provider.Request{
		ID: "r1.opening.ada/1", Model: "model-1", System: "You are Ada.", Self: "Ada",
		Last: provider.Message{Text: "Open."},
	}
}
