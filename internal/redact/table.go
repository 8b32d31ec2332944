package redact

import (
	"encoding/base64"
	"encoding/hex"
	"math"
	"strings"
)

// A text is read in lanes. A lane is one way to see it as a sequence of units, and looks at a window of the last units,
// which fit into 64 bits.
const (
	plainLane  = iota // bytes, without white space
	spacedLane        // bytes, without white space and plus signs
	base64Lane        // characters of base64
	hexLane           // hexadecimal digits
	laneCount
)

const (
	plainWindow  = 8  // bytes
	base64Window = 10 // characters: what 8 bytes determine at any alignment
	hexWindow    = 16 // digits
	leastBase64  = 8  // characters; fewer could be part of any text
	leastHex     = 12 // digits

	never = math.MaxInt32 // a window with public bytes is not enough, however often
)

// laneBits is the size of a unit.
//
//nolint:gochecknoglobals // read only
var laneBits = [laneCount]uint{8, 8, 6, 4}

// table holds the windows of secrets that have one size. It uses open addressing.
type table struct {
	units int // of a window
	mask  uint64
	used  int
	slots []slot // a power of two
}

type slot struct {
	window uint64
	least  int32 // units in a row that are too many; 0: the slot is free
}

// place returns the slot of a window: its own, or the free one that it would get.
func (t *table) place(window uint64) *slot {
	n := len(t.slots) - 1
	i := int((window * 0x9E3779B97F4A7C15) >> 40)
	for {
		s := &t.slots[i&n]
		if s.least == 0 || s.window == window {
			return s
		}
		i++
	}
}

// grow makes room for so many windows more.
func (t *table) grow(more int) {
	size := max(64, len(t.slots))
	for size < 2*(t.used+more) {
		size *= 2
	}
	if size == len(t.slots) {
		return
	}
	old := t.slots
	t.slots = make([]slot, size)
	for _, s := range old {
		if s.least > 0 {
			*t.place(s.window) = s
		}
	}
}

// insert adds a window, for which grow has made room.
func (t *table) insert(window uint64, least int) {
	s := t.place(window)
	switch {
	case s.least == 0:
		*s = slot{window, int32(min(least, never))} //nolint:gosec // it is not negative
		t.used++
	case int(s.least) > least:
		s.least = int32(least) //nolint:gosec // it is smaller
	}
}

// tableOf returns the table of a lane for windows of a size.
func (s *Set) tableOf(lane, units int) *table {
	for _, t := range s.lanes[lane] {
		if t.units == units {
			return t
		}
	}
	t := &table{units: units, mask: math.MaxUint64}
	if bits := laneBits[lane] * uint(units); bits < 64 {
		t.mask = 1<<bits - 1
	}
	s.lanes[lane] = append(s.lanes[lane], t)
	return t
}

func (s *Set) add(secret Secret) {
	if secret.Text == "" {
		return
	}
	least := len(secret.Text)
	if secret.Least > 0 {
		least = min(least, secret.Least)
	}
	if len(secret.Text)-secret.Public < least {
		secret.Public = 0
	}
	whole := least == len(secret.Text)
	for i, form := range []string{spelled(secret.Text, false), spelled(secret.Text, true)} {
		if i > 0 && !strings.ContainsAny(secret.Text, escapes) {
			break // it is spelled the same
		}
		n := least
		if whole {
			n = len(form)
		}
		s.bytes(plainLane, form, secret.Public, n)
		if strings.ContainsAny(secret.Text, "+ ") {
			s.plus = true
			form = strings.ReplaceAll(form, "+", "")
			if whole {
				n = len(form)
			}
			s.bytes(spacedLane, form, secret.Public, n)
		}
	}
	s.base64(secret, least)
	s.hex(secret, least)
}

// bytes adds the windows of a text of which so many bytes in a row are too many.
func (s *Set) bytes(lane int, text string, public, least int) {
	units := min(plainWindow, least)
	if units == 0 || len(text) < units {
		return
	}
	t := s.tableOf(lane, units)
	t.grow(len(text))
	window := uint64(0)
	for i := range len(text) {
		window = window<<8 | uint64(text[i])
		if first := i + 1 - units; first >= 0 {
			t.insert(window&t.mask, enough(first < public, least))
		}
	}
}

func enough(public bool, least int) int {
	if public {
		return never
	}
	return least
}

// base64 adds the windows of a secret's base64 form that are certain, whatever stands around the secret. They depend
// on its position modulo three bytes.
func (s *Set) base64(secret Secret, least int) {
	chars := (8*least - 4) / 6 // that so many bytes determine at any alignment
	if chars < leastBase64 {
		return
	}
	t := s.tableOf(base64Lane, min(base64Window, chars))
	t.grow(4 * len(secret.Text))
	for before := range 3 {
		text := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", before) + secret.Text))
		first, last := (before*8+5)/6, (before+len(secret.Text))*8/6 // characters that hold only bits of the secret
		window := uint64(0)
		for i := first; i < last; i++ {
			window = window<<6 | uint64(sextet(text[i])) //nolint:gosec // it is in the alphabet
			if start := i + 1 - t.units; start >= first {
				t.insert(window&t.mask, enough(6*start < 8*(before+secret.Public), chars))
			}
		}
	}
}

// hex adds the windows of a secret's hexadecimal form.
func (s *Set) hex(secret Secret, least int) {
	if 2*least < leastHex {
		return
	}
	t := s.tableOf(hexLane, min(hexWindow, 2*least))
	t.grow(2 * len(secret.Text))
	text := hex.EncodeToString([]byte(secret.Text))
	window := uint64(0)
	for i := range len(text) {
		window = window<<4 | uint64(nibble(text[i])) //nolint:gosec // it is a digit
		if start := i + 1 - t.units; start >= 0 {
			t.insert(window&t.mask, enough(start < 2*secret.Public, 2*least))
		}
	}
}

// sextet returns the number that a character of base64 stands for, in either alphabet; -1: it is none.
func sextet(c byte) int {
	switch {
	case 'A' <= c && c <= 'Z':
		return int(c - 'A')
	case 'a' <= c && c <= 'z':
		return int(c-'a') + 26
	case '0' <= c && c <= '9':
		return int(c-'0') + 52
	case c == '+' || c == '-':
		return 62
	case c == '/' || c == '_':
		return 63
	default:
		return -1
	}
}

// nibble returns the number that a hexadecimal digit stands for; -1: it is none.
func nibble(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	default:
		return -1
	}
}
