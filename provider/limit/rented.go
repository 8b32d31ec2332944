package limit

import (
	"math/rand/v2"
	"strconv"
	"time"
)

const (
	// DefaultLease is how long the places of a machine that has died stay taken.
	DefaultLease = 15 * time.Second
	// placesEvery is how often a machine that waits for places asks for them.
	placesEvery = 500 * time.Millisecond
)

// rented is how many calls may be in flight in a process that shares its places with others: it has them from a ledger,
// for the time of a lease.
type rented struct {
	concurrency *Concurrency
	broker      *broker
	machine     string

	room     room
	until    time.Time // when the lease ends
	reported int       // calls that waited at the last exchange

	sent      need
	answer    room
	exchanged time.Time
	failing   time.Time // since when exchanges fail; zero: they do not
}

func newRented(c *Concurrency) *rented {
	r := &rented{concurrency: c, machine: strconv.FormatUint(rand.Uint64(), 36)} //nolint:gosec // a name, no secret
	r.broker = newBroker(c.Ledger, "calls "+strconv.Quote(c.Name), &c.mu, &c.brokers)
	r.broker.customer = r
	return r
}

// places returns how many calls may be in flight. Nil has as many as the limit.
func (r *rented) places(now time.Time, calls int) int {
	switch {
	case r == nil:
		return calls
	case now.After(r.until):
		return 0
	default:
		return min(r.room.held, r.room.fair)
	}
}

func (r *rented) wake() {
	if r != nil {
		r.broker.wake()
	}
}

// due implements customer.
func (r *rented) due(now time.Time, closing bool) (time.Time, bool) {
	inside, waiting := r.concurrency.inside, r.concurrency.line.len()
	spare := r.room.held > inside
	switch {
	case closing:
		return now, r.room.held > 0 && inside == 0
	case inside == 0 && waiting == 0 && !spare && r.reported == 0:
		return time.Time{}, false
	case !r.failing.IsZero():
		return r.exchanged.Add(exchangeRetry), true
	case spare && r.room.held > r.room.fair, waiting > 0 && r.reported == 0:
		return r.exchanged.Add(exchangeGap), true
	case waiting > 0:
		return r.exchanged.Add(min(placesEvery, r.concurrency.lease()/3)), true
	case spare || r.reported > 0:
		return r.exchanged.Add(min(exchangeEvery, r.concurrency.lease()/3)), true
	default:
		return r.exchanged.Add(r.concurrency.lease() / 3), true
	}
}

// ask implements customer. Until the answer comes, no more calls may be in flight than are now: the others may be given
// to another machine.
func (r *rented) ask(now time.Time) func(value []byte, now time.Time) []byte {
	c := r.concurrency
	r.sent = need{machine: r.machine, inFlight: c.inside, waiting: c.line.len(), lease: c.lease()}
	r.room.held = c.inside
	r.reported, r.exchanged, r.answer = r.sent.waiting, now, room{}
	return r.sent.update(c.calls(), &r.answer)
}

// got implements customer.
func (r *rented) got(sent, now time.Time, err error) {
	c := r.concurrency
	if err == nil {
		r.failing = time.Time{}
		r.room, r.until = r.answer, sent.Add(r.sent.lease)
	} else {
		if r.failing.IsZero() {
			r.failing = sent
		}
		if now.Sub(r.failing) >= outage {
			c.line.fail(unreachable(c.Name, err))
		}
	}
	c.advance(now)
}
