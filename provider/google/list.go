package google

import (
	"encoding/json"
	"errors"
)

const (
	maxList   = 1 << 8  // elements of a list in one event or batch; all that are of use are fewer
	maxVector = 1 << 15 // numbers
)

var errLong = errors.New("a list is longer than any of the API's")

// list is a list in an answer. It is counted before it is decoded: three bytes of JSON would make a
// hundred in memory.
type list[T any] []T

// UnmarshalJSON reads a list that is not too long.
func (l *list[T]) UnmarshalJSON(data []byte) error {
	if long(data, maxList) {
		return errLong
	}
	return json.Unmarshal(data, (*[]T)(l))
}

// vector is a list of numbers.
type vector []float32

// UnmarshalJSON reads a vector that is not too long.
func (v *vector) UnmarshalJSON(data []byte) error {
	if long(data, maxVector) {
		return errLong
	}
	return json.Unmarshal(data, (*[]float32)(v))
}

// long reports whether a JSON list has more than a number of elements.
func long(data []byte, most int) bool {
	n, depth, quoted := 1, 0, false
	for i := 0; i < len(data) && n <= most; i++ {
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
	return n > most
}
