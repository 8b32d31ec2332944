package wire

import (
	"encoding/json"
	"errors"
)

const maxList = 1 << 10 // elements of a list in one event or line: 128 calls, each with its thoughts, and texts between them

// ErrLong reports that a list was too long to be decoded.
var ErrLong = errors.New("a list is longer than any that the API defines")

// List is a list in an answer, with at most 1,024 elements. They are counted before they are decoded,
// because three bytes of JSON can become a hundred in memory.
type List[T any] []T

// UnmarshalJSON decodes a list. It fails with [ErrLong] if the list is too long.
func (l *List[T]) UnmarshalJSON(data []byte) error {
	if Longer(data, maxList) {
		return ErrLong
	}
	return json.Unmarshal(data, (*[]T)(l))
}

// Longer reports whether a JSON list has more than limit elements, without decoding it.
func Longer(data []byte, limit int) bool {
	n, depth, quoted := 1, 0, false
	for i := 0; i < len(data) && n <= limit; i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case c == ',' && depth == 1:
			n++
		}
	}
	return n > limit
}
