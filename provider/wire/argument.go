package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// arguments are those of a tool call. They come in pieces. Some servers begin with "{}", send the whole again behind its
// pieces, or send with each piece all that came before: what is one JSON value and then another is not appended. Others send the
// marks around a call behind a whole object (vllm-project/vllm-ascend#16001): what stands there is dropped up to another object.
type arguments struct {
	text    []byte   // the value that comes
	earlier []string // values that were whole before
	last    string   // the latest piece
	pieces  int
	grows   bool // each piece begins with the one before

	depth           int
	quoted, escaped bool
	closed          bool   // the value has ended
	whole           string // the value without white space once it has ended, "" if it is no JSON
	many            bool   // there are too many values
	over            bool   // what follows is no part of them, up to another object
}

// maxValues bounds how many values of a call's arguments are kept. All that is right with several is that they are one.
const maxValues = 8

// add adds a piece.
func (a *arguments) add(piece string) {
	if piece == "" {
		return
	}
	a.grows = a.pieces == 0 || a.grows && strings.HasPrefix(piece, a.last)
	a.last, a.pieces = piece, a.pieces+1
	for _, c := range []byte(piece) {
		if a.over = c != '{' && (a.over || strings.IndexByte("}]<", c) >= 0 && strings.HasPrefix(a.whole, "{")); a.over {
			continue
		}
		if a.closed && strings.IndexByte(" \t\r\n", c) >= 0 {
			continue
		}
		if a.closed {
			if a.many = len(a.earlier) == maxValues; !a.many {
				a.earlier = append(a.earlier, string(a.text))
			}
			a.text, a.depth, a.closed, a.whole = nil, 0, false, ""
		}
		a.text = append(a.text, c)
		if a.scan(c); a.closed && json.Valid(a.text) {
			a.whole = string(compact(a.text))
		}
	}
}

// scan follows where the value ends.
func (a *arguments) scan(c byte) {
	switch {
	case a.escaped:
		a.escaped = false
	case a.quoted && c == '\\':
		a.escaped = true
	case c == '"':
		a.quoted = !a.quoted
		a.closed = !a.quoted && a.depth == 0
	case a.quoted:
	case c == '{', c == '[':
		a.depth++
	case c == '}', c == ']':
		a.depth--
		a.closed = a.depth <= 0
	}
}

// value returns the arguments as JSON. ok is false if they are none, or two that differ.
func (a *arguments) value() (value []byte, ok bool) {
	value = bytes.TrimSpace(a.text)
	if a.grows && a.pieces > 1 && (len(a.earlier) > 0 || !json.Valid(value)) && json.Valid([]byte(a.last)) {
		return plainArguments([]byte(Joined(a.last))), true
	}
	if a.many {
		return nil, false
	}
	for _, earlier := range slices.Backward(a.earlier) {
		switch e := []byte(earlier); {
		case !json.Valid(e):
			return nil, false
		case !Present(compact(e)), bytes.Equal(compact(e), compact(value)):
		case json.Valid(value) && !Present(compact(value)):
			value = e
		default:
			return nil, false
		}
	}
	if len(value) == 0 {
		return []byte("{}"), true
	}
	if value = []byte(Joined(string(value))); !json.Valid(value) {
		return nil, false
	}
	return plainArguments(value), true
}

// plainArguments returns arguments without what some servers make of them: null for none, and an object that is written as
// a string.
func plainArguments(value []byte) []byte {
	var s string
	switch {
	case string(value) == "null":
		return []byte("{}")
	case value[0] == '"' && json.Unmarshal(value, &s) == nil:
		if s = strings.TrimSpace(s); strings.HasPrefix(s, "{") && json.Valid([]byte(s)) {
			return []byte(s)
		}
	}
	return value
}

// compact returns a JSON value without white space, and anything else unchanged.
func compact(value []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return value
	}
	return b.Bytes()
}
