package redact

import (
	"html"
	"unicode/utf8"
)

// maxEscape is how many units one escape can have: "&#x000041;".
const maxEscape = 12

// decoder decodes escapes, and escapes within escapes: %41, \u0041, \x41, \/, &#65;, &#x41;, &amp;. Escaped white space
// is dropped. It holds only what may still become an escape.
type decoder struct {
	held []unit
}

// escapes are the bytes that may begin an escape.
const escapes = `%\&`

func begins(b byte) bool { return b == '%' || b == '\\' || b == '&' }

func (d *decoder) push(u unit, emit func(unit)) {
	if len(d.held) == 0 && !begins(u.b) {
		emit(u)
		return
	}
	d.held = append(d.held, u)
	for d.reduce() {
	}
	n := 0
	for n < len(d.held) && !d.open(n) {
		emit(d.held[n])
		n++
	}
	d.drop(n)
}

// line notes the end of a line. A backslash before it joins the lines, and escapes nothing.
func (d *decoder) line() {
	if n := len(d.held); n > 0 && d.held[n-1].b == '\\' {
		d.held = d.held[:n-1]
	}
}

func (d *decoder) drop(n int) { d.held = d.held[:copy(d.held, d.held[n:])] }

func (d *decoder) flush(emit func(unit)) {
	for _, u := range d.held {
		emit(u)
	}
	d.held = d.held[:0]
}

// open reports whether the unit at a place may begin an escape whose end has not come.
func (d *decoder) open(at int) bool {
	u := d.held[at:]
	if !begins(u[0].b) || len(u) >= maxEscape {
		return false
	}
	for i, next := range u[1:] {
		if begins(next.b) {
			return true // which may become any character
		}
		switch c := next.b; u[0].b {
		case '%':
			if i >= 1 || nibble(c) < 0 {
				return false
			}
		case '\\':
			if i == 0 && c != 'u' && c != 'x' || i > 0 && nibble(c) < 0 {
				return false
			}
		default:
			if c != '#' && (sextet(c) < 0 || sextet(c) > 61) {
				return false
			}
		}
	}
	return true
}

// reduce decodes the escape at the end of what is held. It reports whether there was one.
func (d *decoder) reduce() bool {
	n := len(d.held)
	if n < 2 {
		return false
	}
	last := d.held[n-1].b
	if nibble(last) >= 0 {
		for _, form := range [...]struct{ mark, digits int }{{1, 2}, {2, 2}, {2, 4}} {
			from := n - form.mark - form.digits
			if from >= 0 && marks(d.held[from:from+form.mark], form.digits) {
				if c, ok := d.number(n-form.digits, n); ok {
					return d.become(from, c, form.digits == 2)
				}
			}
		}
	}
	if last == ';' {
		return d.entity()
	}
	if d.held[n-2].b != '\\' {
		return false
	}
	switch last {
	case 'u', 'x': // more has to come
		return false
	case 'n', 'r', 't', 'b', 'f', 'v':
		return d.become(n-2, ' ', true)
	default: // a backslash too: a string in a string in a string has 7 of them
		return d.become(n-2, rune(last), true)
	}
}

// marks reports whether units stand before that many hexadecimal digits: % or \x before two, \u before four.
func marks(u []unit, digits int) bool {
	if len(u) == 1 {
		return u[0].b == '%'
	}
	return u[0].b == '\\' && (digits == 2 && u[1].b == 'x' || digits == 4 && u[1].b == 'u')
}

// number reads hexadecimal digits.
func (d *decoder) number(from, to int) (c rune, ok bool) {
	for _, u := range d.held[from:to] {
		n := nibble(u.b)
		if n < 0 {
			return 0, false
		}
		c = c<<4 | rune(n) //nolint:gosec // it is a digit
	}
	return c, true
}

// entity decodes an entity of HTML that ends here.
func (d *decoder) entity() bool {
	var name [maxEscape]byte
	n := len(d.held)
	for i := n - 1; i >= max(0, n-maxEscape); i-- {
		at := maxEscape - (n - i)
		name[at] = d.held[i].b
		if d.held[i].b != '&' {
			continue
		}
		text := html.UnescapeString(string(name[at:]))
		r, size := utf8.DecodeRuneInString(text)
		if size != len(text) {
			return false
		}
		return d.become(i, r, false)
	}
	return false
}

// become replaces the units from a place on by what they stand for: a byte, or a character.
func (d *decoder) become(from int, r rune, isByte bool) bool {
	all := unit{start: d.held[from].start, end: d.held[len(d.held)-1].end}
	d.held = d.held[:from]
	if r < utf8.RuneSelf || isByte {
		if all.b = byte(r); !separates(all.b) { //nolint:gosec // it is below 256
			d.held = append(d.held, all)
		}
		return true
	}
	if invisible(r) {
		return true
	}
	for _, c := range []byte(string(r)) {
		all.b = c
		d.held = append(d.held, all)
	}
	return true
}
