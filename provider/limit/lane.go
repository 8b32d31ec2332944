package limit

import (
	"container/list"
	"time"
)

type laneKey struct{ name, model string }

// lane is one model's calls and how fast they may start. The lock of its Rate guards it.
type lane struct {
	key      laneKey
	requests *bucket
	tokens   *bucket
	share    float64   // of the limits that hold now: 1 unless it was slowed
	window   int       // counts how often it was slowed
	until    time.Time // no call starts before

	flying int
	line   queue
	timer  *time.Timer   // goes off when the head of the line may go
	armed  bool          // the timer is set
	idle   *list.Element // nil: there are calls
}

func newLane(key laneKey, a Allowance) *lane {
	return &lane{key: key, requests: newBucket(a.Requests, a.Burst), tokens: newBucket(a.Tokens, a.Tokens), share: 1}
}

// wait yields how long a call has to wait of which nobody stands in front.
func (l *lane) wait(now time.Time, tokens int) time.Duration {
	return max(l.until.Sub(now), l.requests.wait(now, 1), l.tokens.wait(now, tokens))
}

func (l *lane) start(now time.Time, tokens int) {
	l.flying++
	l.requests.take(now, 1)
	l.tokens.take(now, tokens)
}

// giveBack undoes what a call took that was never sent.
func (l *lane) giveBack(now time.Time, tokens int) {
	l.requests.take(now, -1)
	l.tokens.take(now, -tokens)
}

// advance lets go who may go, and sets the timer for who is next.
func (l *lane) advance(now time.Time) {
	for w := l.line.head(); w != nil; w = l.line.head() {
		if d := l.wait(now, w.tokens); d > 0 {
			l.timer.Reset(d)
			l.armed = true
			return
		}
		l.start(now, w.tokens)
		l.line.admit(w)
	}
	if l.armed {
		l.timer.Stop()
		l.armed = false
	}
}

func (l *lane) pause(until time.Time) {
	if until.After(l.until) {
		l.until = until
	}
}

// slow halves the limits.
func (l *lane) slow(now time.Time, floor float64) {
	l.window++
	l.requests.drain(now)
	l.tokens.drain(now)
	l.limit(now, max(floor, l.share/2))
}

// recover gives back what a success of so many tokens gives.
func (l *lane) recover(now time.Time, recovery float64, tokens int) {
	if l.share >= 1 {
		return
	}
	var part float64
	if l.requests != nil {
		part = 1 / l.requests.minute
	}
	if l.tokens != nil {
		part = max(part, float64(tokens)/l.tokens.minute)
	}
	l.limit(now, min(1, l.share+recovery*part))
}

func (l *lane) limit(now time.Time, share float64) {
	l.share = share
	l.requests.slow(now, share)
	l.tokens.slow(now, share)
}
