package debate

import (
	"context"
	"errors"
	"iter"
	"time"
)

// pollInterval is how often a log is read that may have grown, if the store cannot watch it.
const pollInterval = 250 * time.Millisecond

// events yields the events of a debate after the given number: those of its session if it is open in this host, else
// those of its log as it grows.
func (h *host) events(ctx context.Context, id string, after int64) iter.Seq2[Event, error] {
	if s := h.session(id); s != nil {
		return s.events(ctx, after)
	}
	return func(yield func(Event, error) bool) {
		if err := h.tail(ctx, id, after, yield); err != nil && !errors.Is(err, errReaderLeft) {
			yield(Event{}, err)
		}
	}
}

var errReaderLeft = errors.New("the reader has left")

// tail reads a log until its debate is over.
func (h *host) tail(ctx context.Context, id string, after int64, yield func(Event, error) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var grown <-chan struct{}
	if w, ok := h.store.(Watcher); ok {
		grown = w.Watch(ctx, id)
	}
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	var core *Core
	var seen int64
	var grew time.Time
	for {
		if err := h.readOn(ctx, id, &core, after, yield); err != nil {
			return err
		}
		if r := core.Record(); r.Seq > seen {
			seen, grew = r.Seq, time.Now()
		}
		// The calls in flight at the end still report their cost, if a process makes them.
		if core.over() || core.Record().Final() && time.Since(grew) > h.lease {
			return nil
		}
		select {
		case _, open := <-grown:
			if !open {
				grown = nil
			}
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// readOn folds what a log has grown by, and yields the events after the given number. It makes the core if that is nil.
func (h *host) readOn(ctx context.Context, id string, core **Core, after int64, yield func(Event, error) bool) error {
	known := int64(0)
	if *core != nil {
		known = (*core).Record().Seq
	}
	for event, err := range h.store.Read(ctx, id, known) {
		if err != nil {
			return storeError("events", err)
		}
		if *core == nil {
			if *core, err = h.newCore(id, []Event{event}); err != nil {
				return err
			}
		} else if err := (*core).Fold(event); err != nil {
			return err
		}
		if event.Seq <= after {
			continue
		}
		event, err = (*core).machine.flow.DecodeEvent(event)
		if err != nil {
			return err
		}
		if !yield(public(event), nil) {
			return errReaderLeft
		}
	}
	if *core == nil {
		return storeError("events", ErrNotFound)
	}
	return nil
}
