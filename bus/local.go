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
	topics map[string][]chan []byte
}

// Add adds a subscriber until ctx is done, as [Bus].Subscribe does.
func (s *Subscribers) Add(ctx context.Context, topic string) <-chan []byte {
	in := make(chan []byte, backlog)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.topics == nil {
		s.topics = make(map[string][]chan []byte)
	}
	s.topics[topic] = append(s.topics[topic], in)
	context.AfterFunc(ctx, func() { s.remove(topic, in) })
	return in
}

func (s *Subscribers) remove(topic string, in chan []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.topics[topic] = slices.DeleteFunc(s.topics[topic], func(other chan []byte) bool { return other == in })
	if len(s.topics[topic]) == 0 {
		delete(s.topics, topic)
	}
}

// Deliver gives data to the subscribers of a topic. It waits for none: a subscriber whose channel is full does not get it. From
// then on data belongs to the subscribers.
func (s *Subscribers) Deliver(topic string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, in := range s.topics[topic] {
		offer(in, data)
	}
}

// Interrupted tells every subscriber that messages may be missing.
func (s *Subscribers) Interrupted() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, all := range s.topics {
		for _, in := range all {
			offer(in, nil)
		}
	}
}

func offer(in chan<- []byte, data []byte) {
	select {
	case in <- data:
	default:
	}
}
