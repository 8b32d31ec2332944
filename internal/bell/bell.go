// Package bell tells any number of listeners that something has happened.
package bell

import (
	"context"
	"slices"
	"sync"
)

// Bell wakes its listeners. The zero value is ready to use. It is safe for concurrent use, and must not be copied.
type Bell struct {
	// Source runs on a goroutine of its own while somebody listens, and rings the bell for what happens elsewhere. It
	// returns soon after its context has ended. nil: there is none. It is set before the first use.
	Source func(ctx context.Context)

	mu      sync.Mutex
	ears    []chan struct{}
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
	b.ears = slices.DeleteFunc(b.ears, func(other chan struct{}) bool { return other == ear })
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
	for _, ear := range b.ears {
		select {
		case ear <- struct{}{}:
		default:
		}
	}
}

// Close ends all listening, and waits for the source.
func (b *Bell) Close() {
	b.mu.Lock()
	b.closed, b.ears = true, nil
	b.rest()
	b.mu.Unlock()
	b.sources.Wait()
}
