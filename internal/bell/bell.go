// Package bell tells any number of listeners that something has happened.
package bell

import (
	"context"
	"slices"
	"sync"
)

// Ears are the channels of listeners, each with room for one value. Who holds them guards them.
type Ears []chan struct{}

// Ring sends a value to each that has none. It never blocks.
func (e *Ears) Ring() {
	for _, ear := range *e {
		select {
		case ear <- struct{}{}:
		default:
		}
	}
}

// Remove removes an ear.
func (e *Ears) Remove(gone chan struct{}) {
	*e = slices.DeleteFunc(*e, func(ear chan struct{}) bool { return ear == gone })
}

// Bell wakes its listeners. The zero value is ready to use. It is safe for concurrent use, and must not be copied.
type Bell struct {
	// Source runs on a goroutine of its own while somebody listens, and rings the bell for what happens elsewhere. It
	// returns soon after its context has ended. nil: there is none. It is set before the first use.
	Source func(ctx context.Context)

	mu      sync.Mutex
	ears    Ears
	stop    context.CancelFunc // of the source; nil: it does not run
	closed  bool
	sources sync.WaitGroup
}

// Listen returns a channel that gets a value when the bell rings, until ctx ends. It is never closed. Values merge: while
// one waits to be received, no other is sent.
func (b *Bell) Listen(ctx context.Context) <-chan struct{} {
	ear := make(chan struct{}, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return ear
	}
	b.ears = append(b.ears, ear)
	context.AfterFunc(ctx, func() { b.leave(ear) })
	if b.Source != nil && b.stop == nil {
		running, stop := context.WithCancel(context.Background())
		b.stop = stop
		b.sources.Go(func() { b.Source(running) })
	}
	return ear
}

func (b *Bell) leave(ear chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ears.Remove(ear)
	if len(b.ears) == 0 {
		b.rest()
	}
}

// rest ends the source. b.mu is held.
func (b *Bell) rest() {
	if b.stop != nil {
		b.stop()
		b.stop = nil
	}
}

// Ring wakes all listeners. It never blocks.
func (b *Bell) Ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ears.Ring()
}

// Close ends all listening, and waits for the source.
func (b *Bell) Close() {
	b.mu.Lock()
	b.closed, b.ears = true, nil
	b.rest()
	b.mu.Unlock()
	b.sources.Wait()
}
