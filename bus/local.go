package bus

import (
	"context"
	"slices"
	"sync"
	"time"
)

// backlog is how many messages wait for a subscriber that does not receive.
const backlog = 256

// Local is a bus within one process: engines that share a Local share their chunks. Its zero value is ready. It must not be
// copied after its first use. It has no goroutine and no connection.
type Local struct {
	// Interval is how long engines gather text; 0: 10 ms. It must not change after the first use.
	Interval time.Duration

	subscribers Subscribers
}

var _ Bus = (*Local)(nil)

// Limits implements [Bus].
func (l *Local) Limits() Limits { return Limits{Interval: l.Interval} }

// Publish implements [Bus].
func (l *Local) Publish(ctx context.Context, messages []Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, m := range messages {
		l.subscribers.Deliver(m.Topic, slices.Clone(m.Data))
	}
	return nil
}

// Subscribe implements [Bus].
func (l *Local) Subscribe(ctx context.Context, topic string) <-chan []byte {
	return l.subscribers.Add(ctx, topic)
}

// Subscribers are the subscribers of one process, by topic. A [Bus] on a server gives them what its one connection receives.
// The zero value is ready. It is safe for concurrent use.
type Subscribers struct {
	mu     sync.Mutex
	topics map[string][]*queue
}

// queue is what waits for one subscriber. The lock of its Subscribers guards the sending side.
type queue struct {
	in   chan []byte // its last place is kept for the word that messages may be missing
	told bool        // that word was the last that was sent
}

// Add adds a subscriber until ctx is done, as [Bus].Subscribe does.
func (s *Subscribers) Add(ctx context.Context, topic string) <-chan []byte {
	q := &queue{in: make(chan []byte, backlog+1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.topics == nil {
		s.topics = make(map[string][]*queue)
	}
	s.topics[topic] = append(s.topics[topic], q)
	context.AfterFunc(ctx, func() { s.remove(topic, q) })
	return q.in
}

func (s *Subscribers) remove(topic string, q *queue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.topics[topic] = slices.DeleteFunc(s.topics[topic], func(other *queue) bool { return other == q })
	if len(s.topics[topic]) == 0 {
		delete(s.topics, topic)
	}
}

// Deliver gives data to the subscribers of a topic. It waits for none: a subscriber whose channel is full does not get it, and
// gets a nil slice in its place. From then on data belongs to the subscribers.
func (s *Subscribers) Deliver(topic string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.topics[topic] {
		if len(q.in) < backlog {
			q.in <- data
			q.told = false
		} else {
			q.tell()
		}
	}
}

// Interrupted tells every subscriber that messages may be missing.
func (s *Subscribers) Interrupted() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, all := range s.topics {
		for _, q := range all {
			q.tell()
		}
	}
}

// tell sends the word that messages may be missing. Nobody else sends, so that a channel with room keeps it.
func (q *queue) tell() {
	if q.told && len(q.in) > 0 {
		return // the subscriber has not read it yet
	}
	q.in <- nil
	q.told = true
}
