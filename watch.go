package debate

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Events yields the numbered events after the given number, then those that happen, and between them
// the chunks of turns as they are spoken. It ends after the debate's last event, or with an error:
// ctx is done, or the session was closed.
//
// Each reader has its own pace and slows nobody. One that is slow gets chunks merged, which
// Chunk.Parts counts, and never loses a fact. One that joins in the middle of a turn first gets its
// text so far. No chunk follows its call's result: the chunks of the attempt that succeeds add up to
// the turn's text, whether or not the provider streams, and whether or not the reader was there when
// it was spoken. A chunk whose Offset is less than what was had so far replaces it from there on. Turns that
// come without chunks are those from before the session was opened, and structured answers.
func (s *Session) Events(ctx context.Context, after int64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		w := s.watch(after, true)
		defer s.unwatch(w)
		for {
			if !w.facts(ctx, yield) || !w.chunks(yield) {
				return
			}
			if w.ended() {
				return
			}
			if err := w.pause(ctx); err != nil {
				yield(Event{}, err)
				return
			}
		}
	}
}

// watcher is one reader.
type watcher struct {
	session *Session
	cursor  int64
	wake    chan struct{} // holds one token
	reads   bool          // events, and not only the end
	asleep  atomic.Int32  // what would wake it

	mu      sync.Mutex
	streams []*followed
	flushed time.Time // when chunks were last given out
}

// followed is how much of a stream a reader has had.
type followed struct {
	*stream
	had, offset int
}

// What a sleeping watcher waits for.
const (
	awake     int32 = iota
	forRest         // the debate comes to rest: it is over, in error, or waits for a person
	forFacts        // or there are new facts
	forChunks       // or new chunks
)

// watch adds a reader. One that reads is given the streams that are open; another only waits.
func (s *Session) watch(after int64, reads bool) *watcher {
	w := &watcher{session: s, cursor: max(0, after), wake: make(chan struct{}, 1), reads: reads}
	s.readers.Lock()
	defer s.readers.Unlock()
	for _, st := range s.streams {
		if reads {
			w.streams = append(w.streams, &followed{stream: st})
		}
	}
	slices.SortFunc(w.streams, func(a, b *followed) int { return strings.Compare(a.command.Call, b.command.Call) })
	all := append(slices.Clone(*s.watchers.Load()), w)
	s.watchers.Store(&all)
	return w
}

func (s *Session) unwatch(w *watcher) {
	s.readers.Lock()
	defer s.readers.Unlock()
	rest := slices.DeleteFunc(slices.Clone(*s.watchers.Load()), func(x *watcher) bool { return x == w })
	s.watchers.Store(&rest)
}

// follow gives a new stream to every reader.
func (s *Session) follow(st *stream) {
	s.readers.Lock()
	defer s.readers.Unlock()
	s.streams = append(s.streams, st)
	for _, w := range *s.watchers.Load() {
		if !w.reads {
			continue
		}
		w.mu.Lock()
		w.streams = append(w.streams, &followed{stream: st})
		w.mu.Unlock()
	}
}

// unfollow forgets a stream that is closed.
func (s *Session) unfollow(st *stream) {
	s.readers.Lock()
	defer s.readers.Unlock()
	if i := slices.Index(s.streams, st); i >= 0 {
		s.streams = slices.Delete(s.streams, i, i+1)
	}
}

// notify wakes the readers: facts are there, or the debate has come to rest.
func (s *Session) notify() {
	state := s.core.record.State
	least := forFacts
	if s.closed != nil || s.over.Load() || state == StateError || state == StateAwaitingInput {
		least = forRest
	}
	for _, w := range *s.watchers.Load() {
		if w.asleep.Load() >= least {
			w.rouse()
		}
	}
}

// notifyChunk wakes the readers who wait for chunks too.
func (s *Session) notifyChunk() {
	for _, w := range *s.watchers.Load() {
		if w.asleep.Load() == forChunks {
			w.rouse()
		}
	}
}

func (w *watcher) rouse() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// facts yields what is saved after the cursor. Before a turn comes what is left of its text.
func (w *watcher) facts(ctx context.Context, yield func(Event, error) bool) bool {
	if w.session.seq.Load() <= w.cursor {
		return true
	}
	for event, err := range w.session.live.store.Read(ctx, w.session.id, w.cursor) {
		if err != nil {
			yield(Event{}, err)
			return false
		}
		if event, err = w.session.flow.Load().DecodeEvent(event); err != nil {
			yield(Event{}, err)
			return false
		}
		if chunk := w.finishStream(&event); chunk != nil {
			if !yield(Event{Seq: w.cursor, At: event.At, Body: chunk}, nil) {
				return false
			}
		}
		if !yield(public(event), nil) {
			return false
		}
		w.cursor = event.Seq
	}
	return true
}

// finishStream takes leave of the stream that an event ends. It yields what its reader has not had.
func (w *watcher) finishStream(e *Event) *Chunk {
	body, ok := e.Body.(AttemptEnd)
	if !ok {
		return nil
	}
	turn, spoken := body.(*Turn)
	spend := body.spent()
	w.mu.Lock()
	i := slices.IndexFunc(w.streams, func(f *followed) bool {
		return f.command.Call == spend.Call && f.command.Attempt == spend.Attempt
	})
	if i < 0 {
		w.mu.Unlock()
		if !spoken {
			return nil
		}
		return w.whole(e.Seq, turn)
	}
	f := w.streams[i]
	w.streams = slices.Delete(w.streams, i, i+1)
	w.mu.Unlock()
	if !spoken {
		return nil
	}
	return f.rest(turn, f.had, f.offset)
}

// whole yields the text of a turn that was spoken in this session before its reader came.
func (w *watcher) whole(seq int64, t *Turn) *Chunk {
	if seq <= w.session.base.Load() || t.Data != nil {
		return nil
	}
	return &Chunk{Call: t.Call, Attempt: t.Attempt, By: t.Speaker, Text: t.Text, Parts: 1}
}

// chunks yields what has come in of the turns that are being spoken.
func (w *watcher) chunks(yield func(Event, error) bool) bool {
	if time.Since(w.flushed) < w.session.live.interval {
		return true
	}
	w.mu.Lock()
	open := w.streams
	w.mu.Unlock()
	gave := false
	for _, f := range open {
		if f.seq > w.cursor {
			continue // its intent has not been given out yet
		}
		text, count := f.since(f.had)
		if count == 0 {
			continue
		}
		chunk := &Chunk{
			Call: f.command.Call, Attempt: f.command.Attempt, By: f.command.By, Offset: f.offset, Text: text, Parts: count,
		}
		f.had, f.offset, gave = f.had+count, f.offset+len(text), true
		if !yield(Event{Seq: w.cursor, At: time.Now().Round(0).UTC(), Body: chunk}, nil) {
			return false
		}
	}
	if gave {
		w.flushed = time.Now()
	}
	return true
}

// ended reports whether everything has been given out and nothing more can come.
func (w *watcher) ended() bool {
	return w.session.over.Load() && w.session.seq.Load() <= w.cursor
}

// pause sleeps until there is something to give out.
func (w *watcher) pause(ctx context.Context) error {
	if left := w.session.live.interval - time.Since(w.flushed); left > 0 {
		return w.wait(ctx, false, left)
	}
	return w.wait(ctx, true, 0)
}

func (w *watcher) hasChunks() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.streams {
		f.mu.Lock()
		fresh := !f.done && len(f.parts) > f.had
		f.mu.Unlock()
		if fresh && f.seq <= w.cursor {
			return true
		}
	}
	return false
}

// wait sleeps until facts come, or chunks if they are wanted, or so much time has passed.
func (w *watcher) wait(ctx context.Context, chunks bool, most time.Duration) error {
	wanted := forFacts
	if chunks {
		wanted = forChunks
	}
	w.asleep.Store(wanted)
	defer w.asleep.Store(awake)
	if w.session.seq.Load() > w.cursor || w.session.over.Load() || chunks && w.hasChunks() {
		return nil // it came before the watcher could be woken
	}
	if err := w.session.reason(); err != nil {
		return err
	}
	var timeout <-chan time.Time
	if most > 0 {
		timer := time.NewTimer(most)
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

// reason is why a session was closed before its debate was over.
func (s *Session) reason() error {
	if gone := s.gone.Load(); gone != nil && !s.over.Load() {
		return *gone
	}
	return nil
}

// public takes out of an event what only stores and snapshots may hold: the debate's seed, and the
// prompts, which hold its fence.
func public(e Event) Event {
	if start, ok := e.Body.(*Start); ok {
		shown := *start
		shown.Seed, shown.Texts, shown.Views = "", nil, Views{} // which hold labels
		e.Body = &shown
	}
	return e
}
