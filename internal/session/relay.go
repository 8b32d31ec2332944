package session

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/agonist-dev/debate/bus"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/piece"
	"github.com/agonist-dev/debate/provider"
)

const (
	// maxUnsent is how much text of one stream waits to be published. Beyond it the oldest is left out.
	maxUnsent = 64 << 10
	// publishLimit bounds one call of a bus.
	publishLimit = 10 * time.Second
	// maxPause is the longest time that a bus which has failed is left alone.
	maxPause = 5 * time.Second
)

// relay publishes the text of all streams of a host on its bus. It has one goroutine while there are streams. That one reads
// them as a reader does, so that a speaker waits neither for the relay nor for the bus.
type relay struct {
	bus    bus.Bus
	limits bus.Limits
	calm   chan struct{}   // gets a value when a session or a reader has ended
	life   context.Context // ends with the host
	end    func()

	mu      sync.Mutex
	streams []*relayed
	asks    []bus.Message // of this host's readers
	retry   time.Time     // until when a bus that has failed is left alone
	pause   time.Duration // how long that was
	running chan struct{} // closed when the goroutine has ended; nil: there is none
}

// relayed is a stream with what was published of it.
type relayed struct {
	*stream

	key    *piece.Key
	topic  string
	lines  [2]line   // of the reply, and of the thoughts
	told   bool      // readers know how much of it was published
	wanted bool      // a reader asks for it from its beginning, which is left out beyond maxUnsent
	again  time.Time // when it was last published anew on request
}

// line is one text of a stream on its way to the bus.
type line struct {
	had    int    // how many parts were read
	sent   int    // how many bytes were published, or left out
	unsent string // what was read and not published yet
}

// newRelay returns the relay of a host with that bus; nil: there is no bus.
func newRelay(b bus.Bus) *relay {
	if b == nil {
		return nil
	}
	r := &relay{bus: b, limits: settled(b.Limits()), calm: make(chan struct{}, 1)}
	r.life, r.end = context.WithCancel(context.Background())
	return r
}

// settled writes the defaults of limits out.
func settled(l bus.Limits) bus.Limits {
	l.Interval = max(cmp.Or(l.Interval, 10*time.Millisecond), time.Millisecond)
	l.Size = max(cmp.Or(l.Size, 64<<10), 1<<10)
	l.Batch = max(cmp.Or(l.Batch, 64*l.Size), l.Size)
	return l
}

// pieceKey returns the key of the session's conversation; nil: it has not started. The lock is held.
func (s *Session) pieceKey() *piece.Key {
	if s.key == nil {
		s.key = pieceKey(s.core)
	}
	return s.key
}

// pieceKey returns the key of a conversation; nil: it has not started.
func pieceKey(core *flow.Core) *piece.Key {
	secret, ok := core.Secret("chunks")
	if !ok {
		return nil
	}
	key, err := piece.NewKey(secret, core.Record().ID)
	if err != nil {
		return nil
	}
	return key
}

// add publishes a stream until it is removed.
func (r *relay) add(st *stream, key *piece.Key, id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if key == nil || r.life.Err() != nil {
		return
	}
	r.streams = append(r.streams, &relayed{stream: st, key: key, topic: piece.Topic(id)})
	r.start()
}

// emitter takes the chunks of a call; nil: nobody watches it.
type emitter = func(provider.Chunk)

// published returns the emitter of a call that is made without a session. It publishes the text, and gives it to emit. The caller
// calls end when the call has returned.
func (h *Host) published(command *flow.Command, after int64, key *piece.Key, emit emitter) (to emitter, end func()) {
	if h.relay == nil {
		to, _ = watched(command, emit)
		return to, func() {}
	}
	st := &stream{}
	st.open(command, after)
	to, said := watched(command, func(c provider.Chunk) {
		st.take(c)
		if emit != nil {
			emit(c)
		}
	})
	if to == nil {
		return nil, func() {}
	}
	st.begin(said)
	h.relay.add(st, key, command.Conversation)
	return to, func() {
		h.relay.remove(st)
		h.relay.rest()
		st.close("", "", false)
	}
}

// maxAsks bounds the requests for text that wait to be published.
const maxAsks = 1 << 10

// ask publishes a reader's request for text, with the next batch.
func (r *relay) ask(data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.asks) < maxAsks && r.life.Err() == nil {
		r.asks = append(r.asks, bus.Message{Topic: piece.Asks, Data: data})
		r.start()
	}
}

// start starts the goroutine if there is none. The lock is held.
func (r *relay) start() {
	if r.running == nil {
		r.running = make(chan struct{})
		go r.run(r.running)
	}
}

// remove ends publishing a stream: the fact that follows has its text. A nil relay does nothing.
func (r *relay) remove(st *stream) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.streams = slices.DeleteFunc(r.streams, func(one *relayed) bool { return one.stream == st })
}

// rest ends the goroutine now if there is nothing to publish, not after the interval: a session or a reader has ended. A nil relay
// does nothing.
func (r *relay) rest() {
	if r == nil {
		return
	}
	select {
	case r.calm <- struct{}{}:
	default:
	}
}

// close ends the relay and waits for its goroutine, or until the bus is given up.
func (r *relay) close(grace time.Duration) {
	r.end()
	r.mu.Lock()
	running := r.running
	r.mu.Unlock()
	if running == nil {
		return
	}
	most := time.NewTimer(grace)
	defer most.Stop()
	select {
	case <-running:
	case <-most.C: // the bus ignores its context
	}
}

// run publishes until there has been no stream for an interval.
func (r *relay) run(ended chan struct{}) {
	defer close(ended)
	asking, stop := context.WithCancel(r.life)
	defer stop()
	asks := r.bus.Subscribe(asking, piece.Asks)
	ticker := time.NewTicker(r.limits.Interval)
	defer ticker.Stop()
	for {
		select {
		case ask := <-asks:
			r.answer(ask)
			continue
		case <-r.calm:
			if r.busy() {
				continue
			}
		case <-ticker.C:
		case <-r.life.Done():
		}
		streams, batch := r.next()
		if streams == nil && batch == nil {
			return
		}
		r.publish(streams, batch)
	}
}

// busy reports whether there is something to publish.
func (r *relay) busy() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.streams)+len(r.asks) > 0
}

// askInterval is the least time between two answers to requests for the same text. Requests that come sooner are answered together.
const askInterval = time.Second

// answer has the streams of a conversation published from their beginning, if a reader of that conversation asks for it.
func (r *relay) answer(ask []byte) {
	const topic = 32
	if len(ask) <= topic {
		return
	}
	r.mu.Lock()
	streams := slices.Clone(r.streams)
	r.mu.Unlock()
	checked := false
	for _, one := range streams {
		if one.topic != string(ask[:topic]) {
			continue
		}
		if !checked {
			p, err := one.key.Open(ask[topic:])
			if err != nil || !p.Ask {
				return
			}
			checked = true
		}
		one.wanted = true
	}
}

// next returns the streams of this interval, and the requests that are to be published. If there are none, the goroutine has to
// end.
func (r *relay) next() (streams []*relayed, asks []bus.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	asks, r.asks = r.asks, nil
	if len(r.streams) == 0 {
		if asks == nil || r.life.Err() != nil {
			r.running = nil
			return nil, nil
		}
		return nil, asks
	}
	if r.life.Err() != nil {
		r.running = nil
		return nil, nil
	}
	r.streams = append(r.streams[1:len(r.streams):len(r.streams)], r.streams[0]) // another one is the first each time
	return slices.Clone(r.streams), asks
}

// publish publishes batch, and what has come since the last interval, as far as it fits a batch. At the beginning of a stream, and once
// it was published again, from there or as far back as maxUnsent goes, it says how much that is: so readers can tell a speaker who is
// silent from one whose engine has no bus, and from text that they have not got.
func (r *relay) publish(streams []*relayed, batch []bus.Message) {
	var done []func()
	left := r.limits.Batch
	send := func(one *relayed, p piece.Piece) {
		p.Call, p.Attempt, p.After = one.command.Call, one.command.Attempt, one.after
		data := one.key.Seal(&p)
		batch = append(batch, bus.Message{Topic: one.topic, Data: data})
		left -= len(data)
	}
	for _, one := range streams {
		if one.wanted && time.Since(one.again) >= askInterval {
			one.lines, one.told, one.wanted, one.again = [2]line{}, false, false, time.Now()
		}
		var published [2]int
		whole := true
		for i := range one.lines {
			l := &one.lines[i]
			one.read(l, i == 1)
			sent := 0
			for sent < len(l.unsent) && left > 0 {
				room := min(left, r.limits.Size) - piece.Overhead(one.command.Call)
				text := cut(l.unsent[sent:], room)
				if text == "" {
					left = 0
					break
				}
				send(one, piece.Piece{Reasoning: i == 1, Offset: l.sent + sent, Parts: l.had, Text: text})
				sent += len(text)
			}
			published[i], whole = l.sent+sent, whole && sent == len(l.unsent)
			if sent > 0 {
				done = append(done, func() { l.sent, l.unsent = l.sent+sent, l.unsent[sent:] })
			}
		}
		if !one.told && whole && left >= piece.Overhead(one.command.Call) {
			send(one, piece.Piece{Offset: published[0], Parts: published[1]})
			done = append(done, func() { one.told = true })
		}
	}
	if len(batch) == 0 || time.Now().Before(r.retry) {
		return
	}
	ctx, cancel := context.WithTimeout(r.life, publishLimit)
	defer cancel()
	if r.bus.Publish(ctx, batch) != nil { // the text is sent again
		r.pause = min(max(2*r.pause, r.limits.Interval), maxPause)
		r.retry = time.Now().Add(r.pause)
		return
	}
	r.pause = 0
	for _, do := range done {
		do()
	}
}

// read reads what has come of a line.
func (one *relayed) read(l *line, thoughts bool) {
	text, count := "", 0
	if thoughts {
		if chunk := one.thoughtSince(l.had, place{bytes: l.sent + len(l.unsent)}); chunk != nil {
			text, count = chunk.Text, chunk.Parts
		}
	} else {
		text, count = one.since(l.had)
	}
	l.had += count
	l.unsent += text
	if over := len(l.unsent) - maxUnsent; over > 0 {
		for over < len(l.unsent) && !utf8.RuneStart(l.unsent[over]) {
			over++
		}
		l.sent, l.unsent = l.sent+over, strings.Clone(l.unsent[over:])
	}
}

// cut returns the beginning of a text, not within a character if that is possible.
func cut(text string, most int) string {
	if most <= 0 {
		return ""
	}
	if len(text) <= most {
		return text
	}
	for n := most; n > most-utf8.UTFMax && n > 0; n-- {
		if utf8.RuneStart(text[n]) {
			return text[:n]
		}
	}
	return text[:most]
}
