package limit

import (
	"context"
	"sync"
	"time"
)

const (
	// exchangeTime bounds an exchange with a ledger.
	exchangeTime = 3 * time.Second
	// exchangeGap is the least time between two exchanges, so that the calls that come meanwhile share the second.
	exchangeGap = 25 * time.Millisecond
	// exchangeRetry is the time between an exchange that has failed and the next one.
	exchangeRetry = 500 * time.Millisecond
	// exchangeEvery is the time after which there is an exchange at the latest, while there is something to report
	// or something waits.
	exchangeEvery = time.Second
	// outage is how long calls wait for a ledger that fails.
	outage = 10 * time.Second
)

// customer is what a broker works for. Its methods are called under the lock.
type customer interface {
	// due returns when the next exchange is due. If there is nothing to exchange, it returns false.
	due(now time.Time, closing bool) (time.Time, bool)
	// ask returns the update of the ledger's value. It is called without the lock.
	ask(now time.Time) func(value []byte, now time.Time) []byte
	// got takes the answer to the last ask, which was sent then, or the failure.
	got(sent, now time.Time, err error)
}

// broker exchanges with a ledger what one customer wants and reports. Its goroutine runs while there is something to
// exchange; the group of its owner, which closes it, waits for it. The owner's lock guards the fields.
type broker struct {
	ledger   Ledger
	name     string
	customer customer
	lock     *sync.Mutex
	group    *sync.WaitGroup
	kick     chan struct{}
	running  bool
	planned  time.Time // when it looks next
	closing  bool
}

func newBroker(ledger Ledger, name string, lock *sync.Mutex, group *sync.WaitGroup) *broker {
	return &broker{ledger: ledger, name: name, lock: lock, group: group, kick: make(chan struct{}, 1)}
}

// wake makes the broker look at what is due.
func (b *broker) wake() {
	if b == nil || b.closing {
		return
	}
	b.look()
}

// look starts the goroutine, or makes it look earlier than it has planned.
func (b *broker) look() {
	at, needed := b.customer.due(time.Now(), b.closing)
	switch {
	case !needed:
	case !b.running:
		b.running, b.planned = true, at
		b.group.Go(b.run)
	case at.Before(b.planned):
		b.planned = at
		select {
		case b.kick <- struct{}{}:
		default:
		}
	}
}

// close makes the broker report what is left, and end. What comes later is not reported.
func (b *broker) close() {
	b.closing = true
	b.look()
}

func (b *broker) run() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	b.lock.Lock()
	defer b.lock.Unlock()
	defer func() { b.running = false }()
	for {
		now := time.Now()
		at, needed := b.customer.due(now, b.closing)
		if !needed {
			return
		}
		b.planned = at
		if d := at.Sub(now); d > 0 {
			timer.Reset(d)
			b.lock.Unlock()
			select {
			case <-timer.C:
			case <-b.kick:
			}
			b.lock.Lock()
			continue
		}
		err := b.exchange(b.customer.ask(now))
		b.customer.got(now, time.Now(), err)
		if err != nil && b.closing {
			return
		}
	}
}

// exchange makes one update. The lock is held before and after it.
func (b *broker) exchange(change func(value []byte, now time.Time) []byte) error {
	b.lock.Unlock()
	defer b.lock.Lock()
	ctx, cancel := context.WithTimeout(context.Background(), exchangeTime)
	defer cancel()
	return b.ledger.UpdateLimit(ctx, b.name, change)
}
