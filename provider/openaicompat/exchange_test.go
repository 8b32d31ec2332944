package openaicompat_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
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

func TestRedirectWithinTheHost(t *testing.T) {
	var asked []string
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/chat/completions":
			http.Redirect(w, r, "/v2/chat", http.StatusTemporaryRedirect)
		default:
			body, _ := io.ReadAll(r.Body)
			assert.Contains(t, string(body), "You are Ada.")
			say(w)
		}
	})
	p.Client = &http.Client{CheckRedirect: func(req *http.Request, _ []*http.Request) error {
		asked = append(asked, req.URL.Path)
		return nil
	}}
	r, _, err := ask(t, p, request())
	require.NoError(t, err)
	assert.Equal(t, "Yes.", r.Text)
	assert.Equal(t, []string{"/v2/chat"}, asked, "the host's own policy is still asked")
}

func TestDefaultLimits(t *testing.T) {
	long := strings.Repeat("x", wire.DefaultMaxLine)
	p := played([]byte("HTTP/1.1 200 OK\nConnection: close\n\n" + piece(long) + yes))
	_, _, err := ask(t, p, request())
	assert.Equal(t, "too_large", failure(t, err, provider.KindInvalidResponse).Code)
	p.MaxLine = 2 * wire.DefaultMaxLine
	_, _, err = ask(t, p, request())
	require.NoError(t, err)
}

func TestNoIdleTimeout(t *testing.T) {
	p := serve(t, func(w http.ResponseWriter, _ *http.Request) { say(w) })
	p.IdleTimeout = -1
	_, _, err := ask(t, p, request())
	require.NoError(t, err)
}

func TestNotSent(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { say(w) }))
	defer plain.Close()
	client, err := net.Dial("tcp", plain.Listener.Addr().String())
	require.NoError(t, err)
	defer func() { _ = client.Close() }()
	address := client.LocalAddr().String() // nobody listens there, and nobody can meanwhile

	_, _, err = ask(t, openaicompat.Compatible("http://user:"+canary+"@"+address+"/v1?key="+canary, canary), request())
	e := failure(t, err, provider.KindNetwork)
	assert.True(t, e.NotSent)
	assert.NotContains(t, e.Message, "/v1", "the URL is no part of the message")
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	assertNoKey(t, err)

	_, _, err = ask(t, openaicompat.Compatible("https"+strings.TrimPrefix(plain.URL, "http"), canary), request())
	e = failure(t, err, provider.KindNetwork)
	assert.True(t, e.NotSent, "a handshake that fails sends nothing")
}

func TestClientTimeout(t *testing.T) {
	p := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	p.Client = &http.Client{Timeout: 20 * time.Millisecond}
	_, _, err := ask(t, p, request())
	failure(t, err, provider.KindTimeout)
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

func TestKeys(t *testing.T) {
	var got []string
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Authorization"))
		say(w)
	})
	n := 0
	p.Key = func(context.Context) (string, error) {
		n++
		return fmt.Sprintf("key-%d\n", n), nil
	}
	for range 2 {
		_, _, err := ask(t, p, request())
		require.NoError(t, err)
	}
	assert.Equal(t, []string{"Bearer key-1", "Bearer key-2"}, got, "a key is asked for each time")

	p.Key = nil
	_, _, err := ask(t, p, request())
	require.NoError(t, err)
	assert.Empty(t, got[2])

	locked := errors.New("the vault is locked")
	p.Key = func(context.Context) (string, error) { return "", locked }
	_, _, err = ask(t, p, request())
	require.ErrorIs(t, err, locked)
	assert.True(t, failure(t, err, provider.KindAuthentication).NotSent)

	p.Key = provider.StaticKey(canary + "\r\nX-Evil: 1")
	_, _, err = ask(t, p, request())
	assert.True(t, failure(t, err, provider.KindValidation).NotSent)
	assertNoKey(t, err)

	ctx, cancel := context.WithCancel(t.Context())
	p.Key = func(context.Context) (string, error) { cancel(); return "", ctx.Err() }
	_, err = p.Generate(ctx, request(), func(provider.Chunk) {})
	assert.True(t, failure(t, err, provider.KindCanceled).NotSent)
	assert.Len(t, got, 3)
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
	assertNoKey(t, err)
	p.VendorName = "acme"
	assert.NotContains(t, fmt.Sprintf("%v %+v %#v", p, p, p), canary)
	assert.Equal(t, "openaicompat(acme)", p.String())
	assert.Equal(t, "openaicompat", (&openaicompat.Provider{}).String())
}

// endless is a body without an end; it ends when the client goes away.
func endless(header, part string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, header)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, part); err != nil {
				return
			}
		}
	}
}
