package session

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/agonist-dev/debate/flow"
)

// Events yields the events of a conversation after the given number: those of its session if it is open in this host,
// else those of its log as it grows, with the chunks of the host's bus. If it is opened in this host meanwhile, they are
// those of the session from then on, until that is closed.
func (h *Host) Events(ctx context.Context, id string, after int64) iter.Seq2[flow.Event, error] {
	if s := h.Session(id); s != nil {
		return s.Events(ctx, after)
	}
	return func(yield func(flow.Event, error) bool) {
		t := &tail{host: h, id: id, after: after, yield: yield}
		if err := t.read(ctx); err != nil && !errors.Is(err, errReaderLeft) {
			yield(flow.Event{}, err)
		}
	}
}

var errReaderLeft = errors.New("the reader has left")

// tail is a reader of a conversation that is not open in this host.
type tail struct {
	host  *Host
	id    string
	after int64 // the number of the last event that was yielded, or what the reader has begun after
	yield func(flow.Event, error) bool

	core    *flow.Core
	grew    time.Time // when the log was last found longer
	heard   hearing
	flushed time.Time // when chunks were last yielded
}

// read reads a log until its conversation is over.
func (t *tail) read(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	log := t.host.growthOf(ctx, t.id, t.host.Lease)
	defer log.stop()
	opened := t.host.awaitOpening(t.id)
	defer t.host.stopAwaiting(t.id, opened)
	t.heard.subscribe(ctx, t.host.relay, t.id)
	defer t.host.relay.rest()
	for stale := true; ; {
		if s := t.host.Session(t.id); s != nil {
			if ended, err := t.follow(ctx, s); ended || err != nil {
				return err
			}
			stale = true
		}
		if stale {
			if err := t.facts(ctx); err != nil {
				return err
			}
		}
		if err := t.chunks(); err != nil {
			return err
		}
		// The calls in flight at the end still report their cost, if a process makes them.
		if t.core.Over() || t.core.Record().Final() && time.Since(t.grew) > t.host.Lease {
			return nil
		}
		var err error
		if stale, err = t.wait(ctx, log, opened); err != nil {
			return err
		}
	}
}

// wait returns when there may be something to yield. stale reports that the log may have grown.
func (t *tail) wait(ctx context.Context, log *growth, opened <-chan struct{}) (stale bool, err error) {
	var flush <-chan time.Time
	if t.heard.fresh() {
		timer := time.NewTimer(t.host.Interval - time.Since(t.flushed))
		defer timer.Stop()
		flush = timer.C
	}
	var silence <-chan time.Time
	if at, waits := t.heard.expiry(); waits {
		timer := time.NewTimer(time.Until(at))
		defer timer.Stop()
		silence = timer.C
	}
	select {
	case message := <-t.heard.in:
		t.heard.receive(message, t.core)
		return t.heard.ahead(t.core), nil
	case <-flush:
		return false, nil
	case <-silence:
		t.heard.expire(t.core)
		return false, nil
	case <-opened:
		return true, nil
	case _, open := <-log.watched:
		if !open {
			log.watched = nil
		}
		return true, nil
	case <-log.ticks(t.core.Record().Final()): // it may be over by now
		return true, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// follow yields the events of an open session. It reports whether the conversation has ended. If the session is closed before,
// it returns: the log may still grow.
func (t *tail) follow(ctx context.Context, s *Session) (ended bool, err error) {
	for event, err := range s.Events(ctx, t.after) {
		if err != nil {
			if ctx.Err() == nil && s.readErr() != nil {
				t.heard.clear()
				return false, nil
			}
			return false, err
		}
		if !t.yield(event, nil) {
			return false, errReaderLeft
		}
		t.after = event.Seq
	}
	return true, nil
}

// facts folds what the log has grown by, and yields the events that the reader has not had. Before a turn it yields the rest of its
// text.
func (t *tail) facts(ctx context.Context) error {
	first := t.core == nil
	show := func(core *flow.Core, event flow.Event) error {
		t.core = core
		return t.show(event, !first)
	}
	err := t.host.foldEach(ctx, t.id, t.core, show)
	if errors.Is(err, flow.ErrRewritten) {
		err = t.anew(ctx, show)
	}
	if err != nil {
		return err
	}
	if t.core == nil {
		return StoreError("read", named(flow.ErrNotFound, t.id))
	}
	t.heard.folded(t.core)
	return nil
}

// anew shows a log that was rewritten. Its core can only be made from the whole log.
func (t *tail) anew(ctx context.Context, show func(*flow.Core, flow.Event) error) error {
	log, err := t.host.Read(ctx, t.id)
	if err != nil {
		return err
	}
	core, err := t.host.NewCore(t.id, log)
	if err != nil {
		return err
	}
	for _, event := range log {
		if event.Seq <= t.after {
			continue
		}
		if err := show(core, event); err != nil {
			return err
		}
	}
	t.core = core
	return nil
}

// chunks yields what the reader has not had of the calls in flight.
func (t *tail) chunks() error {
	if time.Since(t.flushed) < t.host.Interval {
		return nil
	}
	for _, chunk := range t.heard.take() {
		t.flushed = time.Now()
		if !t.yield(flow.Event{Seq: t.after, At: t.host.clock.now(), Body: &chunk}, nil) {
			return errReaderLeft
		}
	}
	return nil
}

// show yields an event that was folded, unless the reader has had it. Before a turn it yields the rest of its text. heard says that
// the reader may have had a part of that.
func (t *tail) show(event flow.Event, heard bool) (err error) {
	t.grew = time.Now()
	if event, err = t.core.Flow().DecodeEvent(event); err != nil {
		return err
	}
	left := t.heard.end(event.Body, heard)
	if event.Seq <= t.after {
		return nil
	}
	for i := range left {
		if !t.yield(flow.Event{Seq: t.after, At: event.At, Body: &left[i]}, nil) {
			return errReaderLeft
		}
	}
	if !t.yield(event.Public(), nil) {
		return errReaderLeft
	}
	t.after = event.Seq
	return nil
}
