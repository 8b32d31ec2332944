package openaicompat

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/agonist-dev/debate/provider"
)

const (
	lingering  = 10 * time.Second      // for usage, after the reply's end
	grace      = 20 * time.Millisecond // for the transfer's own end, so that its connection can be used again
	maxFault   = 64 << 10              // bytes read of an error's body
	maxHops    = 5
	codeCut    = "truncated"
	codeIdle   = "idle"
	codeTooBig = "too_large"
)

var (
	errIdle = errors.New("the server fell silent")
	errBody = errors.New("the reply is longer than MaxBody")
	errLine = errors.New("an event is longer than MaxLine")
)

// exchange is one request and its answer. Reading from it reads the answer's body, bounded in bytes
// and in silence.
type exchange struct {
	caller  context.Context
	cancel  context.CancelCauseFunc
	ctx     context.Context
	secrets redactor

	asked, got atomic.Bool // a connection was asked for; one was got

	response *http.Response
	left     int64 // bytes of the body that may still come, and one
	maxLine  int
	idle     time.Duration // 0: unlimited
	alarm    *time.Timer
}

// open sends a request and yields its answer if that is a success. The caller closes it.
func (p *Provider) open(ctx context.Context, method, path string, body []byte, id string) (*exchange, error) {
	x := &exchange{caller: ctx, left: DefaultMaxBody + 1, maxLine: DefaultMaxLine, idle: DefaultIdleTimeout}
	if p.MaxBody > 0 {
		x.left = p.MaxBody + 1
	}
	if p.MaxLine > 0 {
		x.maxLine = p.MaxLine
	}
	if p.IdleTimeout != 0 {
		x.idle = max(0, p.IdleTimeout)
	}
	if ctx.Err() != nil {
		return nil, unsent(x.fail(ctx.Err()))
	}
	req, fault := p.request(ctx, x, method, path, body, id)
	if fault != nil {
		return nil, unsent(fault)
	}

	x.ctx, x.cancel = context.WithCancelCause(ctx)
	patience := x.idle
	if patience == 0 {
		patience = math.MaxInt64
	}
	x.alarm = time.AfterFunc(patience, func() { x.cancel(errIdle) })
	trace := &httptrace.ClientTrace{
		GetConn: func(string) { x.asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { x.got.Store(true) },
	}
	var err error
	x.response, err = p.client().Do(req.WithContext(httptrace.WithClientTrace(x.ctx, trace))) //nolint:bodyclose // x.close does
	x.alarm.Stop()
	if err != nil {
		defer x.cancel(nil)
		return nil, x.fail(err)
	}
	if x.response.StatusCode/100 != 2 {
		defer x.close()
		return nil, x.refused()
	}
	return x, nil
}

// request puts the HTTP request together. Its failures are made here and were never sent.
func (p *Provider) request(ctx context.Context, x *exchange, method, path string, body []byte, id string) (*http.Request, *provider.Error) {
	base, err := url.Parse(p.BaseURL)
	if err != nil || base.Host == "" || (base.Scheme != "https" && base.Scheme != "http") {
		// What url.Parse says is left out: it repeats the URL, which may hold a password.
		return nil, &provider.Error{Kind: provider.KindValidation, Code: "base_url", Message: "BaseURL is not an http or https URL"}
	}
	key := ""
	if p.Key != nil {
		if key, err = p.Key(ctx); err != nil {
			if ctx.Err() != nil {
				return nil, x.fail(ctx.Err())
			}
			return nil, &provider.Error{Kind: provider.KindAuthentication, Code: "key", Message: "no key: " + err.Error(), Err: err}
		}
		key = strings.TrimSpace(key) // a key that was read from a file ends in a newline
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return nil, &provider.Error{Kind: provider.KindAuthentication, Code: "key", Message: "the key has a character that no header can carry"}
	}
	x.secrets = newRedactor(key, base, p.Header)

	req, err := http.NewRequestWithContext(ctx, method, base.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		return nil, &provider.Error{Kind: provider.KindValidation, Code: "base_url", Message: "BaseURL gives no valid request"}
	}
	for name, values := range p.Header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Accept", "text/event-stream, application/json")
		req.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	// Not Idempotency-Key: net/http would take it as leave to send a broken request again.
	if id != "" && len(id) <= 512 && !strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		req.Header.Set("X-Client-Request-Id", id)
	}
	return req, nil
}

// client is the host's, with a redirect policy under which a key stays with its host: net/http drops
// Authorization on the way to another domain, but not a vendor's own key header.
func (p *Provider) client() *http.Client {
	client := http.Client{}
	if p.Client != nil {
		client = *p.Client
	}
	hosts := client.CheckRedirect
	client.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		first := via[0]
		if req.Method != first.Method || req.URL.Scheme != first.URL.Scheme ||
			!strings.EqualFold(req.URL.Host, first.URL.Host) || len(via) > maxHops {
			return http.ErrUseLastResponse
		}
		if hosts != nil {
			return hosts(req, via)
		}
		return nil
	}
	return &client
}

// Read reads the body. The alarm runs only while it waits, so that a slow emit is not taken for a
// silent server.
func (x *exchange) Read(b []byte) (int, error) {
	if x.left <= 0 {
		return 0, errBody
	}
	if int64(len(b)) > x.left {
		b = b[:x.left]
	}
	if x.idle > 0 {
		x.alarm.Reset(x.idle)
		defer x.alarm.Stop()
	}
	n, err := x.response.Body.Read(b)
	x.left -= int64(n)
	if x.left <= 0 {
		return n, errBody
	}
	return n, err
}

// ended shortens the patience: the reply is whole, only its usage may be missing.
func (x *exchange) ended() {
	if x.idle == 0 || x.idle > lingering {
		x.idle = lingering
	}
}

func (x *exchange) close() {
	x.alarm.Reset(grace)
	_, _ = io.CopyN(io.Discard, x.response.Body, 4<<10)
	x.alarm.Stop()
	_ = x.response.Body.Close()
	x.cancel(nil)
}

// fail classifies what went wrong on the way. The cause itself is kept only where it is known to
// hold nothing but itself: a *url.Error holds the URL, a host's transport may put anything into its.
func (x *exchange) fail(err error) *provider.Error {
	e := &provider.Error{NotSent: x.asked.Load() && !x.got.Load()}
	if x.response != nil {
		e.RequestID = x.requestID()
	}
	var network net.Error
	var dial *net.OpError
	switch {
	case x.caller.Err() != nil:
		e.Kind, e.Err = provider.KindCanceled, x.caller.Err()
		if errors.Is(e.Err, context.DeadlineExceeded) {
			e.Kind = provider.KindTimeout
		}
		return e
	case errors.Is(err, errBody), errors.Is(err, errLine):
		e.Kind, e.Code, e.Message = provider.KindInvalidResponse, codeTooBig, err.Error()
		return e
	case x.ctx != nil && errors.Is(context.Cause(x.ctx), errIdle):
		e.Kind, e.Code, e.Message = provider.KindTimeout, codeIdle, "no byte came for "+x.idle.String()
		return e
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.Kind, e.Err = provider.KindNetwork, io.ErrUnexpectedEOF
	case errors.As(err, &dial) && dial.Op == "dial":
		e.Kind, e.NotSent = provider.KindNetwork, true
	case errors.As(err, &network) && network.Timeout():
		e.Kind = provider.KindTimeout
	default:
		e.Kind = provider.KindNetwork
	}
	if errno := syscall.Errno(0); errors.As(err, &errno) {
		e.Err = errno
	}
	for u := (*url.Error)(nil); errors.As(err, &u) && u.Err != nil; {
		err = u.Err
	}
	e.Message = x.secrets.clean(err.Error())
	return e
}

// cut is the failure of a body that ended before the reply did.
func (x *exchange) cut(err error) *provider.Error {
	e := x.fail(err)
	if e.Kind == provider.KindNetwork {
		e.Code, e.Message = codeCut, "the answer ended before the reply was complete"
	}
	return e
}

func (x *exchange) requestID() string {
	for _, name := range []string{"X-Request-Id", "Request-Id", "X-Generation-Id", "Cf-Ray"} {
		if id := x.response.Header.Get(name); id != "" {
			return x.secrets.clean(id)
		}
	}
	return ""
}

func unsent(e *provider.Error) *provider.Error {
	e.NotSent = true
	return e
}
