// Package bus is the contract of chunk buses. A chunk bus carries the text of calls from the engine that makes them to
// readers in other processes, while it is spoken. [Local] is a bus within one process. Package store/sql has one on PostgreSQL,
// package bus/nats one on NATS, and package bus/bustest is the conformance suite.
//
// A bus is a convenience, never a source of truth. What counts are the facts in the store: a reader that misses messages of a
// bus gets the text with the fact that ends the call.
//
// # What an engine publishes
//
// With Engine.Bus set, an engine announces each of its calls with a message without text. It gathers the text of its calls in
// flight for Limits.Interval, and hands it to Publish in one batch, from one goroutine of its own. So a slow bus never slows a
// speaker: while Publish works, text gathers, and what is gathered beyond 64 KiB of a call is left out. If a reader lacks text, the
// last 64 KiB of its call are published again. The goroutine runs while calls are
// in flight, and Engine.Shutdown ends it.
//
// Messages are sealed. Their key is derived from the conversation's secret seed, which only the store holds. So a stranger who
// can read the bus reads no text, and one who can write to it can neither invent text nor move it to another conversation.
// A stranger sees when a conversation speaks, and how much. A topic is a hash of the conversation's id.
package bus

import (
	"context"
	"time"
)

// Bus carries messages between processes. It is safe for concurrent use. A Bus may lose messages, may deliver them twice and
// may change their order: readers notice. Package bus/bustest tests what it has to do.
type Bus interface {
	// Limits returns what the engine has to keep to. It always returns the same.
	Limits() Limits
	// Publish sends messages to the subscribers of their topics, in all processes. It may wait for the bus, and returns soon
	// after its context is done. An error means that some of the messages may be lost; the engine sends them again. Publish
	// neither keeps nor changes the messages and their bytes after it has returned.
	Publish(ctx context.Context, messages []Message) error
	// Subscribe returns a channel that gets the data of each message to the topic from now on. A subscriber that does not
	// receive delays nobody: messages that find its channel full are dropped. Each run of dropped messages becomes one nil
	// slice in the channel.
	//
	// If messages may be missing because the bus's connection was lost, the channel gets a nil slice once the bus can deliver
	// again. Subscribe itself waits for no connection.
	//
	// The subscription ends when ctx is done. The channel is never closed. Subscribers must not change the data.
	Subscribe(ctx context.Context, topic string) <-chan []byte
}

// Message is what is published to one topic.
type Message struct {
	Topic string // 1 to 64 of the characters a to z and 0 to 9
	Data  []byte // any bytes, 1 to Limits.Size
}

// Limits are those of a bus.
type Limits struct {
	// Interval is how long an engine gathers text between two calls of Publish; 0: 10 ms. It is at least 1 ms.
	Interval time.Duration
	// Size bounds Message.Data, in bytes; 0: 64 KiB. It is at least 1 KiB.
	Size int
	// Batch bounds the data of one call of Publish, in bytes; 0: 64 × Size. The rest waits for the next call.
	Batch int
}
