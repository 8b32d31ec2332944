package sql

import (
	"context"
	"sync"
	"time"
)

const (
	// turnLength is how long a process writes to a file of SQLite's without a break.
	turnLength = 100 * time.Millisecond
	// turnRest is how long it then leaves the lock to others.
	turnRest = 1500 * time.Microsecond
)

// turn is a process's turn to write to a file. SQLite's lock goes to whoever asks for it when it is free, and those who
// wait ask now and then: a process that writes one transaction after the other would keep it for seconds. To rest for
// a little of the time lets them in, and costs a process that is alone with its file less than two hundredths.
type turn struct {
	mu           sync.Mutex
	began, ended time.Time
}

// begin is called before a transaction, and waits if it is the turn of others.
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
