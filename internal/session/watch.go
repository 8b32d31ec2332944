package session

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agonist-dev/debate/flow"
)

// Events is [debate.Session.Events].
func (s *Session) Events(ctx context.Context, after int64) iter.Seq2[flow.Event, error] {
	return func(yield func(flow.Event, error) bool) {
		w := s.addWatcher(after, true)
		defer s.removeWatcher(w)
		w.read(ctx, nil, yield)
	}
}

// watcher is one reader: a loop over events, or a wait.
type watcher struct {
	session *Session
	cursor  int64         // the number of the last event that was yielded
	wake    chan struct{} // holds one token
	reads   bool          // it reads events; else it only waits for the conversation to stop
	careful bool          // it looks whose log it is before it reads for a session that has left it
	asleep  atomic.Int32  // what it waits for

	heard map[string]place // by call: how much the reader has had of a reply that is continued

	mu      sync.Mutex
	streams []*heardStream
	flushed time.Time // when chunks were last yielded
}

// heardStream is a stream, and how much of it a reader has had.
type heardStream struct {
	*stream

	had int // chunks
	at  place

	thoughts int // the same of the model's thoughts
	thought  place
}

// What a watcher waits for. Each value includes the ones before it.
const (
	awake     int32 = iota
	forStop         // the conversation stops: it is over, in error, paused, or waits for a person
	forFacts        // new facts
	forChunks       // new chunks
)

// addWatcher adds a reader. A watcher that reads gets the streams of the turns that are being spoken.
func (s *Session) addWatcher(after int64, reads bool) *watcher {
	w := &watcher{session: s, cursor: max(0, after), wake: make(chan struct{}, 1), reads: reads}
	s.readers.Lock()
	defer s.readers.Unlock()
	for _, st := range s.streams {
		if reads {
			w.streams = append(w.streams, &heardStream{stream: st})
		}
	}
	slices.SortFunc(w.streams, func(a, b *heardStream) int { return strings.Compare(a.command.Call, b.command.Call) })
	all := append(slices.Clone(*s.watchers.Load()), w)
	s.watchers.Store(&all)
	return w
}

func (s *Session) removeWatcher(w *watcher) {
	s.readers.Lock()
	defer s.readers.Unlock()
	others := slices.DeleteFunc(slices.Clone(*s.watchers.Load()), func(x *watcher) bool { return x == w })
	s.watchers.Store(&others)
}

// addStream gives a new stream to every reader.
func (s *Session) addStream(st *stream) {
	s.readers.Lock()
	defer s.readers.Unlock()
	s.streams = append(s.streams, st)
	for _, w := range *s.watchers.Load() {
		if !w.reads {
			continue
		}
		w.mu.Lock()
		w.streams = append(w.streams, &heardStream{stream: st})
		w.mu.Unlock()
	}
}

// removeStream removes a stream that is closed. Readers that still have it keep it until its turn comes.
func (s *Session) removeStream(st *stream) {
	s.readers.Lock()
	defer s.readers.Unlock()
	if i := slices.Index(s.streams, st); i >= 0 {
		s.streams = slices.Delete(s.streams, i, i+1)
	}
}

// notify wakes the readers: there are new facts, or the conversation has stopped. The lock is held.
func (s *Session) notify() {
	state := s.core.Record().State
	least := forFacts
	if s.closed != nil || s.over.Load() || state == flow.StateError || state == flow.StateAwaitingInput || state == flow.StatePaused {
		least = forStop
	}
	for _, w := range *s.watchers.Load() {
		if w.asleep.Load() >= least {
			w.wakeUp()
		}
	}
}

// notifyChunk wakes the readers that wait for chunks.
func (s *Session) notifyChunk() {
	for _, w := range *s.watchers.Load() {
		if w.asleep.Load() == forChunks {
			w.wakeUp()
		}
	}
}

func (w *watcher) wakeUp() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// read yields events until none can follow or the session is closed, and heartbeats; nil: there are none.
func (w *watcher) read(ctx context.Context, p *pulse, yield func(flow.Event, error) bool) {
	for w.facts(ctx, yield) && w.chunks(yield) && !w.ended() {
		if p.over() && !yield(p.beat(w.cursor, w.session.stopwatch.now()), nil) {
			return
		}
		if err := w.pause(ctx, p); err != nil {
			yield(flow.Event{}, err)
			return
		}
	}
}

// unfinished returns the calls that the reader has heard and not had the end of, with their attempts.
func (w *watcher) unfinished() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := make(map[string]int, len(w.streams))
	for _, f := range w.streams {
		calls[f.command.Call] = f.command.Attempt
	}
	return calls
}

// facts yields the events that are saved after the cursor. Before a turn it yields the rest of its text.
func (w *watcher) facts(ctx context.Context, yield func(flow.Event, error) bool) bool {
	if w.session.savedSeq.Load() <= w.cursor {
		return true
	}
	if s := w.session; w.careful && s.left() {
		if err := s.host.Still(ctx, "read", s.ID, s.startedAt()); err != nil {
			yield(flow.Event{}, err)
			return false
		}
	}
	for event, err := range w.session.host.Store.Read(ctx, w.session.ID, w.cursor) {
		if err != nil {
			yield(flow.Event{}, StoreError("read", named(err, w.session.ID)))
			return false
		}
		if event, err = w.session.flow.Load().DecodeEvent(event); err != nil {
			yield(flow.Event{}, err)
			return false
		}
		for _, chunk := range w.finishStream(&event) {
			if chunk != nil && !yield(flow.Event{Seq: w.cursor, At: event.At, Body: chunk}, nil) {
				return false
			}
		}
		if !yield(event.Public(), nil) {
			return false
		}
		w.cursor = event.Seq
	}
	return true
}

// finishStream removes the stream that an event ends. It returns what the reader has not had of its thoughts and of its
// text; nil: nothing.
func (w *watcher) finishStream(e *flow.Event) (left [2]*flow.Chunk) {
	spend := flow.SpendOf(e.Body)
	if spend == nil {
		return left
	}
	turn := saidIn(e.Body)
	_, continued := e.Body.(*flow.Continued)
	w.mu.Lock()
	i := slices.IndexFunc(w.streams, func(f *heardStream) bool {
		return f.command.Call == spend.Call && f.command.Attempt == spend.Attempt
	})
	if i < 0 {
		w.mu.Unlock()
		if turn != nil && turn.Text != "" {
			return w.wholeText(e.Seq, turn)
		}
		return left
	}
	f := w.streams[i]
	w.streams = slices.Delete(w.streams, i, i+1)
	w.mu.Unlock()
	w.resume(f)
	switch {
	case turn != nil:
		delete(w.heard, f.command.Call)
	case continued && w.heard == nil:
		w.heard = map[string]place{f.command.Call: f.end()}
	case continued:
		w.heard[f.command.Call] = f.end()
	}
	if f.command.Schema != "" || continued {
		left[1] = f.rest(f.had, f.at)
	} else if turn != nil {
		left[0] = f.thoughtRemainder(turn, f.thoughts, f.thought)
		left[1] = f.remainder(turn, f.had, f.at)
	}
	return left
}

// resume skips what the reader has had of a reply before the attempt that continues it.
func (w *watcher) resume(f *heardStream) {
	if f.had == 0 && f.continues(w.heard[f.command.Call].bytes) {
		f.had, f.at = 1, w.heard[f.command.Call]
	}
}

// wholeText returns the text of a turn that was spoken in this session before its reader came.
func (w *watcher) wholeText(seq int64, t *flow.Turn) (whole [2]*flow.Chunk) {
	if seq <= w.session.firstSeq.Load() || t.Data != nil && t.Text == string(t.Data) { // JSON is read as the event has it
		return whole
	}
	if t.Reasoning != "" {
		whole[0] = &flow.Chunk{Call: t.Call, Attempt: t.Attempt, By: t.Speaker, Hidden: t.Hidden, Text: t.Reasoning, Reasoning: true, Parts: 1}
	}
	whole[1] = &flow.Chunk{Call: t.Call, Attempt: t.Attempt, By: t.Speaker, Hidden: t.Hidden, Text: t.Text, Parts: 1}
	return whole
}

// chunks yields new text of the turns that are being spoken.
func (w *watcher) chunks(yield func(flow.Event, error) bool) bool {
	if time.Since(w.flushed) < w.session.host.Interval {
		return true
	}
	w.mu.Lock()
	streams := w.streams
	w.mu.Unlock()
	yielded := false
	for _, f := range streams {
		if f.after > w.cursor {
			continue // the call's intent has not been yielded yet
		}
		if chunk := f.thoughtSince(f.thoughts, f.thought); chunk != nil {
			f.thoughts, f.thought, yielded = f.thoughts+chunk.Parts, f.thought.after(chunk.Text), true
			if !yield(flow.Event{Seq: w.cursor, At: w.session.stopwatch.now(), Body: chunk}, nil) {
				return false
			}
		}
		w.resume(f)
		text, count := f.since(f.had)
		if count == 0 {
			continue
		}
		chunk := &flow.Chunk{
			Call: f.command.Call, Attempt: f.command.Attempt, By: f.command.By, Schema: f.command.Schema, Hidden: f.command.Hidden,
			Offset: f.at.bytes, Units: f.at.units, Text: text, Parts: count,
		}
		f.had, f.at, yielded = f.had+count, f.at.after(text), true
		if !yield(flow.Event{Seq: w.cursor, At: w.session.stopwatch.now(), Body: chunk}, nil) {
			return false
		}
	}
	if yielded {
		w.flushed = time.Now()
	}
	return true
}

// ended reports whether every event was yielded and none can follow.
func (w *watcher) ended() bool {
	return w.session.over.Load() && w.session.savedSeq.Load() <= w.cursor
}

// pause waits until there is something to yield.
func (w *watcher) pause(ctx context.Context, p *pulse) error {
	limit := max(0, w.session.host.Interval-time.Since(w.flushed))
	chunks := limit == 0
	if at := p.at(); !at.IsZero() && (chunks || time.Until(at) < limit) {
		limit = max(1, time.Until(at))
	}
	return w.wait(ctx, chunks, limit)
}

func (w *watcher) hasChunks() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.streams {
		f.mu.Lock()
		fresh := !f.done && (len(f.parts) > f.had || f.thought.bytes < f.thoughtLen())
		f.mu.Unlock()
		if fresh && f.after <= w.cursor {
			return true
		}
	}
	return false
}

// wait waits for facts, and for chunks if they are wanted. It returns after the time limit at the latest; 0: none.
func (w *watcher) wait(ctx context.Context, chunks bool, limit time.Duration) error {
	wanted := forFacts
	if chunks {
		wanted = forChunks
	}
	w.asleep.Store(wanted)
	defer w.asleep.Store(awake)
	if w.session.savedSeq.Load() > w.cursor || w.session.over.Load() || chunks && w.hasChunks() {
		return nil // it came before asleep was set
	}
	if err := w.session.readErr(); err != nil {
		return err
	}
	var timeout <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case <-w.wake:
		return nil
	case <-timeout:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// readErr is why a session was closed before its conversation was over; nil: it was not.
func (s *Session) readErr() error {
	if err := s.closedErr.Load(); err != nil && !s.over.Load() {
		return *err
	}
	return nil
}
