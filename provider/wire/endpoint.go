// Package wire carries an adapter's requests to its vendor, and reads what comes back as something
// that may be cut, endless, silent, misdirected or hostile. What every adapter over HTTP has to get
// right is here once:
//
//   - a key is sent to its own host alone: the vendor's SDK, if there is one, never sees it;
//   - redirects that leave the host, the scheme or the method are not followed;
//   - bodies, events and lines are bounded in bytes, and silence in time;
//   - a reply counts only once the vendor said that it is complete ([Reply]);
//   - every failure is a [*provider.Error], classified, with what is known of its price, and without
//     key, header or request in it.
//
// An [Endpoint] is where requests go, and an [Exchange] is one request with its answer. An adapter
// without an SDK sends with [Exchange.Send]. One with an SDK lets it write the request through
// [Exchange.Client], which hands the SDK an empty answer, and reads the true one from the Exchange.
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

	"github.com/agonist-dev/debate/provider"
)

// Defaults of an Endpoint's limits.
const (
	DefaultIdleTimeout = 5 * time.Minute // a reasoning model may think this long before its first word
	DefaultMaxBody     = 32 << 20        // bytes
	DefaultMaxLine     = 1 << 20         // bytes
)

// Endpoint is where an adapter's requests go. Only BaseURL is required. It is safe for concurrent use
// as long as its fields do not change.
type Endpoint struct {
	// BaseURL is what paths are appended to: "https://api.openai.com/v1".
	BaseURL string
	// Key yields the credential; nil or an empty one sends none. An error of Key is shown as it is, so it
	// must not hold the key.
	Key provider.Key
	// Authorize writes the key into a request's header; as a bearer token if nil.
	Authorize func(header http.Header, key string)
	// Client makes the requests, over http.DefaultTransport if nil. Its redirect policy is tightened: a
	// redirect to another host, scheme or method is never followed.
	Client *http.Client
	// Header is added to each request. Values of eight bytes and more are treated as secrets and cut out
	// of error messages.
	Header http.Header

	// Kinds says what the vendor's own codes and types mean, in lower case, where package wire does not know
	// them or takes them for something else.
	Kinds map[string]provider.Kind

	// IdleTimeout is the longest silence of the server, before its first byte and between two bytes;
	// comments that keep a stream alive count as bytes. DefaultIdleTimeout if 0, none if negative.
	IdleTimeout time.Duration
	// MaxBody is the most bytes that an answer may take, decompressed; DefaultMaxBody if 0.
	MaxBody int64
	// MaxLine is the most bytes that one event or one line of an answer may take; DefaultMaxLine if 0.
	MaxLine int
}

// String names the endpoint by its host, so that printing an adapter shows no header and no key.
func (e *Endpoint) String() string {
	base, err := url.Parse(e.BaseURL)
	if err != nil {
		return "endpoint"
	}
	return "endpoint at " + base.Host
}

// GoString is String, for %#v.
func (e *Endpoint) GoString() string { return e.String() }

// Open begins an exchange, which the caller closes. id names the call and its attempt; it goes along
// as X-Client-Request-Id if a header can carry it. Open sends nothing: it fetches the key. Its failures
// are [*provider.Error] with NotSent.
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
		GetConn: func(string) { x.asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { x.got.Store(true) },
	}))
	x.alarm = time.AfterFunc(math.MaxInt64, func() { x.cancel(errIdle) })
	if e.Client != nil && e.Client.Timeout > 0 {
		x.limit = time.AfterFunc(e.Client.Timeout, func() { x.cancel(errTime) })
	}
	return x, nil
}

// identify finds out where the exchange goes and with which key.
func (x *Exchange) identify() *provider.Error {
	e := x.endpoint
	base, err := url.Parse(e.BaseURL)
	if err != nil || base.Host == "" || (base.Scheme != "https" && base.Scheme != "http") {
		// What url.Parse says is left out: it repeats the URL, which may hold a password.
		return &provider.Error{Kind: provider.KindValidation, Code: "base_url", Message: "BaseURL is not an http or https URL"}
	}
	x.base = base
	if e.Key != nil {
		if x.key, err = e.Key(x.caller); err != nil {
			if x.caller.Err() != nil {
				return x.fail(x.caller.Err())
			}
			return &provider.Error{Kind: provider.KindAuthentication, Code: "key", Message: "no key: " + err.Error(), Err: err}
		}
		x.key = strings.TrimSpace(x.key) // a key that was read from a file ends in a newline
	}
	if !portable(x.key) {
		return &provider.Error{Kind: provider.KindAuthentication, Code: "key", Message: "the key has a character that no header can carry"}
	}
	x.secrets = newRedactor(x.key, base, e.Header)
	return nil
}

// portable reports whether a header can carry s.
func portable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

var (
	errIdle  = errors.New("the server fell silent")
	errTime  = errors.New("the client's time is over")
	errBody  = errors.New("the reply is longer than MaxBody")
	errLine  = errors.New("an event is longer than MaxLine")
	errTwice = errors.New("an exchange is one request")
	errCut   = io.ErrUnexpectedEOF
	errHost  = errors.New("the request is for another host than BaseURL's")
)
