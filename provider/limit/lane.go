package limit

import (
	"container/list"
	"time"
)

type laneKey struct{ name, model string }

// lane holds the calls of one model and how fast they may start. The lock of its Rate guards it.
type lane struct {
	key      laneKey
	requests *bucket
	tokens   *bucket
	share    float64   // of the configured limits, at present: 1 at full speed
	window   int       // counts how often the lane was slowed
	until    time.Time // no call starts before

	inFlight int
	line     queue
	timer    *time.Timer   // fires when the head of the line may start
	ticking  bool          // the timer is running
	idle     *list.Element // nil: there are calls
}

func newLane(key laneKey, a Allowance) *lane {
	return &lane{key: key, requests: newBucket(a.Requests, a.Burst), tokens: newBucket(a.Tokens, a.Tokens), share: 1}
}

// wait returns how long the first call in the line has to wait.
func (l *lane) wait(now time.Time, tokens int) time.Duration {
	return max(l.until.Sub(now), l.requests.wait(now, 1), l.tokens.wait(now, tokens))
}

func (l *lane) start(now time.Time, tokens int) {
	l.inFlight++
	l.requests.take(now, 1)
	l.tokens.take(now, tokens)
}

// refund returns what a call has taken that was never sent.
func (l *lane) refund(now time.Time, tokens int) {
	l.requests.take(now, -1)
	l.tokens.take(now, -tokens)
}

// advance starts the calls that may start, and sets the timer for the next one.
func (l *lane) advance(now time.Time) {
	for w := l.line.head(); w != nil; w = l.line.head() {
		if d := l.wait(now, w.tokens); d > 0 {
			l.timer.Reset(d)
			l.ticking = true
			return
		}
		l.start(now, w.tokens)
		l.line.admit(w)
	}
	if l.ticking {
		l.timer.Stop()
		l.ticking = false
	}
}

func (l *lane) pause(until time.Time) {
	if until.After(l.until) {
		l.until = until
	}
}

// slow halves the limits, down to the floor.
func (l *lane) slow(now time.Time, floor float64) {
	l.window++
	l.requests.drain(now)
	l.tokens.drain(now)
	l.limit(now, max(floor, l.share/2))
}

// recover raises the limits by what a success with that many tokens is worth.
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
