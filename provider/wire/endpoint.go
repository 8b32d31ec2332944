// Package wire carries an adapter's requests to its vendor. It treats the answer as something that may be
// cut off, endless, silent, misdirected or hostile. It does once what every adapter over HTTP has to get
// right:
//
//   - A key is sent to its own host only.
//   - Redirects to another host, scheme or method are not followed.
//   - Bodies, events and lines are bounded in bytes, and silence is bounded in time.
//   - A reply counts only once the vendor said that it is complete ([Reply]).
//   - A conversation goes out in a form that every server takes, whatever models wrote in it ([Form]).
//   - What a model refuses is left out, and remembered for the model ([Refusals]).
//   - Every failure is a [*provider.Error]: classified, with what is known of its price, and without key,
//     header or request in it. What it is follows from a limit that it speaks of, its names, its words and its
//     status, in this order; a vendor's own shape is read by [Endpoint.Explain].
//
// An [Endpoint] is where requests go. An [Exchange] is one request with its answer: an adapter sends with [Exchange.Send], and reads
// the answer from the Exchange.
package wire

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"time"

	"github.com/agonist-dev/debate/internal/redact"
	"github.com/agonist-dev/debate/provider"
)

// These are the defaults of an Endpoint's limits.
const (
	DefaultIdleTimeout = 5 * time.Minute // a reasoning model may think this long before its first word
	DefaultMaxBody     = 32 << 20        // bytes
	DefaultMaxLine     = 1 << 20         // bytes
)

// Endpoint is the server that an adapter's requests go to. Only BaseURL is required. It is safe for
// concurrent use as long as its fields do not change.
type Endpoint struct {
	// BaseURL is the URL that paths are appended to: "https://api.openai.com/v1".
	BaseURL string
	// Key returns the credential. If Key is nil or returns "", none is sent. A key of fewer than 16 bytes is a
	// placeholder for a server without authentication, and counts as no secret. An error of Key is shown without
	// what looks like a secret in it. It has kind authentication, unless it is a [*provider.Error] with a kind of
	// its own, such as network.
	Key provider.Key
	// Authorize writes the key into the header of a request; as a bearer token if nil.
	Authorize func(header http.Header, key string)
	// Signer returns how one exchange's requests are signed, for vendors that want a signature in place of
	// a key. If it is nil or returns nil, requests are not signed. Its errors are treated as those of Key.
	Signer func(ctx context.Context) (*Signature, error)
	// Client makes the requests; nil: a client over http.DefaultTransport. Its redirect policy is
	// tightened: a redirect to another host, scheme or method is never followed.
	Client *http.Client
	// Header is added to each request. Values of eight bytes and more are removed from error messages. Values of 16
	// bytes and more are treated as keys if the name of the header says that they are credentials.
	Header http.Header

	// Kinds classifies a vendor's own codes and types, in lower case. It takes precedence over the
	// classification of this package, and Explain over both.
	Kinds map[string]provider.Kind
	// Explain reads a vendor's own shape of an error, for one that has other fields than this package knows. nil: there is no such shape.
	//
	// Explain is asked about each answer with a status of 400 and above. Under status 200 and in a stream it is asked wherever an error may
	// stand: about documents, events and lines that have nothing of the adapter's protocol in them ([Exchange.IsFault]), and about each
	// error that the adapter finds. A protocol may have wrapped that error, so that body is the error alone. What the Fault leaves zero is
	// read as ever. The zero Fault means that body is no error.
	//
	// header and body are copies. body has at most 64 KiB; it may be cut, and may be a web page. Explain may be called more than once for
	// one answer, and concurrently. It must not panic.
	Explain func(status int, header http.Header, body []byte) Fault

	// IdleTimeout is the longest silence of the server, before its first byte and between two bytes;
	// DefaultIdleTimeout if 0, unlimited if negative. Comments that keep a stream alive count as bytes.
	IdleTimeout time.Duration
	// MaxBody caps the decompressed bytes of an answer; DefaultMaxBody if 0.
	MaxBody int64
	// MaxLine caps the bytes of one event or one line of an answer; DefaultMaxLine if 0.
	MaxLine int
}

// Signature signs the requests of one exchange.
type Signature struct {
	// Secrets are what the requests are signed with. They are removed from error messages, as keys are.
	Secrets []string
	// Sign writes a signature into the header of a request that is otherwise complete. It returns the
	// signature, which is removed from error messages too. It is called again for a redirected request. Its
	// error is not shown.
	Sign func(req *http.Request, body []byte) (signature string, err error)
}

// String returns the host of the endpoint, without any header or key.
func (e *Endpoint) String() string {
	base, err := url.Parse(e.BaseURL)
	if err != nil {
		return "endpoint"
	}
	return "endpoint at " + base.Host
}

// GoString is String, for %#v.
func (e *Endpoint) GoString() string { return e.String() }

// Open begins an exchange; the caller closes it. id names the call and its attempt. It is sent as
// X-Client-Request-Id if a header can carry it. Open fetches the key and sends nothing. Its failures are
// [*provider.Error] with NotSent.
func (e *Endpoint) Open(ctx context.Context, id string) (*Exchange, error) {
	x := &Exchange{
		caller: ctx, endpoint: e, id: id,
		left: DefaultMaxBody + 1, maxLine: DefaultMaxLine, idle: DefaultIdleTimeout,
	}
	if e.MaxBody > 0 {
		x.left = e.MaxBody + 1
	}
	if e.MaxLine > 0 {
		x.maxLine = e.MaxLine
	}
	if e.IdleTimeout != 0 {
		x.idle = max(0, e.IdleTimeout)
	}
	if ctx.Err() != nil {
		return nil, unsent(x.fail(ctx.Err()))
	}
	if fault := x.identify(); fault != nil {
		return nil, unsent(fault)
	}
	x.ctx, x.cancel = context.WithCancelCause(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:      func(string) { x.asked.Store(true) },
		DNSStart:     func(httptrace.DNSStartInfo) { x.connect() },
		ConnectStart: func(string, string) { x.connect() },
		GotConn:      func(httptrace.GotConnInfo) { x.got.Store(true) },
	}))
	x.connecting = time.AfterFunc(math.MaxInt64, func() {
		if !x.got.Load() {
			x.cancel(errConnect)
		}
	})
	x.alarm = time.AfterFunc(math.MaxInt64, func() { x.cancel(errIdle) })
	if e.Client != nil && e.Client.Timeout > 0 {
		x.limit = time.AfterFunc(e.Client.Timeout, func() { x.cancel(errTime) })
	}
	return x, nil
}

// identify determines where the exchange goes and with which key.
func (x *Exchange) identify() *provider.Error {
	e := x.endpoint
	base, err := url.Parse(e.BaseURL)
	if err != nil || base.Host == "" || (base.Scheme != "https" && base.Scheme != "http") {
		// The error of url.Parse is left out: it repeats the URL, which may hold a password.
		return &provider.Error{Kind: provider.KindValidation, Code: "base_url", Message: "BaseURL is not an http or https URL"}
	}
	x.base = base
	if e.Key != nil {
		if x.key, err = e.Key(x.caller); err != nil {
			return x.keyless(err)
		}
		x.key = strings.TrimSpace(x.key) // a key from a file ends in a newline
	}
	if !portable(x.key) {
		return &provider.Error{Kind: provider.KindValidation, Code: "key", Message: "the key has a character that no header can carry"}
	}
	x.secrets = newRedactor(x.key, base, e.Header)
	if e.Signer != nil {
		if x.signature, err = e.Signer(x.caller); err != nil {
			return x.keyless(err)
		}
	}
	if x.signature != nil {
		for _, secret := range x.signature.Secrets {
			x.hide(secret)
		}
	}
	return nil
}

// keyless returns the failure of an exchange that has no key, or nothing to sign with.
func (x *Exchange) keyless(err error) *provider.Error {
	if x.caller.Err() != nil {
		return x.fail(x.caller.Err())
	}
	if e, ok := errors.AsType[*provider.Error](err); ok && e != nil && e.Kind != "" {
		own := *e
		own.Message = redact.Foreign(own.Message)
		return &own
	}
	e := &provider.Error{Kind: provider.KindAuthentication, Code: "key", Message: "no key: " + redact.Foreign(err.Error())}
	if e.Message == "no key: "+err.Error() {
		e.Err = err
	}
	return e
}

// hide removes one more secret from error messages.
func (x *Exchange) hide(secret string) {
	x.secrets.add(secret)
	x.secrets.whole(secret)
	x.secrets.failed, x.secrets.replied = false, false
}

// portable reports whether a header can carry s.
func portable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

var (
	errIdle     = errors.New("the server fell silent")
	errConnect  = errors.New("no connection came about within " + reaching.String())
	errTime     = errors.New("the client's timeout has passed")
	errBody     = errors.New("the reply is longer than MaxBody")
	errLine     = errors.New("an event is longer than MaxLine")
	errTwice    = errors.New("an exchange makes only one request")
	errCut      = io.ErrUnexpectedEOF
	errNoObject = errors.New("this is no JSON object")
	errSign     = errors.New("the request could not be signed")
)
