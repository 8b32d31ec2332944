package redact

import (
	"strings"
	"unicode/utf8"

	"github.com/agonist-dev/debate/internal/text"
)

// unit is a byte that a part of a text stands for.
type unit struct {
	b          byte
	start, end int // of the part
}

// scanner reads a text, in one piece or in several.
type scanner struct {
	set     *Set
	raw     view // the text as it is
	decoded view // with its escapes decoded
	escaped bool // decoded differs from raw
	escapes decoder
	spans   []Span
	at      int    // bytes so far
	partial string // a character that the end of a piece has cut
}

func newScanner(set *Set) *scanner {
	s := &scanner{set: set}
	s.raw.init(set)
	return s
}

func (s *scanner) write(piece string) {
	at := s.at - len(s.partial)
	s.at += len(piece)
	if s.partial != "" {
		piece, s.partial = s.partial+piece, ""
	}
	for i := 0; i < len(piece); {
		b := piece[i]
		if b < utf8.RuneSelf {
			switch {
			case !separates(b):
				s.take(unit{b, at + i, at + i + 1})
			case b == '\n' || b == '\r':
				s.escapes.line()
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(piece[i:])
		if r == utf8.RuneError && n == 1 && !utf8.FullRuneInString(piece[i:]) {
			s.partial = strings.Clone(piece[i:])
			return
		}
		if !invisible(r) {
			for j := range n {
				s.take(unit{piece[i+j], at + i, at + i + n})
			}
		}
		i += n
	}
}

// take adds a unit of the text.
func (s *scanner) take(u unit) {
	if !s.escaped && begins(u.b) {
		s.escaped = true
		s.decoded.copy(&s.raw) // up to here both are the same
	}
	s.raw.take(s, u)
	if !s.escaped {
		return
	}
	s.escapes.push(u, func(u unit) { s.decoded.take(s, u) })
}

// end closes what may still go on.
func (s *scanner) end() {
	rest := s.partial
	s.partial = ""
	for i := range len(rest) {
		s.take(unit{rest[i], s.at - len(rest) + i, s.at - len(rest) + i + 1})
	}
	s.escapes.flush(func(u unit) { s.decoded.take(s, u) })
	s.raw.close(s)
	if s.escaped {
		s.decoded.close(s)
	}
}

// safe returns the end of the text that no secret reaches into that may still go on.
func (s *scanner) safe() int {
	at := s.raw.safe(s.at)
	if s.escaped {
		at = s.decoded.safe(at)
	}
	return at
}

// separates reports whether a byte may stand between two bytes of a wrapped secret.
func separates(b byte) bool { return b <= ' ' || b == 0x7f }

// invisible reports whether a character may stand between two bytes of a wrapped secret. Every character that a later step
// may remove from the text is among them, or the step would put the secret together.
func invisible(r rune) bool { return text.Invisible(r) }

// spelled returns the units of a secret.
func spelled(secret string, decode bool) string {
	var b strings.Builder
	write := func(u unit) { b.WriteByte(u.b) }
	var d decoder
	for _, r := range secret {
		if invisible(r) {
			continue
		}
		for _, c := range []byte(string(r)) {
			if decode {
				d.push(unit{b: c}, write)
			} else {
				b.WriteByte(c)
			}
		}
	}
	d.flush(write)
	return b.String()
}

// view is the lanes of one reading of the text.
type view struct{ lanes [laneCount]lane }

func (v *view) init(set *Set) {
	for i := range v.lanes {
		v.lanes[i] = lane{bits: laneBits[i], tables: set.lanes[i], runs: make([]run, len(set.lanes[i]))}
	}
}

func (v *view) copy(from *view) {
	*v = *from
	for i := range v.lanes {
		v.lanes[i].runs = append([]run(nil), from.lanes[i].runs...)
	}
}

func (v *view) take(s *scanner, u unit) {
	v.lanes[plainLane].take(s, uint64(u.b), u)
	if s.set.plus && u.b != '+' {
		v.lanes[spacedLane].take(s, uint64(u.b), u)
	}
	if l := &v.lanes[base64Lane]; len(l.tables) > 0 {
		if n := sextet(u.b); n >= 0 {
			l.take(s, uint64(n), u)
		} else {
			l.pad(s, u)
		}
	}
	if l := &v.lanes[hexLane]; len(l.tables) > 0 {
		if n := nibble(u.b); n >= 0 {
			l.take(s, uint64(n), u)
		} else {
			l.reset(s)
		}
	}
}

func (v *view) close(s *scanner) {
	for i := range v.lanes {
		v.lanes[i].reset(s)
	}
}

func (v *view) safe(at int) int {
	for i := range v.lanes {
		for j := range v.lanes[i].runs {
			if r := &v.lanes[i].runs[j]; r.units > 0 {
				at = min(at, r.start)
			}
		}
	}
	return at
}

// lane looks for the windows of its tables.
type lane struct {
	bits   uint
	tables []*table
	runs   []run // one for each table
	window uint64
	count  int      // units in a row
	last   [32]Span // where the last units stand, by their number modulo 32
}

// run is a part of the text each window of which is in the table.
type run struct {
	start, end int
	units      int // 0: there is none
	least      int // of the windows so far
	secret     bool
	padded     int // base64: not 0 once the run has ended, and only what pads it may follow
}

func (l *lane) take(s *scanner, value uint64, u unit) {
	l.window = l.window<<l.bits | value
	l.count++
	l.last[l.count%len(l.last)] = Span{u.start, u.end}
	for i, t := range l.tables {
		r := &l.runs[i]
		var least int32
		if l.count >= t.units {
			if at := t.place(l.window & t.mask); at.least > 0 {
				least = at.least
			}
		}
		if r.units > 0 && (least == 0 || r.padded > 0) {
			if r.secret && r.padded == 0 && l.bits == laneBits[base64Lane] && u.start == r.end {
				r.end, r.padded = u.end, 1 // this character holds bits of the last byte
				continue
			}
			r.close(s)
		}
		if least == 0 {
			continue
		}
		if r.units == 0 {
			first := l.count - t.units + 1
			start := l.at(first).Start
			if l.bits == laneBits[base64Lane] && first > 1 && l.at(first-1).End == start {
				start = l.at(first - 1).Start // that character holds bits of the first byte
			}
			*r = run{start: start, units: t.units, least: never}
		} else {
			r.units++
		}
		r.end, r.least = u.end, min(r.least, int(least))
		r.secret = r.secret || r.units >= r.least
	}
}

func (l *lane) at(count int) Span { return l.last[count%len(l.last)] }

// pad takes a unit that is not in the alphabet.
func (l *lane) pad(s *scanner, u unit) {
	l.count = 0
	for i := range l.runs {
		r := &l.runs[i]
		if r.secret && u.b == '=' && r.padded < 3 && u.start == r.end {
			r.end, r.padded = u.end, max(2, r.padded+1)
			continue
		}
		r.close(s)
	}
}

func (l *lane) reset(s *scanner) {
	l.count = 0
	for i := range l.runs {
		l.runs[i].close(s)
	}
}

func (r *run) close(s *scanner) {
	if r.units > 0 && r.secret {
		s.spans = append(s.spans, Span{r.start, r.end})
	}
	*r = run{}
}
