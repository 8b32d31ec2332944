package session

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/agonist-dev/debate/flow"
)

// Events yields the events of a conversation after the given number: those of its session if it is open in this host,
// else those of its log as it grows. If it is opened in this host meanwhile, they are those of the session from then on, until
// that is closed.
func (h *Host) Events(ctx context.Context, id string, after int64) iter.Seq2[flow.Event, error] {
	if s := h.Session(id); s != nil {
		return s.Events(ctx, after)
	}
	return func(yield func(flow.Event, error) bool) {
		if err := h.tail(ctx, id, after, yield); err != nil && !errors.Is(err, errReaderLeft) {
			yield(flow.Event{}, err)
		}
	}
}

var errReaderLeft = errors.New("the reader has left")

// tail reads a log until its conversation is over.
func (h *Host) tail(ctx context.Context, id string, after int64, yield func(flow.Event, error) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	log := h.growthOf(ctx, id, pollInterval) // the loop looks at the clock too
	defer log.stop()
	var core *flow.Core
	var seen int64
	var grew time.Time
	for {
		if s := h.Session(id); s != nil {
			if ended, err := s.follow(ctx, &after, yield); ended || err != nil {
				return err
			}
		}
		if err := h.readOn(ctx, id, &core, &after, yield); err != nil {
			return err
		}
		if r := core.Record(); r.Seq > seen {
			seen, grew = r.Seq, time.Now()
		}
		// The calls in flight at the end still report their cost, if a process makes them.
		if core.Over() || core.Record().Final() && time.Since(grew) > h.Lease {
			return nil
		}
		if err := log.wait(ctx); err != nil {
			return err
		}
	}
}

// follow yields the events of an open session, and moves after to the last one. It reports whether the conversation has ended.
// If the session is closed before, it returns: the log may still grow.
func (s *Session) follow(ctx context.Context, after *int64, yield func(flow.Event, error) bool) (ended bool, err error) {
	for event, err := range s.Events(ctx, *after) {
		if err != nil {
			if ctx.Err() == nil && s.readErr() != nil {
				return false, nil
			}
			return false, err
		}
		if !yield(event, nil) {
			return false, errReaderLeft
		}
		*after = event.Seq
	}
	return true, nil
}

// readOn folds what a log has grown by, yields the events after the given number, and moves that on. It makes the core if
// that is nil.
func (h *Host) readOn(ctx context.Context, id string, core **flow.Core, after *int64, yield func(flow.Event, error) bool) error {
	known := int64(0)
	if *core != nil {
		known = (*core).Record().Seq
	}
	for event, err := range h.Store.Read(ctx, id, known) {
		if err != nil {
			return StoreError("events", err)
		}
		if *core == nil {
			if *core, err = h.NewCore(id, []flow.Event{event}); err != nil {
				return err
			}
		} else if err := (*core).Fold(event); errors.Is(err, flow.ErrRewritten) {
			return h.readAnew(ctx, id, core, after, yield)
		} else if err != nil {
			return err
		}
		if err := show(*core, event, after, yield); err != nil {
			return err
		}
	}
	if *core == nil {
		return StoreError("events", flow.ErrNotFound)
	}
	return nil
}

// readAnew is readOn for a log that was rewritten: the core is made from the whole log.
func (h *Host) readAnew(ctx context.Context, id string, core **flow.Core, after *int64, yield func(flow.Event, error) bool) error {
	log, err := h.Read(ctx, id)
	if err != nil {
		return err
	}
	if *core, err = h.NewCore(id, log); err != nil {
		return err
	}
	for _, event := range log {
		if err := show(*core, event, after, yield); err != nil {
			return err
		}
	}
	return nil
}

// show yields an event, unless the reader has had it, and moves after on.
func show(core *flow.Core, event flow.Event, after *int64, yield func(flow.Event, error) bool) error {
	if event.Seq <= *after {
		return nil
	}
	event, err := core.Flow().DecodeEvent(event)
	if err != nil {
		return err
	}
	if !yield(event.Public(), nil) {
		return errReaderLeft
	}
	*after = event.Seq
	return nil
}
