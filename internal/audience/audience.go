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
		for from := after + 1; from > 0; {
			begin := from - 1
			from = 0
			for e, err := range r.Source.Events(ctx, id, begin, heartbeat...) {
				if err = r.renewed(err); err != nil {
					yield(Step{}, err)
					return
				}
				if from = r.unveiled(); from == 0 {
					var shown []flow.Event
					if shown, from = r.told(e, began); !yield(Step{Read: e, Shown: shown}, nil) {
						return
					}
				}
				if from > 0 {
					break
				}
			}
		}
	}
}

// renewed returns the error of a reading, or that of Renew.
func (r *Reader) renewed(err error) error {
	if err == nil && r.Renew != nil {
		return r.Renew()
	}
	return err
}

// unveiled lifts the veil if the reader may see all now, and returns the number of the fact from which they read again; 0: they go on.
func (r *Reader) unveiled() (from int64) {
	if r.View == nil {
		return 0
	}
	from = r.veil.Held()
	r.veil = flow.Veil{}
	return from
}

// told returns what the reader may see now, and the number of the fact from which they read again; 0: they go on. Whoever loads the
// conversation again because something was redacted is not told of that again.
func (r *Reader) told(e flow.Event, began time.Time) (shown []flow.Event, from int64) {
	shown = r.show(e)
	if e.Kind() != flow.EventRedacted || len(shown) == 0 {
		return shown, 0
	}
	from = r.veil.Held()
	if from > 0 && e.At.Before(began) {
		shown = nil
	}
	return shown, from
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
