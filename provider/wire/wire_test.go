package wire_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// secret is the key of all tests. A URL escapes some of its characters.
const secret = "sk-test+~?~0123456789/abcdef=QUVXyz"

// transport is a function as a transport.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// says is a transport that gives one answer, as it is on the wire.
func says(answer string) transport {
	return func(req *http.Request) (*http.Response, error) {
		return http.ReadResponse(bufio.NewReader(strings.NewReader(answer)), req)
	}
}

// ok is a successful answer with a body.
func ok(body string) transport {
	return says(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
}

func endpoint(t http.RoundTripper) *wire.Endpoint {
	return &wire.Endpoint{BaseURL: "https://model.test/v1", Key: provider.StaticKey(secret), Client: &http.Client{Transport: t}}
}

func open(t testing.TB, e *wire.Endpoint) *wire.Exchange {
	t.Helper()
	x, err := e.Open(t.Context(), "r1.opening.ada/1")
	require.NoError(t, err)
	t.Cleanup(x.Close)
	return x
}

// send makes one exchange and yields what sending gave.
func send(t testing.TB, e *wire.Endpoint) (*wire.Exchange, error) {
	t.Helper()
	x := open(t, e)
	return x, x.Send(http.MethodPost, "chat", []byte("{}"))
}

// failure asserts that err is a provider.Error of a kind, which shows no key.
func failure(t testing.TB, err error, kind provider.Kind) *provider.Error {
	t.Helper()
	var e *provider.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, kind, e.Kind, "%v", err)
	data, _ := json.Marshal(e)
	text := fmt.Sprintf("%v %+v %#v %s", err, err, err, data)
	require.NotContains(t, text, secret)
	require.NotContains(t, text, secret[:8])
	require.NotContains(t, text, secret[len(secret)-8:])
	return e
}

func TestKeysAndHeaders(t *testing.T) {
	var got []*http.Request
	e := endpoint(transport(func(req *http.Request) (*http.Response, error) {
		got = append(got, req)
		return ok("{}")(req)
	}))
	n := 0
	e.Key = func(context.Context) (string, error) {
		n++
		return fmt.Sprintf(" key-%d\n", n), nil
	}
	e.Header = http.Header{"x-team": {"blue"}}
	for range 2 {
		_, err := send(t, e)
		require.NoError(t, err)
	}
	assert.Equal(t, "Bearer key-1", got[0].Header.Get("Authorization"))
	assert.Equal(t, "Bearer key-2", got[1].Header.Get("Authorization"), "a key is asked for each time")
	assert.Equal(t, "blue", got[0].Header.Get("X-Team"))
	assert.Equal(t, "r1.opening.ada/1", got[0].Header.Get("X-Client-Request-Id"))
	assert.Equal(t, "https://model.test/v1/chat", got[0].URL.String())
	assert.Equal(t, "application/json", got[0].Header.Get("Content-Type"))

	e.Authorize = func(h http.Header, key string) { h.Set("X-Api-Key", key) }
	for _, id := range []string{"", "not an id", "ü", "a\nb", strings.Repeat("x", 513)} {
		x, err := e.Open(t.Context(), id)
		require.NoError(t, err)
		require.NoError(t, x.Send(http.MethodGet, "/models", nil))
		x.Close()
		assert.Empty(t, got[len(got)-1].Header.Values("X-Client-Request-Id"), "no header can carry it")
	}
	assert.Equal(t, "key-3", got[2].Header.Get("X-Api-Key"))
	assert.Empty(t, got[2].Header.Get("Authorization"))
	assert.Equal(t, "application/json", got[2].Header.Get("Accept"))
	assert.Equal(t, "https://model.test/v1/models", got[2].URL.String())
}

func TestBasicAuth(t *testing.T) {
	var user, password, url string
	e := endpoint(transport(func(req *http.Request) (*http.Response, error) {
		user, password, _ = req.BasicAuth()
		url = req.URL.String()
		return says("HTTP/1.1 401 No\r\nContent-Length: 12\r\n\r\nopenwide sesame")(req)
	}))
	e.Key = nil
	e.BaseURL = "http://ada:openwide@model.test/?token=longenough"
	_, err := send(t, e)
	f := failure(t, err, provider.KindAuthentication)
	assert.Equal(t, "[redacted] ses", f.Message, "a password is a secret")
	assert.Equal(t, []string{"ada", "openwide"}, []string{user, password})
	assert.Contains(t, url, "token=longenough")
}

func TestOpenFails(t *testing.T) {
	unsent := func(name string, e *wire.Endpoint, kind provider.Kind) *provider.Error {
		t.Helper()
		_, err := e.Open(t.Context(), "id")
		f := failure(t, err, kind)
		assert.True(t, f.NotSent, name)
		return f
	}
	for _, url := range []string{"", "model.test", "ftp://model.test", "http://", "http://u:" + secret + "@%zz/", "://"} {
		e := endpoint(nil)
		e.BaseURL = url
		assert.Equal(t, "base_url", unsent(url, e, provider.KindValidation).Code, url)
	}
	e := endpoint(nil)
	for _, key := range []string{secret + "\r\nX-Evil: 1", "a b", "ключ"} {
		e.Key = provider.StaticKey(key)
		unsent(key, e, provider.KindValidation)
	}
	locked := errors.New("the vault is locked")
	e.Key = func(context.Context) (string, error) { return "", locked }
	unsent("locked", e, provider.KindAuthentication)
	_, err := e.Open(t.Context(), "id")
	require.ErrorIs(t, err, locked)

	ctx, cancel := context.WithCancel(t.Context())
	e.Key = func(context.Context) (string, error) { cancel(); return "", ctx.Err() }
	_, err = e.Open(ctx, "id")
	assert.True(t, failure(t, err, provider.KindCanceled).NotSent)
	_, err = e.Open(ctx, "id")
	assert.True(t, failure(t, err, provider.KindCanceled).NotSent)
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	_, err = e.Open(late, "id")
	assert.True(t, failure(t, err, provider.KindTimeout).NotSent)
}

// TestOneRequest: an exchange sends once, and the answer to that counts.
func TestOneRequest(t *testing.T) {
	var asked atomic.Int32
	x := open(t, endpoint(transport(func(req *http.Request) (*http.Response, error) {
		asked.Add(1)
		return says("HTTP/1.1 529 Busy\r\nContent-Length: 4\r\n\r\nbusy")(req)
	})))
	assert.Equal(t, "busy", failure(t, x.Send(http.MethodPost, "chat", []byte("{}")), provider.KindAPI).Message)
	assert.Equal(t, 529, failure(t, x.Send(http.MethodPost, "chat", []byte("{}")), provider.KindAPI).Status)
	assert.Equal(t, int32(1), asked.Load())
}

// TestOwnHeaders: an adapter's header replaces what Send writes, and the endpoint's replaces the adapter's.
func TestOwnHeaders(t *testing.T) {
	var got http.Header
	e := endpoint(transport(func(req *http.Request) (*http.Response, error) {
		got = req.Header
		return ok("{}")(req)
	}))
	e.Header = http.Header{"x-version": {"7"}}
	x := open(t, e)
	x.SetHeader("accept", "application/json")
	x.SetHeader("X-Version", "6")
	x.SetHeader("X-Team", "blue")
	require.NoError(t, x.Send(http.MethodPost, "chat", []byte("{}")))
	assert.Equal(t, []string{"application/json"}, got.Values("Accept"))
	assert.Equal(t, []string{"7"}, got.Values("X-Version"))
	assert.Equal(t, "blue", got.Get("X-Team"))
}

func TestReadingBeforeTheRequest(t *testing.T) {
	x := open(t, endpoint(nil))
	_, err := x.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Empty(t, x.Header("Date"))
	failure(t, x.Invalid("c", "m "+secret), provider.KindInvalidResponse)
}

// A gateway may tell its sessions apart by cookies: the host's jar keeps them between exchanges.
func TestCookies(t *testing.T) {
	var got []string
	e := endpoint(transport(func(req *http.Request) (*http.Response, error) {
		got = append(got, req.Header.Get("Cookie"))
		if len(got) == 1 {
			return says("HTTP/1.1 307 X\r\nLocation: /v1/here\r\nSet-Cookie: route=a; Path=/\r\nContent-Length: 0\r\n\r\n")(req)
		}
		return ok("{}")(req)
	}))
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	e.Client.Jar = jar
	for range 2 {
		_, err := send(t, e)
		require.NoError(t, err)
	}
	assert.Equal(t, []string{"", "route=a", "route=a"}, got)
}

func TestRedirects(t *testing.T) {
	answer := func(status int, where string) string {
		return fmt.Sprintf("HTTP/1.1 %d X\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n", status, where)
	}
	for _, tt := range []struct {
		status int
		where  string
		sent   int // requests in all
	}{
		{307, "/v2", 2},
		{308, "https://MODEL.test/v2", 2},
		{301, "/v2", 1},
		{303, "/v2", 1},
		{307, "https://elsewhere.test/", 1},
		{307, "http://model.test/", 1},
		{308, "https://model.test:1/", 1},
		{307, "", 1},
	} {
		var seen []*http.Request
		e := endpoint(transport(func(req *http.Request) (*http.Response, error) {
			seen = append(seen, req)
			if len(seen) > 1 {
				return ok("{}")(req)
			}
			return says(answer(tt.status, tt.where))(req)
		}))
		asked := 0
		e.Client.CheckRedirect = func(*http.Request, []*http.Request) error { asked++; return nil }
		_, err := send(t, e)
		assert.Len(t, seen, tt.sent, "%d %s", tt.status, tt.where)
		assert.Equal(t, tt.sent-1, asked, "the host's own policy is asked where ours allows")
		if tt.sent == 2 {
			require.NoError(t, err)
			body, _ := io.ReadAll(seen[1].Body)
			assert.Equal(t, "{}", string(body))
			continue
		}
		assert.Equal(t, "redirect", failure(t, err, provider.KindValidation).Code)
	}
	n := 0
	_, err := send(t, endpoint(transport(func(req *http.Request) (*http.Response, error) {
		n++
		return says(answer(307, "/v1/chat"))(req)
	})))
	failure(t, err, provider.KindValidation)
	assert.Equal(t, 6, n, "a circle ends")
}

func TestLimits(t *testing.T) {
	e := endpoint(ok(strings.Repeat("x", 100)))
	e.MaxBody = 99
	x, err := send(t, e)
	require.NoError(t, err)
	_, err = io.ReadAll(x)
	assert.Equal(t, "too_large", failure(t, x.Cut(err), provider.KindInvalidResponse).Code)
	_, again := x.Read(make([]byte, 1))
	assert.True(t, tooLong(x, again), "and stays so")

	e.MaxBody = 100
	x, err = send(t, e)
	require.NoError(t, err)
	data, err := io.ReadAll(x)
	require.NoError(t, err)
	assert.Len(t, data, 100)
}

func TestCut(t *testing.T) {
	x, err := send(t, endpoint(says("HTTP/1.1 200 OK\r\nX-Request-Id: req_"+secret+"\r\nContent-Length: 9\r\n\r\nhalf")))
	require.NoError(t, err)
	_, err = io.ReadAll(x)
	f := failure(t, x.Cut(err), provider.KindNetwork)
	assert.Equal(t, "truncated", f.Code)
	assert.Equal(t, "req_[redacted]", f.RequestID)
	require.ErrorIs(t, f, io.ErrUnexpectedEOF)
	assert.Equal(t, "truncated", failure(t, x.Cut(io.EOF), provider.KindNetwork).Code)
}

type timeout struct{}

func (timeout) Error() string   { return "i/o timeout for " + secret }
func (timeout) Timeout() bool   { return true }
func (timeout) Temporary() bool { return true }

func TestTransportErrors(t *testing.T) {
	for _, tt := range []struct {
		err  error
		kind provider.Kind
	}{
		{fmt.Errorf("while sending Bearer %s", secret), provider.KindNetwork},
		{timeout{}, provider.KindTimeout},
		{io.EOF, provider.KindNetwork},
	} {
		_, err := send(t, endpoint(transport(func(*http.Request) (*http.Response, error) { return nil, tt.err })))
		failure(t, err, tt.kind)
	}
}

func TestDecode(t *testing.T) {
	x := open(t, endpoint(nil))
	var v struct{ A int }
	require.NoError(t, x.Decode([]byte(`{"a":7}`), &v))
	assert.Equal(t, 7, v.A)
	for _, data := range []string{"", "{", `{"a":"x"}`, "[]"} {
		assert.Equal(t, "malformed", failure(t, x.Decode([]byte(data), &v), provider.KindInvalidResponse).Code)
	}
}

func TestPrintingAnEndpoint(t *testing.T) {
	e := endpoint(nil)
	e.BaseURL = "https://ada:" + url.QueryEscape(secret) + "@model.test/?key=" + secret
	e.Header = http.Header{"X-Api-Key": {secret}}
	adapter := struct{ *wire.Endpoint }{e}
	text := fmt.Sprintf("%v %+v %#v %s", e, e, e, adapter)
	assert.NotContains(t, text, secret)
	assert.Contains(t, text, "model.test")
	assert.NotEmpty(t, (&wire.Endpoint{BaseURL: "%zz" + secret}).String())
	assert.NotContains(t, (&wire.Endpoint{BaseURL: "%zz" + secret}).String(), secret)
}

// What cannot be reached is named by its address, without user and key, and nothing waits for it longer than it takes to notice,
// whichever limit of time comes first.
func TestTheAddressIsTold(t *testing.T) {
	hangs := &net.Dialer{ControlContext: func(context.Context, string, string, syscall.RawConn) error {
		<-time.After(30 * time.Second)
		return errors.New("nothing has come back")
	}}
	refuses := func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	silent := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return hangs.DialContext(ctx, network, "127.0.0.1:9")
	}
	mute := func(ctx context.Context, network, address string) (net.Conn, error) {
		httptrace.ContextClientTrace(ctx).ConnectStart(network, address)
		conn, server := net.Pipe()
		time.AfterFunc(30*time.Second, func() { _ = server.Close() })
		return conn, nil
	}
	plain := func(ctx context.Context, network, address string) (net.Conn, error) {
		httptrace.ContextClientTrace(ctx).ConnectStart(network, address)
		conn, server := net.Pipe()
		go func() {
			_, _ = server.Read(make([]byte, 1<<16))
			_, _ = io.WriteString(server, "HTTP/1.1 400 Bad Request\r\n\r\n")
			_ = server.Close()
		}()
		return conn, nil
	}
	of := func(d time.Duration) func(*wire.Endpoint) { return func(e *wire.Endpoint) { e.Client.Timeout = d } }
	for name, tt := range map[string]struct {
		dial    func(ctx context.Context, network, _ string) (net.Conn, error)
		timeout time.Duration
		change  func(*wire.Endpoint)
		says    string
	}{
		"refused": {refuses, 0, nil, "connection refused"},
		"silent":  {silent, 0, nil, "no connection came about within 9s"},
		"silent for longer than the caller waits": {silent, time.Second, nil, "no connection came about in time"},
		"silent for longer than the client waits": {silent, 0, of(time.Second), "no connection came about before the client's timeout has passed"},
		"silent for longer than a server may be":  {silent, 0, func(e *wire.Endpoint) { e.IdleTimeout = 2 * time.Second }, "within 2s"},
		"a server without TLS":                    {plain, 0, nil, "server gave HTTP response to HTTPS client"},
		"a handshake without an answer":           {mute, 0, nil, "no connection came about within 9s"},
		"a handshake with a time of its own": {mute, 0, func(e *wire.Endpoint) {
			e.Client.Transport.(*http.Transport).TLSHandshakeTimeout = time.Second
		}, "TLS handshake timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				defer func() { <-time.After(time.Minute) }() // a dial goes on without its request
				ctx := t.Context()
				if tt.timeout > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.timeout)
					defer cancel()
				}
				e := endpoint(nil)
				e.BaseURL = "https://ada:" + url.QueryEscape(secret) + "@model.test:8443/" + url.QueryEscape(secret) + "?key=" + url.QueryEscape(secret)
				e.Client = &http.Client{Transport: &http.Transport{DialContext: tt.dial}}
				if tt.change != nil {
					tt.change(e)
				}
				began := time.Now()
				x, err := e.Open(ctx, "r1.opening.ada/1")
				require.NoError(t, err)
				defer x.Close()
				f := failure(t, x.Send(http.MethodPost, "chat", []byte("{}")), provider.KindNetwork)
				assert.True(t, f.NotSent)
				assert.Empty(t, f.Code)
				assert.Contains(t, f.Message, "cannot reach https://model.test:8443: ")
				assert.Contains(t, f.Message, tt.says)
				assert.Equal(t, name == "refused", errors.Is(f, syscall.ECONNREFUSED), "its cause stays")
				assert.Contains(t, f.Message, "; check the address, the network, and HTTPS_PROXY")
				assert.LessOrEqual(t, time.Since(began), 10*time.Second)
			})
		})
	}
}

// A connection that comes about in the very moment in which its time is over may have carried the request: nobody says that nothing was
// sent.
func TestAConnectionThatComesTooLate(t *testing.T) {
	for name, change := range map[string]func(*wire.Endpoint){
		"for connecting": func(*wire.Endpoint) {},
		"for the client": func(e *wire.Endpoint) { e.Client.Timeout = time.Second },
		"for a server":   func(e *wire.Endpoint) { e.IdleTimeout = time.Second },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := endpoint(transport(func(req *http.Request) (*http.Response, error) {
					trace := httptrace.ContextClientTrace(req.Context())
					trace.GetConn("model.test:443")
					trace.ConnectStart("tcp", "model.test:443")
					<-req.Context().Done()
					trace.GotConn(httptrace.GotConnInfo{})
					return nil, req.Context().Err()
				}))
				change(e)
				_, err := send(t, e)
				f := failure(t, err, provider.KindTimeout)
				assert.False(t, f.NotSent)
				assert.NotContains(t, f.Message, "cannot reach")
			})
		})
	}
}
