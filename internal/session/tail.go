package session

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/agonist-dev/debate/flow"
)

// Follow yields the events of a conversation after the given number, whoever runs it: those of its session while it is open in this
// host, else those of its log as it grows, with the chunks of the host's bus. It ends when the conversation is over, and at nothing
// that can be followed by more. If it has yielded nothing for the time every, it yields a heartbeat; 0: none.
func (h *Host) Follow(ctx context.Context, id string, after int64, every time.Duration) iter.Seq2[flow.Event, error] {
	return func(yield func(flow.Event, error) bool) {
		t := &tail{host: h, id: id, after: max(0, after), pulse: newPulse(every), began: flow.ExpectedOf(ctx, id).StartedAt}
		t.yield = func(event flow.Event, err error) bool {
			defer t.pulse.rest()
			return yield(event, err)
		}
		if err := t.read(ctx); err != nil && !errors.Is(err, errReaderLeft) {
			yield(flow.Event{}, err)
		}
	}
}

var errReaderLeft = errors.New("the reader has left")

// pulse tells when a reader that gets nothing is due for a heartbeat. That of nil, as of one that was made for no time, never is.
type pulse struct {
	every time.Duration
	due   time.Time
}

func newPulse(every time.Duration) *pulse {
	if every <= 0 {
		return nil
	}
	return &pulse{every, time.Now().Add(every)}
}

// rest begins to wait anew: the reader has got something.
func (p *pulse) rest() {
	if p != nil {
		p.due = time.Now().Add(p.every)
	}
}

// at returns when the next heartbeat is due; zero: none is.
func (p *pulse) at() time.Time {
	if p == nil {
		return time.Time{}
	}
	return p.due
}

// over reports whether a heartbeat is due.
func (p *pulse) over() bool { return p != nil && !time.Now().Before(p.due) }

// beat is the heartbeat after the given event.
func (p *pulse) beat(after int64, at time.Time) flow.Event {
	return flow.Event{Seq: after, At: at, Body: &flow.Heartbeat{}}
}

// tail is a reader of a conversation, wherever that runs.
type tail struct {
	host  *Host
	id    string
	began time.Time // when the conversation began that is read; zero: nobody knows yet
	after int64     // the number of the last event that was yielded, or what the reader has begun after
	yield func(flow.Event, error) bool
	pulse *pulse
	given map[string]int // the attempts, by call, whose text a session gave that was closed before they had ended; nil: it has read none

	core    *flow.Core
	grew    time.Time // when the log was last found longer
	heard   hearing
	flushed time.Time // when chunks were last yielded
}

// read reads sessions of this host and the log, one after the other, until the conversation is over.
func (t *tail) read(ctx context.Context) error {
	opened := t.host.awaitOpening(t.id)
	defer t.host.stopAwaiting(t.id, opened)
	for {
		var over bool
		var err error
		if s := t.session(); s != nil {
			over, err = t.follow(ctx, s)
		} else {
			over, err = t.watch(ctx, opened)
		}
		if over || err != nil {
			return err
		}
	}
}

// session returns the session of the conversation that is open in this host; nil: there is none, or it was just closed.
func (t *tail) session() *Session {
	s := t.host.Session(t.id)
	if s == nil || s.readErr() != nil {
		return nil
	}
	return s
}

// follow yields the events of an open session. It reports whether the conversation is over. If the session is closed before,
// it returns: the log may still grow.
func (t *tail) follow(ctx context.Context, s *Session) (over bool, err error) {
	w := s.addWatcher(t.after, true)
	defer s.removeWatcher(w)
	w.careful = true
	w.read(ctx, t.pulse, func(event flow.Event, failure error) bool {
		if failure == nil {
			failure = t.same(s.startedAt())
		}
		switch {
		case failure != nil:
			err = failure
			return false
		case !t.yield(event, nil):
			err = errReaderLeft
			return false
		}
		t.after = event.Seq
		return true
	})
	t.given = w.unfinished()
	if err != nil && ctx.Err() == nil && s.readErr() != nil && !errors.Is(err, errReaderLeft) {
		return false, nil
	}
	return err == nil, err
}

// watch yields the events of the log. It reports whether the conversation is over. If that is opened in this host before, it returns.
func (t *tail) watch(ctx context.Context, opened <-chan struct{}) (over bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	log := t.host.growthOf(ctx, t.id, t.host.Lease)
	defer log.stop()
	t.heard = hearing{given: t.given}
	t.heard.subscribe(ctx, t.host.relay, t.id)
	defer t.host.relay.rest()
	for stale := true; t.session() == nil; {
		if stale {
			if err := t.facts(ctx); err != nil {
				return false, err
			}
		}
		if err := t.chunks(); err != nil {
			return false, err
		}
		// The calls in flight at the end still report their cost, if a process makes them.
		if t.core.Over() || t.core.Record().Final() && time.Since(t.grew) > t.host.Lease {
			return true, nil
		}
		if t.pulse.over() && !t.yield(t.pulse.beat(t.after, t.host.clock.now()), nil) {
			return false, errReaderLeft
		}
		if stale, err = t.wait(ctx, log, opened); err != nil {
			return false, err
		}
	}
	return false, nil
}

// wait returns when there may be something to yield. stale reports that the log may have grown.
func (t *tail) wait(ctx context.Context, log *growth, opened <-chan struct{}) (stale bool, err error) {
	var alarm <-chan time.Time
	if at := t.alarm(); !at.IsZero() {
		timer := time.NewTimer(time.Until(at))
		defer timer.Stop()
		alarm = timer.C
	}
	select {
	case message := <-t.heard.in:
		t.heard.receive(message, t.core)
		return t.heard.ahead(t.core), nil
	case <-alarm:
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

// alarm returns when there is something to do although nothing comes; zero: there is nothing.
func (t *tail) alarm() time.Time {
	at := earlier(t.heard.expiry(), t.pulse.at())
	if t.heard.fresh() {
		at = earlier(at, t.flushed.Add(t.host.Interval))
	}
	return at
}

// earlier returns the earlier of two times; zero: there is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// facts folds what the log has grown by, and yields the events that the reader has not had. Before a turn it yields the rest of its
// text.
func (t *tail) facts(ctx context.Context) error {
	live := t.core != nil || t.given != nil
	show := func(core *flow.Core, event flow.Event) error {
		if err := t.same(core.Record().StartedAt); err != nil {
			return err
		}
		t.core = core
		return t.show(event, live)
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
	if err := t.same(core.Record().StartedAt); err != nil {
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

// same returns flow.ErrNotFound if a conversation that began at this time is not the one that is read: that one was deleted, and the other
// has its id.
func (t *tail) same(began time.Time) error {
	if t.began.IsZero() {
		t.began = began
	}
	return another("read", t.id, t.began, began)
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

// show yields an event that was folded, unless the reader has had it. Before a turn it yields the rest of its text. live says that
// the reader was there before the event: it may have had a part of that.
func (t *tail) show(event flow.Event, live bool) (err error) {
	t.grew = time.Now()
	if event, err = t.core.Flow().DecodeEvent(event); err != nil {
		return err
	}
	had := event.Seq <= t.after
	left := t.heard.end(event.Body, live && !had)
	if had {
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
