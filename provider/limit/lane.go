package limit

import (
	"container/list"
	"strconv"
	"time"
)

type laneKey struct{ name, model string }

// entry returns the name of a model's value in a ledger.
func (k laneKey) entry() string {
	return "rate " + strconv.Quote(k.name) + " " + strconv.Quote(k.model)
}

// lane holds the calls of one model. The lock of its Rate guards it.
type lane struct {
	key       laneKey
	allowance Allowance
	quota     quota
	broker    *broker // nil: without a ledger

	inFlight int
	line     queue
	timer    *time.Timer   // fires when the head of the line may start
	ticking  bool          // the timer is running
	idle     *list.Element // nil: there are calls
}

// start lets a call start.
func (l *lane) start(now time.Time, tokens int) {
	l.inFlight++
	l.quota.start(now, tokens)
}

// advance starts the calls that may start, and sets the timer for the next one.
func (l *lane) advance(now time.Time) {
	for w := l.line.head(); w != nil; w = l.line.head() {
		if d := l.quota.wait(now, w.tokens); d > 0 {
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

// part returns the share of a minute's limit that a call with so many tokens has used: of requests or of
// tokens, whichever is more.
func (l *lane) part(tokens int) float64 {
	var part float64
	if l.allowance.Requests > 0 {
		part = 1 / float64(l.allowance.Requests)
	}
	if l.allowance.Tokens > 0 {
		part = max(part, float64(tokens)/float64(l.allowance.Tokens))
	}
	return part
}
