package cache

import (
	"context"

	"github.com/agonist-dev/debate/provider"
)

// flight is a request that is in flight.
type flight struct {
	done  chan struct{}
	value []byte // as in the store; set before done is closed, nil if there is nothing to share
}

// board returns the flight of a key. first is true for the caller that makes the request; that caller
// must land it.
func (p *Provider) board(key string) (f *flight, first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f, ok := p.flights[key]; ok {
		return f, false
	}
	if p.flights == nil {
		p.flights = make(map[string]*flight)
	}
	f = &flight{done: make(chan struct{})}
	p.flights[key] = f
	return f, true
}

// land ends a flight, whatever its result. The reply is in the store by then, so a later caller finds one
// or the other.
func (p *Provider) land(key string, f *flight) {
	p.mu.Lock()
	delete(p.flights, key)
	p.mu.Unlock()
	close(f.done)
}

// wait waits for the end of the flight. Meanwhile the clock of the caller's own call is paused, because
// the caller may yet have to make it.
func (f *flight) wait(ctx context.Context) error {
	defer provider.Waiting(ctx)()
	select {
	case <-f.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
