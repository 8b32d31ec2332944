package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/agonist-dev/debate/provider"
)

const (
	reaching   = 9 * time.Second       // what looking up the host and connecting to it may take
	lingering  = 10 * time.Second      // what reading may take in all after the reply's end, to get its usage
	parting    = 2 * time.Second       // what reading the reason of a refusal may take in all
	grace      = 20 * time.Millisecond // for the end of the transfer, so that its connection can be used again
	maxFault   = 64 << 10              // bytes read of an error's body
	maxHops    = 5
	maxID      = 512 // bytes of a request's id
	codeCut    = "truncated"
	codeIdle   = "idle"
	codeTooBig = "too_large"
)

// Exchange is one request and its answer. Reading from it reads the body of the answer, decompressed and
// bounded in bytes and in silence. It belongs to the goroutine that opened it.
type Exchange struct {
	endpoint *Endpoint
	id       string
	caller   context.Context
	cancel   context.CancelCauseFunc
	ctx      context.Context
	base     *url.URL
	key      string
	secrets  redactor
	terms    *Terms            // nil: nothing is left out, and no refusal is noted
	own      map[string]string // headers of the adapter
	added    map[string]string // headers that the request asks for

	signature *Signature // nil: requests are not signed

	asked, got atomic.Bool // a connection was asked for; one was obtained
	dialed     atomic.Bool // a connection of its own was begun
	connecting *time.Timer // ends the exchange if no connection comes about

	path     string // of the request, once it was sent
	response *http.Response
	left     int64 // bytes of the body that may still come, plus one
	maxLine  int
	idle     time.Duration // 0: unlimited
	ended    bool          // the reply is complete
	rest     time.Duration // how long reading may still take then
	alarm    *time.Timer
	limit    *time.Timer // nil: the client has no timeout
}

// SetHeader sets a header of the request that is sent next, in place of what [Exchange.Send] writes there.
func (x *Exchange) SetHeader(name, value string) {
	if x.own == nil {
		x.own = map[string]string{}
	}
	x.own[name] = value
}

// Send sends the request, once. path is below BaseURL and may have a query. If body is not nil, it is sent as JSON. The body of the
// answer can be read from the Exchange. Send fails unless the answer is a success.
func (x *Exchange) Send(method, path string, body []byte) error {
	path, query, _ := strings.Cut(path, "?")
	target := x.base.JoinPath(path)
	target.RawQuery = strings.Trim(target.RawQuery+"&"+query, "&")
	req, err := http.NewRequestWithContext(x.ctx, method, target.String(), bytes.NewReader(body))
	if err != nil {
		return unsent(&provider.Error{Kind: provider.KindValidation, Code: "base_url", Message: "BaseURL gives no valid request"})
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Accept", "text/event-stream, application/json")
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range x.own {
		req.Header.Set(name, value)
	}
	_, err = x.client().Do(req) //nolint:bodyclose // the body is the Exchange's
	return x.answered(err)
}

// client returns the client that makes the one request. It adds key and headers, and keeps the answer for the Exchange: what Do returns
// is an empty answer of status 200.
func (x *Exchange) client() *http.Client {
	var hosts func(*http.Request, []*http.Request) error
	var jar http.CookieJar
	if c := x.endpoint.Client; c != nil {
		hosts, jar = c.CheckRedirect, c.Jar
	}
	return &http.Client{Transport: carrier{x}, Jar: jar, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		// On the way to another domain, net/http drops Authorization, but not a vendor's own key header.
		if req.Method != via[0].Method || !x.home(req.URL) || len(via) > maxHops {
			return http.ErrUseLastResponse
		}
		if hosts != nil {
			return hosts(req, via)
		}
		return nil
	}}
}

// home reports whether a URL is on the host of the endpoint.
func (x *Exchange) home(u *url.URL) bool {
	return u.Scheme == x.base.Scheme && strings.EqualFold(u.Host, x.base.Host)
}

// carrier is the transport of an exchange.
type carrier struct{ x *Exchange }

// RoundTrip sends the request with the key, and keeps the answer for the Exchange.
func (c carrier) RoundTrip(req *http.Request) (*http.Response, error) {
	x := c.x
	if x.response != nil && x.response.StatusCode/100 != 3 {
		closeBody(req)
		return nil, errTwice
	}
	sent := req.Clone(x.ctx)
	if x.id != "" && len(x.id) <= maxID && portable(x.id) {
		sent.Header.Set("X-Client-Request-Id", x.id)
	}
	for name, value := range x.added {
		sent.Header.Set(name, value)
	}
	for name, values := range x.endpoint.Header {
		sent.Header[http.CanonicalHeaderKey(name)] = values
	}
	if user := sent.URL.User; user != nil {
		password, _ := user.Password()
		sent.SetBasicAuth(user.Username(), password)
	}
	switch {
	case x.key == "":
	case x.endpoint.Authorize != nil:
		x.endpoint.Authorize(sent.Header, x.key)
	default:
		sent.Header.Set("Authorization", "Bearer "+x.key)
	}
	if err := x.terms.apply(sent); err != nil {
		return nil, err
	}
	if err := x.sign(sent); err != nil {
		closeBody(sent)
		return nil, err
	}
	transport := http.DefaultTransport
	if client := x.endpoint.Client; client != nil && client.Transport != nil {
		transport = client.Transport
	}
	if x.idle > 0 {
		x.alarm.Reset(x.idle)
		defer x.alarm.Stop()
	}
	x.path = sent.URL.Path
	response, err := transport.RoundTrip(sent)
	if err != nil {
		return nil, err
	}
	if x.response != nil {
		_ = x.response.Body.Close() // of a redirect
	}
	x.response = response
	decoy := &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: response.Proto, ProtoMajor: response.ProtoMajor, ProtoMinor: response.ProtoMinor,
		Header: http.Header{"Content-Type": response.Header["Content-Type"]}, Body: http.NoBody, Request: req,
	}
	if response.StatusCode/100 == 3 { // for the redirect policy
		decoy.Status, decoy.StatusCode, decoy.Header = response.Status, response.StatusCode, response.Header
	}
	return decoy, nil
}

// sign signs a request, if the vendor wants that.
func (x *Exchange) sign(req *http.Request) error {
	if x.signature == nil {
		return nil
	}
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return errSign
		}
		_ = req.Body.Close()
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	signature, err := x.signature.Sign(req, body)
	if err != nil {
		return errSign
	}
	x.hide(signature)
	return nil
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}

// answered returns the result of the request: nil if the answer is a success, whose body can then be
// read. err is the error of sending. Only its kind is shown, nothing of its text.
func (x *Exchange) answered(err error) error {
	switch {
	case x.response != nil && x.response.StatusCode/100 != 2:
		return x.refused()
	case x.response != nil:
		return nil
	}
	return x.fail(err)
}

// Header returns a header of the answer, "" if there is none.
func (x *Exchange) Header(name string) string {
	if x.response == nil {
		return ""
	}
	return x.response.Header.Get(name)
}

// Read reads the body. The alarm runs only while Read waits, so that a slow emit is not taken for a
// silent server.
func (x *Exchange) Read(b []byte) (int, error) {
	if x.response == nil {
		return 0, io.ErrUnexpectedEOF
	}
	if x.left <= 0 {
		return 0, errBody
	}
	if int64(len(b)) > x.left {
		b = b[:x.left]
	}
	wait := x.idle
	if x.ended {
		if x.rest <= 0 {
			return 0, errIdle
		}
		if wait == 0 || wait > x.rest {
			wait = x.rest
		}
		began := time.Now()
		defer func() { x.rest -= time.Since(began) }()
	}
	if wait > 0 {
		x.alarm.Reset(wait)
		defer x.alarm.Stop()
	}
	n, err := x.response.Body.Read(b)
	x.left -= int64(n)
	if x.left <= 0 {
		return n, errBody
	}
	return n, err
}

// Decode decodes a JSON value of the answer, one line or one event, into v. If that is impossible, it
// fails with kind invalid_response.
func (x *Exchange) Decode(data []byte, v any) error {
	if json.Unmarshal(data, v) != nil {
		return x.Invalid("malformed", "a part of the answer does not follow the protocol")
	}
	return nil
}

// Ended shortens the time limit: the reply is complete, and only its usage may still come. From the first
// call of Ended on, waiting for the server takes at most ten seconds in all. Comments that keep the
// connection alive do not extend that time.
func (x *Exchange) Ended() {
	if !x.ended {
		x.ended, x.rest = true, lingering
	}
}

// GoesOn takes back Ended: what was taken for the end of the reply was not, and the time limit is that of a reply again.
func (x *Exchange) GoesOn() { x.ended = false }

// Close ends the exchange. A body that is almost finished is read to its end, so that the connection can
// be used again.
func (x *Exchange) Close() {
	if x.response != nil {
		x.alarm.Reset(grace)
		_, _ = io.CopyN(io.Discard, x.response.Body, 4<<10)
		_ = x.response.Body.Close()
	}
	x.alarm.Stop()
	x.connecting.Stop()
	if x.limit != nil {
		x.limit.Stop()
	}
	x.cancel(nil)
}

// connect notes that the host is looked up or dialed, and bounds how long that takes. Waiting for a connection that the client keeps
// to itself has no bound.
func (x *Exchange) connect() {
	if x.dialed.CompareAndSwap(false, true) {
		x.connecting.Reset(reaching)
	}
}

// unconnected reports whether a connection was begun and did not come about.
func (x *Exchange) unconnected() bool { return x.dialed.Load() && !x.got.Load() }

// late makes of the failure of a request whose time is over one of connecting, if that is what took the time. Otherwise the request may
// have been sent.
func (x *Exchange) late(e *provider.Error, when string) *provider.Error {
	if x.unconnected() {
		e.Kind, e.Code, e.NotSent, e.Message = provider.KindNetwork, "", true, x.away("no connection came about "+when)
	}
	return e
}

// away returns the message of a failure to connect: where, why, and what helps. It shows no user of the URL.
func (x *Exchange) away(why string) string {
	host := x.secrets.clean(x.base.Scheme + "://" + x.base.Host)
	return "cannot reach " + host + ": " + why + "; check the address, the network, and HTTPS_PROXY"
}

// fail classifies a failure of the transfer. It keeps the cause only if the cause is known to hold no
// secret: a *url.Error holds the URL, and a host program's transport may put anything into its errors.
func (x *Exchange) fail(err error) *provider.Error {
	e := &provider.Error{NotSent: x.asked.Load() && !x.got.Load(), RequestID: x.requestID()}
	var network net.Error
	var dial *net.OpError
	switch {
	case x.caller.Err() != nil:
		e.Kind, e.Err = provider.KindCanceled, x.caller.Err()
		if errors.Is(e.Err, context.DeadlineExceeded) {
			e.Kind = provider.KindTimeout
			return x.late(e, "in time")
		}
		return e
	case x.ctx != nil && errors.Is(context.Cause(x.ctx), errConnect):
		e.Kind, e.Message = provider.KindTimeout, errConnect.Error()
		return x.late(e, "within "+reaching.String())
	case errors.Is(err, errBody), errors.Is(err, errLine):
		e.Kind, e.Code, e.Message = provider.KindInvalidResponse, codeTooBig, err.Error()
		return e
	case errors.Is(err, errSign):
		e.Kind, e.Code, e.Message, e.NotSent = provider.KindAuthentication, "signature", errSign.Error(), true
		return e
	case errors.Is(err, errIdle), x.ctx != nil && errors.Is(context.Cause(x.ctx), errIdle):
		e.Kind, e.Code, e.Message = provider.KindTimeout, codeIdle, "no byte came for "+x.idle.String()
		if x.ended {
			e.Message = "no usage came within " + lingering.String() + " of the reply's end"
		}
		return x.late(e, "within "+x.idle.String())
	case x.ctx != nil && errors.Is(context.Cause(x.ctx), errTime):
		e.Kind, e.Message = provider.KindTimeout, "the client's timeout has passed"
		return x.late(e, "before the client's timeout has passed")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.Kind, e.Err = provider.KindNetwork, io.ErrUnexpectedEOF
	case errors.As(err, &dial) && dial.Op == "dial", x.unconnected():
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
	if e.NotSent && e.Kind == provider.KindNetwork {
		e.Message = x.away(e.Message)
	}
	return e
}

// Cut returns the failure of an answer that could not be read to its end. err is the error of reading. If
// the answer just ended, before the vendor said that it is complete, the failure has kind network and
// code "truncated".
func (x *Exchange) Cut(err error) error {
	e := x.fail(err)
	if e.Kind == provider.KindNetwork {
		e.Code, e.Message = codeCut, "the answer ended before the reply was complete"
	}
	return e
}

func (x *Exchange) requestID() string {
	for _, name := range []string{"X-Request-Id", "Request-Id", "X-Generation-Id", "X-Amzn-Requestid", "Cf-Ray"} {
		if id := x.Header(name); id != "" {
			return x.secrets.clean(id)
		}
	}
	return ""
}

func unsent(e *provider.Error) *provider.Error {
	e.NotSent = true
	return e
}
