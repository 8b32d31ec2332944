// Package nats is a chunk bus on NATS: readers in other processes see the text of debates while it is spoken. It uses core NATS
// alone, since what is published is worth nothing a second later: no JetStream is needed, and nothing is kept.
//
//	conn, err := nats.Connect("nats://nats.example.com:4222")
//	chunks := debatenats.New(conn, "")
//	engine := &debate.Engine{Bus: chunks, …}
//	defer chunks.Close() // after engine.Shutdown
//
// Text is gathered for 20 ms. Messages are sealed, as package bus says, so they need no accounts or subjects of their own.
// A program needs the permissions to publish and to subscribe to the subjects below the prefix, "debate.chunks.>".
package nats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/agonist-dev/debate/bus"
)

// defaultPrefix is the beginning of the subjects unless [New] gets another one.
const defaultPrefix = "debate.chunks"

// size is the most bytes of a message. A server takes 1 MiB unless it is told otherwise.
const size = 32 << 10

// ErrClosed reports that the bus was closed.
var ErrClosed = errors.New("nats: the bus is closed")

// Bus carries chunks over a connection of the host program. It is safe for concurrent use.
type Bus struct {
	conn        *nats.Conn
	prefix      string
	subscribers bus.Subscribers
	status      chan nats.Status
	watcher     sync.WaitGroup
	end         func() error

	mu     sync.Mutex
	topics map[string]*topic // nil: the bus is closed
}

// topic is one subscription at the server, for all subscribers of this process.
type topic struct {
	subscription *nats.Subscription
	subscribers  int
}

var _ bus.Bus = (*Bus)(nil)

// New returns a bus on a connection, which stays the caller's. The connection's options decide how long it reconnects after it is
// lost; nats.MaxReconnects(-1) means for ever. The subjects begin with the prefix; "" means "debate.chunks".
//
// The bus has one goroutine, which [Bus.Close] ends, and the connection one for each topic that is subscribed to.
func New(conn *nats.Conn, prefix string) *Bus {
	b := &Bus{
		conn: conn, prefix: cmp.Or(prefix, defaultPrefix) + ".", topics: make(map[string]*topic),
		status: conn.StatusChanged(nats.CONNECTED),
	}
	b.end = sync.OnceValue(b.shut)
	b.watcher.Go(func() {
		for range b.status {
			b.subscribers.Interrupted() // what was published meanwhile is lost
		}
	})
	return b
}

// Close ends all subscriptions and waits for the bus's goroutine. The connection stays open. Later calls of Publish fail with
// [ErrClosed]. A second Close does nothing.
func (b *Bus) Close() error { return b.end() }

func (b *Bus) shut() error {
	b.conn.RemoveStatusListener(b.status)
	b.watcher.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for _, t := range b.topics {
		errs = append(errs, unsubscribed(t.subscription))
	}
	b.topics = nil
	return errors.Join(errs...)
}

// unsubscribed ends a subscription. That its connection was closed before is no error.
func unsubscribed(s *nats.Subscription) error {
	err := s.Unsubscribe()
	if errors.Is(err, nats.ErrConnectionClosed) || errors.Is(err, nats.ErrBadSubscription) {
		return nil
	}
	return err
}

// Limits implements [bus.Bus].
func (b *Bus) Limits() bus.Limits {
	return bus.Limits{Interval: 20 * time.Millisecond, Size: size, Batch: 32 * size}
}

// Publish implements [bus.Bus]. It waits until the server has received the messages. While the connection is lost, it sends
// nothing and fails.
func (b *Bus) Publish(ctx context.Context, messages []bus.Message) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("nats: publish: %w", err)
	}
	b.mu.Lock()
	closed := b.topics == nil
	b.mu.Unlock()
	if closed {
		return ErrClosed
	}
	if !b.conn.IsConnected() { // what the connection would keep until it is made again is of no use then
		return fmt.Errorf("nats: publish: %w", nats.ErrDisconnected)
	}
	for _, m := range messages {
		if err := b.conn.Publish(b.prefix+m.Topic, m.Data); err != nil {
			return fmt.Errorf("nats: publish: %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second) // a flush needs an end
	defer cancel()
	if err := b.conn.FlushWithContext(ctx); err != nil {
		return fmt.Errorf("nats: publish: %w", err)
	}
	return nil
}

// Subscribe implements [bus.Bus]. If the connection is closed for good, nothing is delivered.
func (b *Bus) Subscribe(ctx context.Context, name string) <-chan []byte {
	in := b.subscribers.Add(ctx, name)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.topics == nil {
		return in
	}
	t := b.topics[name]
	if t == nil {
		subscription, err := b.conn.Subscribe(b.prefix+name, func(m *nats.Msg) { b.subscribers.Deliver(name, m.Data) })
		if err != nil {
			return in
		}
		t = &topic{subscription: subscription}
		b.topics[name] = t
	}
	t.subscribers++
	context.AfterFunc(ctx, func() { b.leave(name, t) })
	return in
}

// leave counts a subscriber out. The last one ends the subscription at the server.
func (b *Bus) leave(name string, t *topic) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t.subscribers--; t.subscribers > 0 || b.topics[name] != t {
		return
	}
	delete(b.topics, name)
	_ = unsubscribed(t.subscription) // the connection ends it otherwise
}
