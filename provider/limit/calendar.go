package limit

import (
	"math"
	"math/rand/v2"
	"time"
)

// ahead is how far ahead a calendar is handed out. A machine gets half of what is left of that, and at least
// what one call needs. Machines that all want more then settle at equal pieces, whatever their number is:
// with n of them, each gets ahead/(n+1) once in that time.
const ahead = time.Second

// calendar hands out the time in which requests start, or tokens are spent, at the pace of their limit: one piece
// after the other, without gaps, each to the machine that asks. It has a time of its own, which runs as the
// ledger's clock does. What is given back moves it forward, so that all pieces that wait begin earlier, and
// a debt moves it back.
type calendar struct {
	Handed int64 `json:"handed"` // until when it is handed out, in the calendar's own time
	Given  int64 `json:"given"`  // how far the calendar's time is ahead of the clock
}

// piece is a piece of a calendar. Times count from the moment at which the ledger answered.
type piece struct {
	left  int           // of requests or tokens
	from  time.Duration // the first may be used one pace after it, the next two paces after it, …
	one   float64       // the pace: microseconds for each
	given int64         // how far the calendar was ahead of the clock then
}

// turn takes what is given back into account, and bounds what is saved up while nobody takes any.
func (c *calendar) turn(now int64, back float64, pause int64, saved float64) {
	most := micros(maxAhead)
	back = math.Floor(max(-most, min(back, most)))
	c.Given += int64(back)
	present := now + c.Given
	earliest := present - int64(saved)
	if pause > 0 {
		earliest = present + pause
	}
	c.Handed = max(earliest, min(c.Handed, present+int64(most)))
}

// drain drops what was saved up.
func (c *calendar) drain(now int64) { c.Handed = max(c.Handed, now+c.Given) }

// take hands out the next piece.
func (c *calendar) take(now int64, wanted, least int, one float64) piece {
	if wanted == 0 {
		return piece{given: c.Given, one: one}
	}
	begins := float64(c.Handed - c.Given - now)
	room := (micros(ahead) - begins) / 2 / one
	n := max(least, min(wanted, int(max(0, room+rand.Float64())))) //nolint:gosec // no secret: equal on average, also if room is small
	c.Handed += int64(math.Ceil(min(float64(n)*one, micros(maxAhead))))
	return piece{left: n, from: span(begins), one: one, given: c.Given}
}

// begin returns when so many may be used, and end when all of a piece are.
func (p *piece) begin(n int) time.Duration {
	return p.from + span(min(float64(n)*p.one, micros(rationed)))
}

func (p *piece) end() time.Duration { return p.from + span(float64(p.left)*p.one) }

// use uses so many.
func (p *piece) use(n int) {
	p.left -= n
	p.from += span(float64(n) * p.one)
}

// move moves a piece to where it is by now, with an answer that came later.
func (p *piece) move(later piece) {
	p.from -= time.Duration(later.given-p.given) * time.Microsecond
	p.given = later.given
}
