package debate

import (
	"context"
	"errors"
	"iter"
	"time"
)

// pollInterval is how often the log of a debate that runs elsewhere is looked at.
const pollInterval = 250 * time.Millisecond

// Events yields the numbered events of a debate after the given number, wherever it runs: as
// [Session.Events] if it is open here, else the facts of its log as they are saved. It ends after
// the debate's last event.
func (e *Engine) Events(ctx context.Context, id string, after int64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		l, err := e.freeze()
		if err != nil {
			yield(Event{}, err)
			return
		}
		if s := l.held(id); s != nil {
			s.Events(ctx, after)(yield)
			return
		}
		if err := l.tail(ctx, id, after, yield); err != nil && !errors.Is(err, errLeft) {
			yield(Event{}, err)
		}
	}
}

var errLeft = errors.New("the reader has left")

// tail reads a log until its debate is over.
func (l *live) tail(ctx context.Context, id string, after int64, yield func(Event, error) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var grown <-chan struct{}
	if w, ok := l.store.(Watcher); ok {
		grown = w.Watch(ctx, id)
	}
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	var core *Core
	var seen int64
	var grew time.Time
	for {
		if err := l.catchUp(ctx, id, &core, after, yield); err != nil {
			return err
		}
		if r := core.record; r.Seq > seen {
			seen, grew = r.Seq, time.Now()
		}
		// What is in flight at the end still reports its cost, if anybody is there.
		if r := core.record; r.Final() && (r.InFlight() == 0 || time.Since(grew) > l.lease) {
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

// catchUp folds what a log has grown by, and yields what the reader has not had.
func (l *live) catchUp(ctx context.Context, id string, core **Core, after int64, yield func(Event, error) bool) error {
	known := int64(0)
	if *core != nil {
		known = (*core).record.Seq
	}
	for event, err := range l.store.Read(ctx, id, known) {
		if err != nil {
			return storeError("events", err)
		}
		if *core == nil {
			if *core, err = l.core(id, []Event{event}); err != nil {
				return err
			}
		} else if err := (*core).Fold(event); err != nil {
			return err
		}
		if event.Seq > after && !yield(public(event), nil) {
			return errLeft
		}
	}
	if *core == nil {
		return storeError("events", ErrNotFound)
	}
	return nil
}
