package strictjson

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Reason says why a text was refused.
type Reason string

// These are the reasons. encoding/json also refuses a text that is refused for Syntax, TrailingData or
// NumberRange. The other reasons are stricter.
const (
	Syntax        Reason = "syntax"         // not JSON by RFC 8259
	TrailingData  Reason = "trailing data"  // something follows the value
	NumberRange   Reason = "number range"   // beyond float64
	DuplicateKey  Reason = "duplicate key"  // an object has a key twice
	InvalidUTF8   Reason = "invalid UTF-8"  // somewhere in the text
	LoneSurrogate Reason = "lone surrogate" // a \u escape that is half of a character
	TooDeep       Reason = "too deep"       // more levels than Limits.Depth
	TooLong       Reason = "too long"       // more bytes than Limits.Bytes
	Wrapping      Reason = "wrapping"       // from Unwrap: the wrapping is not closed, or not for JSON
)

// Error reports why and where a text was refused. It may be shown to the model that wrote the text: it
// repeats at most about 32 bytes of the text, escaped.
type Error struct {
	Reason Reason
	Offset int    // in bytes from the start of the text
	Path   string // keys and indexes that lead to the place, escaped; the end of them if they are long
	Detail string
}

// Error returns one line of ASCII.
func (e *Error) Error() string {
	if e == nil {
		return "JSON: no error"
	}
	where := ""
	if e.Path != "" {
		where = " at " + e.Path
	}
	return "JSON: offset " + strconv.Itoa(e.Offset) + where + ": " + e.Detail
}

const snippetBytes = 8

// fail returns an error at an offset of the text.
func (d *decoder) fail(reason Reason, offset int, detail string) *Error {
	return &Error{Reason: reason, Offset: offset, Detail: detail}
}

func (d *decoder) unexpected(want string) *Error {
	if d.at >= len(d.text) {
		return d.fail(Syntax, d.at, "unexpected end of text, expected "+want)
	}
	return d.fail(Syntax, d.at, "expected "+want+", found "+d.snippet(d.at))
}

// snippet quotes the few bytes at an offset, in ASCII.
func (d *decoder) snippet(at int) string {
	end := min(at+snippetBytes, len(d.text))
	for end < len(d.text) && !utf8.RuneStart(d.text[end]) {
		end--
	}
	return strconv.QuoteToASCII(d.text[at:end])
}

// under adds the key or index of the value that holds the error. The path is built on the way up, so that
// a text without errors costs nothing.
func (e *Error) under(step any, most int) *Error {
	if len(e.Path) >= most {
		return e
	}
	var s string
	switch step := step.(type) {
	case int:
		s = "[" + strconv.Itoa(step) + "]"
	case string:
		s = strconv.QuoteToASCII(strings.ToValidUTF8(step[:min(len(step), most)], ""))
		s = s[1 : len(s)-1]
	}
	if e.Path != "" && e.Path[0] != '[' && e.Path[0] != '.' {
		s += "."
	}
	e.Path = s + e.Path
	if over := len(e.Path) - most; over > 0 {
		e.Path = "..." + e.Path[over+3:]
	}
	return e
}
