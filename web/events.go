package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/audience"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/sse"
)

// mostFacts is how many facts a page of events covers at most. It covers as many, if the client does not say how many.
const mostFacts = 1000

// facts is a page of a log. For those who only view, the log ends before the first turn that is hidden now.
type facts struct {
	Events []flow.Event `json:"events"`         // those that the reader may see
	Last   int64        `json:"last"`           // the number of the last fact of the log
	Next   int64        `json:"next,omitempty"` // the parameter after of the next page; missing: the page ends where the log does
	Over   bool         `json:"over,omitempty"` // the conversation is over
}

// view returns what the caller may see of an event; nil: what spectators may see, behind a veil.
func (x *exchange) view() func(flow.Event) (flow.Event, bool) {
	if x.may(Inspect, "") {
		return func(e flow.Event) (flow.Event, bool) { return e.Public(), true }
	}
	return nil
}

// events returns facts that are saved.
func (x *exchange) events() error {
	after, err := x.number("after", 0, math.MaxInt64)
	if err != nil {
		return err
	}
	limit, err := x.number("limit", mostFacts, mostFacts)
	if err != nil {
		return err
	}
	out := facts{Events: []flow.Event{}, Last: x.info.Seq, Over: x.info.State.Final()}
	if after >= x.info.Seq || limit == 0 {
		return x.reply(x.operation.status, out)
	}
	reader, seen, left := x.following(), after, limit
	reader.Renew = nil // a page has one reader
	for step, err := range reader.Steps(x.request.Context(), x.info.ID, after) {
		if err != nil {
			return err
		}
		if step.Read.Kind() == flow.EventChunk || step.Read.Seq <= seen {
			continue
		}
		seen = step.Read.Seq
		if reader.Held() == 0 || step.Read.Kind() != flow.EventRedacted { // else it is one of those that are kept back
			out.Events = append(out.Events, step.Shown...)
		}
		if left--; left <= 0 && reader.Held() == 0 || seen >= x.info.Seq {
			break
		}
	}
	if first := reader.Held(); first > 0 {
		out.Last = first - 1
	} else if seen < x.info.Seq {
		out.Next = seen
	}
	return x.reply(x.operation.status, out)
}

// stream sends events as they happen.
func (x *exchange) stream() error {
	if given := cmp.Or(x.request.Header.Get("Last-Event-ID"), x.query.Get("after")); given != "" {
		n, err := strconv.ParseInt(given, 10, 64)
		if err != nil || n < 0 || n > x.info.Seq {
			err := fmt.Errorf("%q is not the number of an event: the last one is %d", text.OneLine(given, 40), x.info.Seq)
			return malformed("Last-Event-ID", flow.WithMend(err, "load the conversation again"))
		}
		ended, err := x.ended(n)
		if err != nil {
			return err
		}
		if ended {
			x.response.WriteHeader(http.StatusNoContent)
			return nil
		}
	}
	if x.request.Method == http.MethodHead {
		x.response.Header().Set("Content-Type", x.operation.media[0])
		x.response.WriteHeader(http.StatusOK)
		return nil
	}
	release, err := x.handler.hold(x.caller)
	if err != nil {
		return err
	}
	defer release()
	ctx, end := whileStreaming(x.request.Context())
	defer end()
	shown := func(e flow.Event) (flow.Event, bool) { return e, true } // the reader has seen to it
	s := sse.Stream{View: shown, Refuse: x.handler.Refuse}
	_ = s.Serve(x.response, x.request.WithContext(ctx), x.following(), x.info.ID) // the reader has left, or has been told
	return nil
}

// renewed is how old the right to view may be when a stream shows something.
const renewed = 15 * time.Second

// following reads what the caller may see. A conversation may last for days, so the right to view it is asked for again.
func (x *exchange) following() *audience.Reader {
	reader, asked := &audience.Reader{Source: x.handler.engine, View: x.view()}, time.Now()
	reader.Renew = func() error {
		if time.Since(asked) < renewed {
			return nil
		}
		asked = time.Now()
		caller, err := x.handler.allow(x.request, Access{Action: View, ID: x.info.ID})
		if err == nil && caller.key() != x.caller.key() {
			err = &DeniedError{Err: errors.New("the stream is of somebody else, or of another scope: connect again")}
		}
		reader.View = x.view()
		return err
	}
	return reader
}

// hold takes the place of a stream for a caller, which release gives back.
func (h *Handler) hold(c Caller) (release func(), err error) { return h.streams.take(c, 1) }

// ended reports whether nothing follows the fact with this number: it is the last one of a conversation that is over.
func (x *exchange) ended(n int64) (bool, error) {
	if n < x.info.Seq || !x.info.State.Final() {
		return false, nil
	}
	f, err := x.record()
	return err == nil && f.InFlight() == 0 && f.Seq == n, err
}

// whileStreaming returns a context that also ends when [Serve] ends all streams.
func whileStreaming(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	streams, ok := ctx.Value(streamsKey{}).(context.Context)
	if !ok {
		return ctx, cancel
	}
	stop := context.AfterFunc(streams, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}
