package strictjson

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Field reads the text of one field of a JSON object while the object arrives in pieces. It judges nothing: what is no
// JSON gives some text or none, and whoever has the whole object decodes it. The memory that it takes does not grow with
// the object. A Field is for one goroutine.
type Field struct {
	name  string
	state fieldState
	depth int    // of objects and lists that are open
	key   []byte // the text of the string at depth 1 that is read, as far as it can be the name
	value bool   // the string that is read is the field's
	found bool   // the field has been read
	after bool   // a colon was read: a value follows
	code  []byte // the digits of \u…
	high  rune   // the first half of a surrogate pair; 0: none
	cut   []byte // the beginning of a rune that the last piece has cut
}

type fieldState uint8

const (
	outside fieldState = iota // between strings
	within                    // in a string
	escaped                   // behind a backslash
	coded                     // in \u…
)

// NewField returns a reader of the top-level field of this name.
func NewField(name string) *Field { return &Field{name: name} }

// Next returns the text of the field that the next piece of the object adds.
func (f *Field) Next(piece string) string {
	if f.found {
		return ""
	}
	var out strings.Builder
	for i := 0; i < len(piece) && !f.found; i++ {
		f.step(piece[i], &out)
	}
	return out.String()
}

func (f *Field) step(c byte, out *strings.Builder) {
	switch f.state {
	case within:
		f.inside(c, out)
	case escaped:
		if f.state = within; c == 'u' {
			f.state, f.code = coded, f.code[:0]
			return
		}
		f.lone(out)
		f.put(unescaped(c), out)
	case coded:
		if f.code = append(f.code, c); len(f.code) == 4 {
			f.state = within
			f.decode(out)
		}
	case outside:
		f.between(c)
	}
}

// inside takes a byte of a string.
func (f *Field) inside(c byte, out *strings.Builder) {
	switch c {
	case '\\':
		f.state = escaped
	case '"':
		f.lone(out)
		f.state = outside
		f.found = f.value
	default:
		f.lone(out)
		f.raw(c, out)
	}
}

// between takes a byte between strings.
func (f *Field) between(c byte) {
	switch c {
	case '{', '[':
		f.depth++
		f.after = false
	case '}', ']':
		f.depth--
	case ',':
		f.after = false
	case ':':
		f.after = true
	case '"':
		f.state = within
		f.value = f.depth == 1 && f.after && string(f.key) == f.name
		if !f.value {
			f.key = f.key[:0]
		}
	}
}

// raw takes a byte of a string as it stands. Of a rune that pieces have cut the bytes come one by one.
func (f *Field) raw(c byte, out *strings.Builder) {
	if c < utf8.RuneSelf && len(f.cut) == 0 {
		f.put(rune(c), out)
		return
	}
	f.cut = append(f.cut, c)
	if !utf8.FullRune(f.cut) {
		return
	}
	r, size := utf8.DecodeRune(f.cut)
	f.put(r, out)
	rest := append([]byte(nil), f.cut[size:]...)
	f.cut = f.cut[:0]
	for _, c := range rest {
		f.raw(c, out)
	}
}

// decode takes the four digits of \u….
func (f *Field) decode(out *strings.Builder) {
	n, err := strconv.ParseUint(string(f.code), 16, 16)
	r := rune(uint16(n))
	switch {
	case err != nil:
		r = utf8.RuneError
	case f.high != 0:
		if pair := utf16.DecodeRune(f.high, r); pair != utf8.RuneError {
			f.high, r = 0, pair
		}
	}
	f.lone(out)
	if utf16.IsSurrogate(r) && r < 0xDC00 {
		f.high = r
		return
	}
	if utf16.IsSurrogate(r) {
		r = utf8.RuneError
	}
	f.put(r, out)
}

// lone replaces the first half of a pair whose second half has not come.
func (f *Field) lone(out *strings.Builder) {
	if f.high != 0 {
		f.high = 0
		f.put(utf8.RuneError, out)
	}
}

// put adds a rune to the text of the field, or to the key.
func (f *Field) put(r rune, out *strings.Builder) {
	switch {
	case f.value:
		out.WriteRune(r)
	case f.depth == 1 && !f.after && len(f.key) <= len(f.name):
		f.key = utf8.AppendRune(f.key, r)
	}
}

// unescaped returns what a backslash and this byte stand for.
func unescaped(c byte) rune {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	default:
		return rune(c)
	}
}
