package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"time"

	"github.com/agonist-dev/debate/flow"
)

// Do does an operation of the API for who asks, and returns its JSON: a handler of the host program's own, which speaks another protocol,
// is built on it and on Events. Method and path are those of the operation, with the path below api/; ids in it are escaped
// (url.PathEscape). Body is JSON; nil: there is none. Do does what the client itself could do by the API: the same Authorize, Scope,
// Policy and Quota see its request. For what an error tells the client, see [Explain] and Refuse.
func (h *Handler) Do(r *http.Request, method, path string, body []byte) (json.RawMessage, error) {
	if err := h.origin.Check(r); err != nil { // the operation may be one that only reads
		return nil, &DeniedError{Err: err}
	}
	address, err := url.Parse("/api/" + path)
	if err != nil {
		return nil, malformed("path", err)
	}
	var failure error
	inner := r.Clone(context.WithValue(r.Context(), failureKey{}, &failure))
	inner.Method, inner.URL, inner.RequestURI = method, address, ""
	inner.Body, inner.ContentLength, inner.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	inner.Header.Set("Content-Type", "application/json")
	// They are about what the client has of the other protocol.
	for _, name := range []string{"If-None-Match", "If-Match", "Last-Event-Id", "Content-Encoding"} {
		inner.Header.Del(name)
	}
	out := &outcome{header: make(http.Header), status: http.StatusOK}
	h.mux.ServeHTTP(out, inner)
	switch {
	case failure != nil:
		return nil, failure
	case out.status < 200 || out.status > 299: // the address is of no operation
		return nil, &refusal{status: http.StatusNotFound, err: fmt.Errorf("there is no operation %s %s", method, address.Path)}
	default:
		return out.body.Bytes(), nil
	}
}

// failureKey is the key under which the context of a request of Do has the place for its error.
type failureKey struct{}

// outcome is the answer to a request of Do.
type outcome struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (o *outcome) Header() http.Header { return o.header }

func (o *outcome) WriteHeader(status int) { o.status = status }

func (o *outcome) Write(data []byte) (int, error) { return o.body.Write(data) }

// Body reads the JSON that a request posts, within the bounds of the API: Options.Bodies, and 30 seconds. It refuses other methods.
// Who asks needs the right to [View]: what arrives takes room, of which a caller has a share.
func (h *Handler) Body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return nil, &refusal{status: http.StatusMethodNotAllowed, err: errors.New("use POST")}
	}
	caller, err := h.Allow(r, Access{Action: View})
	if err != nil {
		return nil, err
	}
	x := &exchange{handler: h, operation: &operation{}, response: w, request: r, caller: caller}
	defer x.leave()
	data, err := x.body()
	if err == nil && !json.Valid(data) {
		err = malformed("", errors.New("the body is not JSON"))
	}
	return data, err
}

// Hold takes one of Options.Streams for a request, so that it can follow what it starts: a protocol that answers a start with a stream
// holds the stream first. Who asks needs the right to [View]. Events of the request that Hold returns takes no further stream. The caller
// must call release.
func (h *Handler) Hold(r *http.Request) (held *http.Request, release func(), err error) {
	caller, err := h.Allow(r, Access{Action: View})
	if err != nil {
		return nil, nil, err
	}
	if release, err = h.hold(caller); err != nil {
		return nil, nil, err
	}
	return r.WithContext(context.WithValue(r.Context(), heldKey{h}, true)), release, nil
}

// heldKey is the key under which the context of a request says that it has a stream of the handler.
type heldKey struct{ handler *Handler }

// Events yields what who asks may see of a conversation, as [debate.Engine.Events] does. It is one of Options.Streams while it lasts, and
// ends with an error when [Serve] ends streams.
func (h *Handler) Events(r *http.Request, id string, after int64, heartbeat ...time.Duration) iter.Seq2[flow.Event, error] {
	return func(yield func(flow.Event, error) bool) {
		caller, err := h.allow(r, Access{Action: View, ID: id})
		if err != nil {
			yield(flow.Event{}, err)
			return
		}
		info, err := h.find(r.Context(), id, caller.Labels)
		if err != nil {
			yield(flow.Event{}, err)
			return
		}
		x := &exchange{handler: h, request: r, caller: caller, info: info}
		if r.Context().Value(heldKey{h}) == nil {
			release, err := h.hold(x.caller)
			if err != nil {
				yield(flow.Event{}, err)
				return
			}
			defer release()
		}
		x.mean()
		ctx, end := whileStreaming(x.request.Context())
		defer end()
		for e, err := range x.following().Events(ctx, id, after, heartbeat...) {
			if err != nil {
				yield(flow.Event{}, err)
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Problem is what a client may read of an error. It tells nothing of what is behind the server.
type Problem struct {
	Status int // of HTTP
	Kind   flow.Kind
	Field  string // of a config, or of a body
	Detail string // what is wrong, in one line
	Hint   string // what helps
	// RetryAfter is how long the client should wait; 0: nobody knows, or it would not help.
	RetryAfter time.Duration
}

// Explain returns what a client may read of an error of a Handler: for protocols that have documents of their own in place of Refuse's.
// err must not be nil.
func Explain(err error) Problem {
	p := problemOf(err)
	return Problem{
		Status: p.Status, Kind: p.Kind, Field: p.Field, Detail: p.Detail, Hint: p.Hint,
		RetryAfter: time.Duration(p.RetryAfter * float64(time.Second)),
	}
}
