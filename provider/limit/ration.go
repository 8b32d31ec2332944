package limit

import (
	"encoding/json"
	"math"
	"time"
)

const (
	// rationed is the time in which a ledger hands out what a vendor allows in a minute: 15/16 of the limit. The
	// rest is for what does not start at the time for which it was handed out: calls that may start at once
	// after a silence, and portions that are used late: by the time late, and by what an exchange takes. So the total in any
	// minute stays within the limit. 63 seconds are too few (TestMachinesUnderDisorder).
	rationed = 64 * time.Second
	// savedTokens is how long tokens are saved up.
	savedTokens = 2 * time.Second
	// maxAhead bounds debts, and what a ledger's clock that was set back can cost.
	maxAhead = maxDebt * time.Minute
)

// ration is the value that a ledger keeps of one model. Times are in microseconds of the ledger's clock since
// 1970.
type ration struct {
	Requests calendar `json:"requests"`
	Tokens   calendar `json:"tokens"`
	Until    int64    `json:"until,omitempty"`   // no call starts before: a vendor has asked for that
	Lost     float64  `json:"lost,omitempty"`    // the share of the limits by which failures have lowered them
	Lowered  int      `json:"lowered,omitempty"` // how often
}

// claim is what a machine reports to a ledger, and what it wants.
type claim struct {
	requests int // wanted: at most; 0: nothing is wanted
	tokens   int
	least    int // of tokens: what the first call needs

	unused  int // requests that were handed out and not used
	charge  int // tokens that were used beyond those handed out; negative: fewer were used
	pause   time.Duration
	failed  bool    // a vendor has refused a call
	lowered int     // how often limits were lowered, as far as that call knew
	floor   float64 // of the share to which failures lower the limits
	gain    float64 // the share by which successes raise the limits
}

// grant is the answer to a claim.
type grant struct {
	requests piece
	tokens   piece
	pause    time.Duration // no call starts before
	share    float64       // of the configured limits, at present
	lowered  int
}

// update returns what an update of a ledger's value does for a claim. got receives the answer.
func (c claim) update(a Allowance, got *grant) func(value []byte, now time.Time) []byte {
	return func(value []byte, now time.Time) []byte {
		var r ration
		if json.Unmarshal(value, &r) != nil {
			r = ration{} // from another release, or damaged: the calendars begin now
		}
		*got = r.draw(now.UnixMicro(), c, a)
		value, _ = json.Marshal(r)
		return value
	}
}

// draw takes what a machine reports into account, and hands out what it gets.
func (r *ration) draw(now int64, c claim, a Allowance) grant {
	r.adapt(now, c)
	share := 1 - r.Lost
	pause := max(0, r.Until-now)
	g := grant{pause: time.Duration(pause) * time.Microsecond, share: share, lowered: r.Lowered}
	if one := pace(a.Requests, share); one > 0 {
		r.Requests.turn(now, float64(c.unused)*one, pause, max(one, float64(a.Burst)*pace(a.Requests, 1)))
		g.requests = r.Requests.take(now, c.requests, min(c.requests, 1), one)
	} else {
		g.requests = piece{left: c.requests}
	}
	if one := pace(a.Tokens, share); one > 0 {
		r.Tokens.turn(now, float64(-c.charge)*one, pause, micros(savedTokens))
		g.tokens = r.Tokens.take(now, c.tokens, c.least, one)
	}
	return g
}

// adapt changes the limits by what vendors have answered.
func (r *ration) adapt(now int64, c claim) {
	r.Lost = max(0, min(r.Lost-c.gain, 1-c.floor))
	if c.failed && c.lowered == r.Lowered { // otherwise another call of the same moment has lowered them
		r.Lowered++
		r.Lost = 1 - max(c.floor, (1-r.Lost)/2)
		r.Requests.drain(now)
		r.Tokens.drain(now)
	}
	r.Until = min(r.Until, now+int64(micros(maxAhead)))
	if c.pause > 0 {
		r.Until = max(r.Until, now+c.pause.Microseconds())
	}
}

// pace returns how many microseconds of a calendar one request or token takes, 0 without a limit.
func pace(minute int, share float64) float64 {
	if minute <= 0 {
		return 0
	}
	return micros(rationed) / float64(minute) / share
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// span is so many microseconds.
func span(micros float64) time.Duration {
	return time.Duration(math.Round(micros * float64(time.Microsecond)))
}
