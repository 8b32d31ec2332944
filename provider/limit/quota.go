package limit

import "time"

// quota says how fast the calls of one model may start. The lock of its Rate guards it.
type quota interface {
	// wait returns how long the first call of the line has to wait: at least until the next look, if that is
	// not known.
	wait(now time.Time, tokens int) time.Duration
	// start takes what one call needs.
	start(now time.Time, tokens int)
	// refund returns what a call has taken that was never sent.
	refund(now time.Time, tokens int)
	// settle charges for what a call has used beyond its estimate, or less than nothing.
	settle(now time.Time, tokens int)
	// pause lets no call start for so long.
	pause(now time.Time, d time.Duration)
	// slow halves the limits, down to the floor.
	slow(now time.Time, floor float64)
	// recover raises the limits by a part of their full size.
	recover(now time.Time, part float64)
	// speed returns the share of the configured limits at present, 1 at full speed, and the time before which
	// no call starts.
	speed() (share float64, until time.Time)
	// window counts how often the limits were lowered.
	window() int
}

// own is the quota of a process that shares its limits with no other.
type own struct {
	requests *bucket
	tokens   *bucket
	share    float64
	lowered  int
	until    time.Time
}

func newOwn(a Allowance) *own {
	return &own{requests: newBucket(a.Requests, a.Burst), tokens: newBucket(a.Tokens, a.Tokens), share: 1}
}

func (o *own) wait(now time.Time, tokens int) time.Duration {
	return max(o.until.Sub(now), o.requests.wait(now, 1), o.tokens.wait(now, tokens))
}

func (o *own) start(now time.Time, tokens int) {
	o.requests.take(now, 1)
	o.tokens.take(now, tokens)
}

func (o *own) refund(now time.Time, tokens int) {
	o.requests.take(now, -1)
	o.tokens.take(now, -tokens)
}

func (o *own) settle(now time.Time, tokens int) { o.tokens.take(now, tokens) }

func (o *own) pause(now time.Time, d time.Duration) {
	if until := now.Add(d); until.After(o.until) {
		o.until = until
	}
}

func (o *own) slow(now time.Time, floor float64) {
	o.lowered++
	o.requests.drain(now)
	o.tokens.drain(now)
	o.limit(now, max(floor, o.share/2))
}

func (o *own) recover(now time.Time, part float64) {
	if o.share < 1 {
		o.limit(now, min(1, o.share+part))
	}
}

func (o *own) limit(now time.Time, share float64) {
	o.share = share
	o.requests.slow(now, share)
	o.tokens.slow(now, share)
}

func (o *own) speed() (float64, time.Time) { return o.share, o.until }

func (o *own) window() int { return o.lowered }
