package openaicompat_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
	"github.com/agonist-dev/debate/provider/openaicompat"
	"github.com/agonist-dev/debate/provider/wire"
)

// serve starts a server and yields a provider for it.
func serve(t *testing.T, handler http.HandlerFunc) *openaicompat.Provider {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return openaicompat.Compatible(server.URL+"/v1", canary)
}

func flush(w http.ResponseWriter, text string) {
	_, _ = io.WriteString(w, text)
	w.(http.Flusher).Flush()
}

func piece(text string) string {
	return fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", text)
}

func TestDefaultLimits(t *testing.T) {
	long := strings.Repeat("x", wire.DefaultMaxLine)
	p := played([]byte("HTTP/1.1 200 OK\nConnection: close\n\n" + piece(long) + yes))
	_, _, err := ask(t, p, request())
	assert.Equal(t, "too_large", failure(t, err, provider.KindInvalidResponse).Code)
	p.MaxLine = 2 * wire.DefaultMaxLine
	adaptertest.Answer(t, p, request())
}

func TestConnectionsAreUsedAgain(t *testing.T) {
	var opened atomic.Int32
	var n atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if n.Add(1)%2 == 0 {
			http.Error(w, `{"error":{"message":"no"}}`, http.StatusBadRequest)
			return
		}
		flush(w, piece("a"))
		flush(w, yes)
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	p := openaicompat.Compatible(server.URL, canary)
	p.Client = server.Client()
	for range 6 {
		_, _, _ = ask(t, p, request())
	}
	assert.Equal(t, int32(6), n.Load())
	assert.Equal(t, int32(1), opened.Load())
}

func TestHeaderSecretsAreRedacted(t *testing.T) {
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprintf(w, "no: %s %s", r.Header.Get("Api-Key"), strings.TrimPrefix(r.Header.Get("X-Auth"), "Token "))
	})
	p.Key = nil
	p.Header = http.Header{"Api-Key": {canary}, "X-Auth": {"Token " + canary + "2"}}
	_, _, err := ask(t, p, request())
	failure(t, err, provider.KindAuthentication)
	p.VendorName = "acme"
	assert.NotContains(t, fmt.Sprintf("%v %+v %#v", p, p, p), canary)
	assert.Equal(t, "openaicompat(acme)", p.String())
	assert.Equal(t, "openaicompat", (&openaicompat.Provider{}).String())
}
