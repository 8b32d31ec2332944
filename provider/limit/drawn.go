package limit

import (
	"math"
	"time"
)

const (
	// late is how long after its time a portion may be used.
	late = time.Second
	// unknown is the wait of a call whose turn only the ledger knows. Its broker looks before.
	unknown = time.Hour
)

// drawn is the quota of a process that shares its limits with others: it draws portions from a ledger.
type drawn struct {
	lane  *lane
	floor float64

	requests piece // what is left of the portion
	tokens   piece
	began    time.Time // from when their times count
	expires  time.Time // when they must not be used any more

	report  claim // what the ledger does not know yet
	urgent  bool  // of the report
	share   float64
	lowered int
	until   time.Time
	wish    time.Time // until when a vendor has asked this machine to wait, and the ledger does not know

	sent      claim // of the exchange under way
	answer    grant // likewise
	exchanged time.Time
	failing   time.Time // since when exchanges fail; zero: they do not

	drew    time.Time // when the last portion was drawn
	started int       // calls since
	spent   int       // tokens that they took
}

func newDrawn(l *lane, floor float64) *drawn { return &drawn{lane: l, floor: floor, share: 1} }

func (d *drawn) wait(now time.Time, tokens int) time.Duration {
	at, ok := d.turn(tokens)
	if !ok || now.After(d.expires) {
		return unknown
	}
	return at.Sub(now)
}

// turn returns when a call may start by the portion in hand, false if that has too little.
func (d *drawn) turn(tokens int) (time.Time, bool) {
	if d.requests.left < 1 || d.tokens.left < tokens {
		return time.Time{}, false
	}
	at := d.began.Add(max(d.requests.begin(1), d.tokens.begin(tokens)))
	if d.until.After(at) {
		at = d.until
	}
	return at, true
}

func (d *drawn) start(_ time.Time, tokens int) {
	d.requests.use(1)
	d.tokens.use(tokens)
	d.started++
	d.spent += tokens
}

func (d *drawn) refund(_ time.Time, tokens int) {
	d.report.unused++
	d.report.charge -= tokens
}

func (d *drawn) settle(_ time.Time, tokens int) { d.report.charge += tokens }

func (d *drawn) pause(now time.Time, wait time.Duration) {
	if until := now.Add(wait); until.After(d.until) {
		d.until, d.wish, d.urgent = until, until, true
	}
}

func (d *drawn) slow(_ time.Time, floor float64) {
	d.report.failed, d.report.lowered, d.report.gain, d.urgent = true, d.lowered, 0, true
	d.lowered++
	d.share = max(floor, d.share/2)
	d.drop()
}

func (d *drawn) recover(_ time.Time, part float64) {
	if d.share < 1 {
		d.report.gain += part
	}
}

func (d *drawn) speed() (share float64, until time.Time) { return d.share, d.until }

func (d *drawn) window() int { return d.lowered }

// drop gives what is left of the portion back.
func (d *drawn) drop() {
	d.report.unused += d.requests.left
	d.report.charge -= d.tokens.left
	d.requests.left, d.tokens.left = 0, 0
}

// wants reports whether the first call of the line can start only with another portion.
func (d *drawn) wants() bool {
	w := d.lane.line.head()
	if w == nil {
		return false
	}
	at, ok := d.turn(w.tokens)
	return !ok || at.After(d.expires)
}

// keeps returns when the portion is given back. If no call waits for it, that is not long after it has come, also if its
// turn comes later.
func (d *drawn) keeps() time.Time {
	if soon := d.began.Add(ahead + late); d.lane.line.len() == 0 && soon.Before(d.expires) {
		return soon
	}
	return d.expires
}

// due implements customer.
func (d *drawn) due(now time.Time, closing bool) (time.Time, bool) {
	left := d.requests.left > 0 || d.tokens.left > 0
	reports := d.report.unused != 0 || d.report.charge != 0 || d.report.gain != 0 || d.urgent
	if closing {
		return now, left || reports
	}
	gap, needed := exchangeEvery, reports || d.lane.line.len() > 0
	switch {
	case !d.failing.IsZero():
		gap = exchangeRetry
	case d.urgent || d.wants():
		gap = exchangeGap
	case d.tokens.left > 0: // what is given back brings its turn forward
		gap /= 2
	}
	at := d.exchanged.Add(gap)
	if keeps := d.keeps(); left && (!needed || keeps.Before(at)) {
		at, needed = keeps, true
	}
	return at, needed
}

// ask implements customer.
func (d *drawn) ask(now time.Time) func(value []byte, now time.Time) []byte {
	wants := d.wants()
	if wants || !now.Before(d.keeps()) || d.lane.broker.closing {
		d.drop()
	}
	c := d.report
	c.floor = d.floor
	c.pause = max(0, d.wish.Sub(now))
	if wants {
		d.want(&c, now)
	}
	d.report, d.wish, d.urgent, d.exchanged = claim{}, time.Time{}, false, now
	d.sent, d.answer = c, grant{}
	return c.update(d.lane.allowance, &d.answer)
}

// want says what the calls in the line need, and those that will come soon, if they come as they did since the last
// portion.
func (d *drawn) want(c *claim, now time.Time) {
	for e := d.lane.line.calls.Front(); e != nil; e = e.Next() {
		if w, ok := e.Value.(*waiter); ok {
			if c.requests == 0 {
				c.least = w.tokens
			}
			c.requests++
			c.tokens += w.tokens
		}
	}
	soon := ahead.Seconds() / max(now.Sub(d.drew), exchangeGap).Seconds()
	c.requests += int(math.Ceil(float64(d.started) * soon))
	c.tokens += int(math.Ceil(float64(d.spent) * soon))
	d.drew, d.started, d.spent = now, 0, 0
}

// got implements customer.
func (d *drawn) got(sent, now time.Time, err error) {
	if err != nil {
		d.missed(sent, now, err)
		return
	}
	g := d.answer
	d.failing = time.Time{}
	if until := now.Add(g.pause); g.pause > 0 && until.After(d.until) {
		d.until = until
	}
	if !d.report.failed { // otherwise this machine knows more
		d.share, d.lowered = g.share, g.lowered
	}
	if d.sent.requests > 0 {
		d.requests, d.tokens, d.began = g.requests, g.tokens, now
	} else {
		d.requests.move(g.requests)
		d.tokens.move(g.tokens)
	}
	ends := d.began.Add(max(d.requests.end(), d.tokens.end()))
	switch {
	case ends.After(sent):
		d.expires = ends.Add(late)
	case d.sent.requests > 0 || d.expires.After(sent.Add(late)):
		d.expires = sent.Add(late)
	}
	if d.report.failed {
		d.drop()
	}
	d.lane.advance(now)
}

// missed takes an exchange that has failed. It may have been made: so what was given back is not given back again,
// and what was charged is charged again.
func (d *drawn) missed(sent, now time.Time, err error) {
	d.report.charge += max(0, d.sent.charge)
	if d.sent.failed && !d.report.failed {
		d.report.failed, d.report.lowered = true, d.sent.lowered
	}
	if wish := sent.Add(d.sent.pause); d.sent.pause > 0 && wish.After(d.wish) {
		d.wish = wish
	}
	d.urgent = d.report.failed || !d.wish.IsZero()
	if d.failing.IsZero() {
		d.failing = sent
	}
	if now.Sub(d.failing) >= outage {
		d.lane.line.fail(unreachable(d.lane.key.name, err))
	}
	d.lane.advance(now)
}
