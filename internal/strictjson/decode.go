// Package strictjson reads JSON that a model wrote: hostile text, without any guessing.
//
// [Decode] accepts what RFC 8259 allows, except what two readers could understand differently. It refuses
// duplicate keys, invalid UTF-8, half of a surrogate pair, numbers beyond float64, and text after the
// value. [Unwrap] removes what models put around their JSON, if nothing is lost by that.
package strictjson

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits bounds the work of Decode.
type Limits struct {
	Bytes int // of the text: DefaultBytes if 0
	Depth int // levels of nested arrays and objects: DefaultDepth if 0
	Path  int // bytes of Error.Path: DefaultPath if 0
	// Exact decodes numbers as json.Number, exactly as they are written, instead of float64.
	Exact bool
}

// The defaults of Limits.
const (
	DefaultBytes = 1 << 20
	DefaultDepth = 64
	DefaultPath  = 24
)

// Decode returns the one JSON value in text, as map[string]any, []any, string, float64, bool or nil.
// Strings without escapes share the memory of text. The error is an [*Error].
//
// Decode is safe for concurrent use.
func Decode(text string, limits Limits) (any, error) {
	if limits.Bytes <= 0 {
		limits.Bytes = DefaultBytes
	}
	if limits.Depth <= 0 {
		limits.Depth = DefaultDepth
	}
	if len(text) > limits.Bytes {
		detail := "more than " + strconv.Itoa(limits.Bytes) + " bytes"
		return nil, &Error{Reason: TooLong, Offset: limits.Bytes, Detail: detail}
	}
	// Checked once for the whole text: inside strings, bytes beyond ASCII then need no check.
	if !utf8.ValidString(text) {
		return nil, &Error{Reason: InvalidUTF8, Offset: invalidAt(text), Detail: "invalid UTF-8"}
	}
	if limits.Path <= 0 {
		limits.Path = DefaultPath
	}
	d := decoder{text: text, left: limits.Depth, path: limits.Path, exact: limits.Exact}
	d.space()
	v, err := d.value()
	if err != nil {
		return nil, err
	}
	d.space()
	if d.at < len(text) {
		return nil, d.fail(TrailingData, d.at, "text after the value: "+d.snippet(d.at))
	}
	return v, nil
}

func invalidAt(text string) int {
	for i, r := range text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				return i
			}
		}
	}
	return len(text)
}

// decoder reads text once. Its methods start at the first byte of what they read and end behind the last.
// They return *Error, not error, so that callers can add to its path.
type decoder struct {
	text string
	at   int
	left int // levels that may still be opened
	path int // bytes that a path may have

	exact bool
}

func (d *decoder) space() {
	for d.at < len(d.text) && isSpace(d.text[d.at]) {
		d.at++
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

func (d *decoder) value() (any, *Error) {
	if d.at >= len(d.text) {
		return nil, d.fail(Syntax, d.at, "unexpected end of text")
	}
	switch c := d.text[d.at]; {
	case c == '"':
		s, err := d.string()
		if err != nil {
			return nil, err
		}
		return s, nil
	case c == '{':
		return d.nested('{')
	case c == '[':
		return d.nested('[')
	case c == '-' || '0' <= c && c <= '9':
		start := d.at
		f, err := d.number()
		if err != nil {
			return nil, err
		}
		if d.exact {
			return json.Number(d.text[start:d.at]), nil
		}
		return f, nil
	}
	return d.literal()
}

func (d *decoder) literal() (any, *Error) {
	switch rest := d.text[d.at:]; {
	case strings.HasPrefix(rest, "true"):
		d.at += len("true")
		return true, nil
	case strings.HasPrefix(rest, "false"):
		d.at += len("false")
		return false, nil
	case strings.HasPrefix(rest, "null"):
		d.at += len("null")
		return nil, nil
	default:
		return nil, d.unexpected("a value")
	}
}

func (d *decoder) nested(open byte) (v any, err *Error) {
	if d.left == 0 {
		return nil, d.fail(TooDeep, d.at, "nested too deep")
	}
	d.left--
	if open == '{' {
		v, err = d.object()
	} else {
		v, err = d.array()
	}
	d.left++
	return v, err
}

func (d *decoder) object() (any, *Error) {
	m := map[string]any{}
	d.at++
	d.space()
	if d.next('}') {
		return m, nil
	}
	for {
		start := d.at
		if start >= len(d.text) || d.text[start] != '"' {
			return nil, d.unexpected("a key")
		}
		key, err := d.string()
		if err != nil {
			return nil, err
		}
		d.space()
		if !d.next(':') {
			return nil, d.unexpected("':'")
		}
		d.space()
		v, err := d.value()
		if err != nil {
			return nil, err.under(key, d.path)
		}
		before := len(m)
		m[key] = v
		if len(m) == before {
			return nil, d.fail(DuplicateKey, start, "duplicate key").under(key, d.path)
		}
		d.space()
		if d.next('}') {
			return m, nil
		}
		if !d.next(',') {
			return nil, d.unexpected("',' or '}'")
		}
		d.space()
	}
}

func (d *decoder) array() (any, *Error) {
	d.at++
	d.space()
	if d.next(']') {
		return []any{}, nil
	}
	// Elements are collected on the stack, so that most slices are allocated once, at their final size.
	var room [8]any
	list := room[:0]
	for {
		v, err := d.value()
		if err != nil {
			return nil, err.under(len(list), d.path)
		}
		list = append(list, v)
		d.space()
		if d.next(']') {
			return append(make([]any, 0, len(list)), list...), nil
		}
		if !d.next(',') {
			return nil, d.unexpected("',' or ']'")
		}
		d.space()
	}
}

func (d *decoder) next(c byte) bool {
	if d.at < len(d.text) && d.text[d.at] == c {
		d.at++
		return true
	}
	return false
}

func (d *decoder) string() (string, *Error) {
	start := d.at + 1
	for i := start; i < len(d.text); i++ {
		switch c := d.text[i]; {
		case c == '"':
			d.at = i + 1
			return d.text[start:i], nil
		case c == '\\':
			return d.escaped(start, i)
		case c < ' ':
			return "", d.fail(Syntax, i, "control character in a string")
		}
	}
	return "", d.fail(Syntax, len(d.text), "unexpected end of text in a string")
}

// escaped reads the rest of a string from its first backslash on.
func (d *decoder) escaped(start, i int) (string, *Error) {
	b := make([]byte, 0, i-start+64)
	b = append(b, d.text[start:i]...)
	for i < len(d.text) {
		switch c := d.text[i]; {
		case c == '"':
			d.at = i + 1
			return string(b), nil
		case c < ' ':
			return "", d.fail(Syntax, i, "control character in a string")
		case c != '\\':
			b = append(b, c)
			i++
			continue
		}
		if i+1 >= len(d.text) {
			break
		}
		c := d.text[i+1]
		if c == 'u' {
			r, size, err := d.unicode(i)
			if err != nil {
				return "", err
			}
			b = utf8.AppendRune(b, r)
			i += size
			continue
		}
		plain := strings.IndexByte(`"\/bfnrt`, c)
		if plain < 0 {
			return "", d.fail(Syntax, i, "unknown escape "+d.snippet(i))
		}
		b = append(b, "\"\\/\b\f\n\r\t"[plain])
		i += 2
	}
	return "", d.fail(Syntax, len(d.text), "unexpected end of text in a string")
}

// unicode reads the escape at i and, if it begins a surrogate pair, the second half.
func (d *decoder) unicode(i int) (r rune, size int, err *Error) {
	r = hex4(d.text, i+2)
	switch {
	case r < 0:
		return 0, 0, d.fail(Syntax, i, "\\u without four hexadecimal digits")
	case !utf16.IsSurrogate(r):
		return r, 6, nil
	case strings.HasPrefix(d.text[i+6:], `\u`):
		if r = utf16.DecodeRune(r, hex4(d.text, i+8)); r != utf8.RuneError {
			return r, 12, nil
		}
	}
	return 0, 0, d.fail(LoneSurrogate, i, "half of a surrogate pair")
}

// hex4 returns the number of four hexadecimal digits at i, or -1.
func hex4(text string, i int) rune {
	if i+4 > len(text) {
		return -1
	}
	var r rune
	for _, c := range []byte(text[i : i+4]) {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

func (d *decoder) number() (float64, *Error) {
	start := d.at
	negative := d.next('-')
	whole := d.at
	if !d.next('0') {
		d.digits()
	}
	if d.at == whole {
		return 0, d.unexpected("a digit")
	}
	fraction := d.at
	if d.next('.') {
		fraction = d.at
		if d.digits(); d.at == fraction {
			return 0, d.unexpected("a digit")
		}
	}
	end := d.at
	if d.next('e') || d.next('E') {
		_ = d.next('+') || d.next('-')
		exponent := d.at
		if d.digits(); d.at == exponent {
			return 0, d.unexpected("a digit")
		}
	} else if end-whole <= shortNumber {
		return short(d.text[whole:end], negative, end-fraction), nil
	}
	f, err := strconv.ParseFloat(d.text[start:d.at], 64)
	if err != nil {
		return 0, d.fail(NumberRange, start, "number too large for a float64: "+d.snippet(start))
	}
	return f, nil
}

func (d *decoder) digits() {
	for d.at < len(d.text) && '0' <= d.text[d.at] && d.text[d.at] <= '9' {
		d.at++
	}
}

const shortNumber = 15

// short returns a number of at most shortNumber digits. A float64 holds its digits as a whole number
// exactly, and the power of ten too, so only the division rounds.
func short(text string, negative bool, decimals int) float64 {
	var m int64
	for _, c := range []byte(text) {
		if c != '.' {
			m = m*10 + int64(c-'0')
		}
	}
	f := float64(m)
	if decimals > 0 {
		f /= powers[decimals]
	}
	if negative {
		f = math.Copysign(f, -1)
	}
	return f
}

var powers = [...]float64{ //nolint:gochecknoglobals // read only
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14,
}
