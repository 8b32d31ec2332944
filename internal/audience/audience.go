// Package audience shows conversations to readers who may see only a part of them.
package audience

import (
	"context"
	"iter"
	"time"

	"github.com/agonist-dev/debate/flow"
)

// Source yields the events of conversations, as debate.Engine.Events does.
type Source interface {
	Events(ctx context.Context, id string, after int64, heartbeat ...time.Duration) iter.Seq2[flow.Event, error]
}

// Reader reads one conversation for somebody. It is not safe for concurrent use.
type Reader struct {
	Source Source
	// View returns what may be seen of an event. nil: what spectators may see, behind a veil.
	View func(flow.Event) (flow.Event, bool)
	// Renew is called before each event, and may change View. Its error ends the reading. nil: nothing changes.
	Renew func() error

	veil flow.Veil
}

// Step is an event that was read, and what is shown now.
type Step struct {
	Read  flow.Event
	Shown []flow.Event // valid until the next step
}

// Held returns the number of the first fact that is kept back; 0: none is.
func (r *Reader) Held() int64 { return r.veil.Held() }

// Events implements [Source]. It yields a heartbeat too when much was read of which nothing is shown.
func (r *Reader) Events(ctx context.Context, id string, after int64, heartbeat ...time.Duration) iter.Seq2[flow.Event, error] {
	return func(yield func(flow.Event, error) bool) {
		last := time.Now()
		for step, err := range r.Steps(ctx, id, after, heartbeat...) {
			if err != nil {
				yield(flow.Event{}, err)
				return
			}
			if len(step.Shown) == 0 && len(heartbeat) > 0 && heartbeat[0] > 0 && time.Since(last) >= heartbeat[0] {
				step.Shown = r.veil.Lift(flow.Event{Seq: step.Read.Seq, At: step.Read.At, Body: &flow.Heartbeat{}})
			}
			for _, e := range step.Shown {
				last = time.Now()
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// Steps yields each event that is read. What was kept back is read again when it has changed, or may be seen after all.
func (r *Reader) Steps(ctx context.Context, id string, after int64, heartbeat ...time.Duration) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		began := time.Now()
		for again := true; again; {
			again = false
			for e, err := range r.Source.Events(ctx, id, after, heartbeat...) {
				if err == nil && r.Renew != nil {
					err = r.Renew()
				}
				if err != nil {
					yield(Step{}, err)
					return
				}
				if held := r.veil.Held(); held > 0 && r.View != nil {
					r.veil = flow.Veil{}
					after, again = held-1, true
					break
				}
				shown := r.show(e)
				held := r.veil.Held()
				redacted, ok := e.Body.(*flow.Redacted)
				again = ok && held > 0 && len(shown) > 0
				if again && redacted.At.Before(began) { // whoever loads the conversation again because of it must not be told again
					shown = nil
				}
				if !yield(Step{Read: e, Shown: shown}, nil) {
					return
				}
				if again {
					after = held - 1
					break
				}
			}
		}
	}
}

// show returns what the reader may see now.
func (r *Reader) show(e flow.Event) (out []flow.Event) {
	view, all := r.View, []flow.Event{e}
	if view == nil {
		view, all = flow.Event.Spectator, r.veil.Lift(e)
	}
	for _, one := range all {
		if one.Kind() == flow.EventHeartbeat { // it says nothing
			out = append(out, one)
		} else if shown, ok := view(one); ok {
			out = append(out, shown)
		}
	}
	return out
}
