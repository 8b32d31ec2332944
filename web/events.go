package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/agonist-dev/debate/flow"
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

// eyes are those of one reader, to whom the events of a conversation are shown in their order.
type eyes struct {
	view func(flow.Event) (flow.Event, bool) // nil: a spectator's
	veil flow.Veil
}

// show yields what the reader may see now. It reports whether the reader wants more.
func (i *eyes) show(e flow.Event, yield func(flow.Event) bool) bool {
	if i.view != nil {
		shown, ok := i.view(e)
		return !ok || yield(shown)
	}
	for _, one := range i.veil.Lift(e) {
		if shown, ok := one.Spectator(); ok && !yield(shown) {
			return false
		}
	}
	return true
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
	reader, seen, left := eyes{view: x.view()}, after, limit
	for e, err := range x.handler.engine.Events(x.request.Context(), x.info.ID, after) {
		if err != nil {
			return err
		}
		if e.Kind() == flow.EventChunk || e.Seq <= seen {
			continue
		}
		seen = e.Seq
		reader.show(e, func(shown flow.Event) bool {
			out.Events = append(out.Events, shown)
			return true
		})
		if left--; left <= 0 && reader.veil.Held() == 0 || seen >= x.info.Seq {
			break
		}
	}
	if first := reader.veil.Held(); first > 0 {
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
	f := &following{exchange: x, eyes: eyes{view: x.view()}}
	shown := func(e flow.Event) (flow.Event, bool) { return e, true } // f has seen to it
	s := sse.Stream{View: shown, Refuse: x.handler.Refuse}
	_ = s.Serve(x.response, x.request.WithContext(ctx), f, x.info.ID) // the reader has left, or has been told
	return nil
}

// renewed is how old the right to view may be when a stream shows something.
const renewed = 15 * time.Second

// following is a stream of what the caller may see. A conversation may last for days, so the right to view it is asked for again.
type following struct {
	*exchange
	eyes
}

// Events implements [sse.Source].
func (f *following) Events(ctx context.Context, id string, after int64, heartbeat ...time.Duration) iter.Seq2[flow.Event, error] {
	return func(yield func(flow.Event, error) bool) {
		asked := time.Now()
		for e, err := range f.handler.engine.Events(ctx, id, after, heartbeat...) {
			if err == nil && time.Since(asked) >= renewed {
				asked, err = time.Now(), f.renew()
			}
			if err != nil {
				yield(flow.Event{}, err)
				return
			}
			if !f.show(e, func(shown flow.Event) bool { return yield(shown, nil) }) {
				return
			}
		}
	}
}

// renew asks for the right again.
func (f *following) renew() error {
	who, err := f.handler.who(f.request, Access{Action: View, ID: f.info.ID})
	if err == nil && who != f.caller.Who {
		err = &DeniedError{Err: errors.New("the stream is of somebody else: connect again")}
	}
	f.eyes.view = f.exchange.view()
	return err
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
