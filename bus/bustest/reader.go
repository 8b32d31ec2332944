package bustest

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/bus"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// The checks of readers let whole engines speak and read over a bus. What they find is what a person sees who watches a debate in another
// process: text that he has not got is named, and comes with the turn.

// speech is a debate whose first speaker says what the check gives it, over one bus, with readers that hear it over others.
type speech struct {
	*exam

	store   store.Memory
	speaker debate.Engine
	session *debate.Session
	say     chan string // what is said next; closed: the reply ends
	said    int         // how many bytes were
	readers sync.WaitGroup
	ended   context.Context
	end     func() // of the speaker and the readers
}

// smallest is a bus on which engines publish in many small messages.
type smallest struct{ bus.Bus }

// Limits implements [bus.Bus].
func (s smallest) Limits() bus.Limits {
	l := s.Bus.Limits()
	_, l.Batch = settled(s.Bus)
	l.Size = 1 << 10
	return l
}

// speak begins a debate over a bus. The caller calls close.
func (x *exam) speak(over bus.Bus) *speech {
	x.Helper()
	s := &speech{exam: x, say: make(chan string)}
	s.ended, s.end = context.WithCancel(x.Context())
	s.speaker.Store, s.speaker.Bus, s.speaker.SkipModelCheck = &s.store, over, true
	s.speaker.Providers = map[string]debate.Provider{"test": s}
	var err error
	s.session, err = s.speaker.Start(s.ended, debate.Config{
		Topic: "Is all of it heard?", Rounds: 1, Unattended: true, MaxTokens: 10 << 20, TurnTimeout: time.Hour,
		Participants: []debate.Participant{{Name: "Ada", Model: "test/model"}, {Name: "Ben", Model: "test/model"}},
	})
	if err != nil {
		s.end()
		x.Fatalf("a debate cannot be started: %v", err)
	}
	return s
}

// close ends the debate, its readers and all that runs for them.
func (s *speech) close() {
	s.end()
	_ = s.speaker.Shutdown(s.ended)
	s.readers.Wait()
}

// Generate implements [provider.Provider].
func (s *speech) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	if req.Self != "Ada" {
		return &provider.Response{Text: "I have heard it.", Stop: provider.StopEnd}, nil
	}
	var all strings.Builder
	for {
		select {
		case text, more := <-s.say:
			if !more {
				return &provider.Response{Text: all.String(), Stop: provider.StopEnd}, nil
			}
			all.WriteString(text)
			emit(provider.Chunk{Text: text})
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-s.ended.Done():
			return nil, s.ended.Err()
		}
	}
}

// tell has the speaker say a text.
func (s *speech) tell(text string) {
	s.Helper()
	select {
	case s.say <- text:
		s.said += len(text)
	case <-time.After(patience):
		s.Fatalf("the speaker is not asked")
	}
}

// listener is a reader of the speech.
type listener struct {
	mu    sync.Mutex
	text  []byte
	gap   bool          // it was told that text is missing
	turn  *flow.Turn    // the speech, once it is over
	fails error         // with which the reading has ended
	news  chan struct{} // gets a value when one of these has changed
}

// listen begins to read over a bus. From the first text on, the reader stands still until awake is closed.
func (s *speech) listen(over bus.Bus, awake <-chan struct{}) *listener {
	l := &listener{news: make(chan struct{}, 1)}
	engine := &debate.Engine{Store: &s.store, Bus: over}
	s.readers.Go(func() {
		defer func() { _ = engine.Shutdown(s.ended) }()
		for event, err := range engine.Events(s.ended, s.session.ID(), 0) {
			if l.take(event, err) {
				return
			}
			if chunk, ok := event.Body.(*flow.Chunk); ok && chunk.Text != "" {
				select {
				case <-awake:
				case <-s.ended.Done():
				}
			}
		}
	})
	return l
}

// take takes an event, and reports whether it was the last that the check needs.
func (l *listener) take(event flow.Event, err error) (last bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch body := event.Body.(type) {
	case *flow.Chunk:
		if body.By == "Ada" {
			l.text = append(l.text[:body.Offset], body.Text...)
			l.gap = l.gap || body.Missing != 0
		}
	case *flow.Turn:
		l.turn = body
	default:
		l.fails = err
	}
	select {
	case l.news <- struct{}{}:
	default:
	}
	return l.turn != nil || l.fails != nil
}

// await waits until a reader has what is wanted of it.
func (s *speech) await(l *listener, what string, wanted func(l *listener) bool) {
	s.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		l.mu.Lock()
		is, fails, has := wanted(l), l.fails, len(l.text)
		l.mu.Unlock()
		switch {
		case is:
			return
		case fails != nil:
			s.Fatalf("a reader fails: %v", fails)
		}
		select {
		case <-l.news:
		case <-late.C:
			s.Fatalf("%s: it has %d of %d bytes, and is not told that text is missing", what, has, s.said)
		}
	}
}

// hears waits until a reader has all that was said, or knows that text is missing.
func (s *speech) hears(l *listener, what string) {
	s.Helper()
	s.await(l, what, func(l *listener) bool { return l.gap || len(l.text) == s.said })
}

// finish ends the speech, and checks that all readers get the whole of it.
func (s *speech) finish(all ...*listener) {
	s.Helper()
	close(s.say)
	for _, l := range all {
		s.await(l, "the end of a speech", func(l *listener) bool { return l.turn != nil })
		if len(l.turn.Text) != s.said || l.turn.Text != string(l.text) {
			s.Errorf("the chunks of a turn have %d bytes, or others than its %d of %d that were said", len(l.text), len(l.turn.Text), s.said)
		}
	}
}

// passage returns a text in which each place is its own.
func passage(from, size int) string {
	var text strings.Builder
	for at := from; text.Len() < size; at += 8 {
		for shift := 28; shift >= 0; shift -= 4 {
			text.WriteByte("abcdefghijklmnop"[at>>shift&15])
		}
	}
	return text.String()[:size]
}

// slowReaders lets two readers stand still while more is said than waits for them. Then one goes on and, as soon as it knows where it
// is, the other one, while the speaker is silent: the bus may drop what answers the first one before the second one reads.
func slowReaders(x *exam) {
	const passages, size = 35, 32 << 10
	s := x.speak(smallest{x.server.Open(x.TB)})
	defer s.close()
	now, first, second := make(chan struct{}), make(chan struct{}), make(chan struct{})
	close(now)
	over := x.server.Open(x.TB)
	awake := s.listen(over, now)
	slow := []*listener{s.listen(over, first), s.listen(x.server.Open(x.TB), second)}
	for n := range passages {
		s.tell(passage(n*size, size))
		s.hears(awake, "a reader that keeps up")
		for _, l := range slow {
			s.await(l, "a reader that is still to be slow", func(l *listener) bool { return len(l.text) > 0 || l.gap })
		}
	}
	close(first)
	s.hears(slow[0], "the first reader that was slow")
	close(second)
	s.hears(slow[1], "the second reader that was slow")
	s.finish(append(slow, awake)...)
}

// longText lets somebody say more than readers keep of one call.
func longText(x *exam) {
	const size, kept = 60 << 10, 4 << 20
	s := x.speak(x.server.Open(x.TB))
	defer s.close()
	now := make(chan struct{})
	close(now)
	l := s.listen(x.server.Open(x.TB), now)
	for s.said <= kept+size {
		s.tell(passage(s.said, size))
		s.hears(l, "a reader of a long text")
	}
	s.finish(l)
}
