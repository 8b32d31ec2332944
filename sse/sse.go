// Package sse streams a conversation to a browser, as server-sent events.
//
// An event of kind "turn" is sent under the name turn, as its JSON ([flow.Event]). A fact has its number as its id, so a browser that
// has lost its connection continues after the last fact that it has. Chunks and heartbeats have no id. After the last event comes one
// with the name end: the page closes its connection then, or it would connect again.
//
//	const source = new EventSource("/debates/7/events"), texts = {}
//	source.addEventListener("chunk", e => {
//		const c = JSON.parse(e.data).body
//		texts[c.call] = (texts[c.call] ?? "").slice(0, c.units) + c.text
//	})
//	source.addEventListener("turn", e => show(JSON.parse(e.data).body))
//	source.addEventListener("end", () => source.close())
package sse

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/audience"
	"github.com/agonist-dev/debate/internal/eventstream"
)

// Source yields the events of conversations, as debate.Engine.Events does.
type Source interface {
	Events(ctx context.Context, id string, after int64, heartbeat ...time.Duration) iter.Seq2[flow.Event, error]
}

// Stream answers requests with events. The zero value shows what spectators may see.
type Stream struct {
	// View returns what the reader may see of an event, and false if that is nothing. nil: [flow.Event.Spectator], and hidden turns only
	// once they are revealed ([flow.Veil]).
	View func(flow.Event) (flow.Event, bool)
	// Heartbeat is how long nothing is written at most: then a comment is, so that no proxy takes the connection for dead. 0: 15 s.
	Heartbeat time.Duration
	// Timeout is how long a write may take before the reader counts as gone; 0: 30 s. It takes the place of http.Server.WriteTimeout.
	Timeout time.Duration
	// Refuse answers a request whose stream cannot begin. nil: a line of text, with the status that Serve names.
	Refuse func(w http.ResponseWriter, r *http.Request, err error)
}

// Serve writes the events of a conversation until it is over, and returns nil then. It begins after the number in the header
// Last-Event-ID, or else in the parameter after of the URL; without either, at the beginning. The caller has checked that this reader
// may read this conversation.
//
// If Serve cannot begin, it answers with a status: 400 for a wrong number, 404 for an unknown conversation, otherwise 503. Once it has
// begun, it just ends, and a browser connects again. The error is that of the source, of a write, or of the request's context.
//
// http.Server.Shutdown waits for streams, and ends none: end the context of requests before (http.Server.BaseContext).
func (s Stream) Serve(w http.ResponseWriter, r *http.Request, source Source, id string) error {
	after, err := strconv.ParseInt(cmp.Or(r.Header.Get("Last-Event-ID"), r.URL.Query().Get("after"), "0"), 10, 64)
	refuse := s.Refuse
	if refuse == nil {
		refuse = inText
	}
	if err != nil || after < 0 {
		refuse(w, r, errNumber)
		return errNumber
	}
	out := response{eventstream.New(w, s.Timeout)}
	defer out.Close()
	if after > 0 {
		_ = out.Send("") // a reader that comes back is connected at once, although nothing may happen for long
	}
	reader := audience.Reader{Source: source, View: s.View}
	for event, err := range reader.Events(r.Context(), id, after, cmp.Or(s.Heartbeat, eventstream.Silence)) {
		if err == nil {
			err = out.event(event)
		}
		if err != nil && out.Last.IsZero() {
			refuse(w, r, err)
		}
		if err != nil {
			return err
		}
	}
	return out.Send("event: end\ndata:\n\n")
}

var errNumber = errors.New("Last-Event-ID is not the number of an event")

// response is what is written of a conversation.
type response struct{ *eventstream.Writer }

// event writes an event.
func (o response) event(e flow.Event) error {
	if e.Kind() == flow.EventHeartbeat {
		return o.Beat()
	}
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("event: %s\ndata: %s\n\n", e.Kind(), data)
	if e.Kind() != flow.EventChunk { // it has no number of its own
		text = fmt.Sprintf("id: %d\n%s", e.Seq, text)
	}
	return o.Send(text)
}

// inText answers with the status of an error, and a line of text.
func inText(w http.ResponseWriter, _ *http.Request, err error) {
	switch {
	case errors.Is(err, errNumber):
		http.Error(w, err.Error(), http.StatusBadRequest)
	case errors.Is(err, flow.ErrNotFound):
		http.Error(w, "there is no such conversation", http.StatusNotFound)
	default:
		http.Error(w, "the conversation cannot be read now", http.StatusServiceUnavailable)
	}
}
