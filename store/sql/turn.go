package sql

import (
	"context"
	"sync"
	"time"
)

const (
	// turnLength is how long a process writes to a file of SQLite without a break.
	turnLength = 100 * time.Millisecond
	// turnRest is how long it then leaves the lock to others.
	turnRest = 1500 * time.Microsecond
)

// turn limits how long a process keeps writing to a file. A free lock of SQLite goes to the next process
// that asks, and waiting processes ask only now and then. A process that writes one transaction after the
// other would keep the lock for seconds. A short rest lets the others in, and costs a process that has
// the file to itself less than two percent.
type turn struct {
	mu           sync.Mutex
	began, ended time.Time
}

// begin is called before a transaction. If it is the turn of others, it waits.
func (t *turn) begin(ctx context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	switch {
	case now.Sub(t.ended) >= turnRest:
		t.began = now
	case now.Sub(t.began) >= turnLength:
		select {
		case <-time.After(turnRest):
		case <-ctx.Done():
		}
		t.began = time.Now()
	}
}

// end is called after a transaction.
func (t *turn) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = time.Now()
}
