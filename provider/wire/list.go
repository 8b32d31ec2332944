package wire

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
)

const (
	maxList   = 1 << 10 // elements of a list in one event, line or batch: 128 calls, each with its thoughts, and words between
	maxVector = 1 << 16 // numbers
)

// ErrLong is why a list was not decoded.
var ErrLong = errors.New("a list is longer than any of the API's")

// List is a list in an answer. It is counted before it is decoded, and of 1,024 elements at most: three bytes
// of JSON would make a hundred in memory.
type List[T any] []T

// UnmarshalJSON reads a list that is not too long.
func (l *List[T]) UnmarshalJSON(data []byte) error {
	if Longer(data, maxList) {
		return ErrLong
	}
	return json.Unmarshal(data, (*[]T)(l))
}

// Vector is a list of numbers in an answer, of 65,536 at most.
type Vector []float32

// UnmarshalJSON reads a vector that is not too long.
func (v *Vector) UnmarshalJSON(data []byte) error {
	if Longer(data, maxVector) {
		return ErrLong
	}
	return json.Unmarshal(data, (*[]float32)(v))
}

// Finite reports whether each number is one.
func (v Vector) Finite() bool {
	return !slices.ContainsFunc(v, func(f float32) bool { return math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) })
}

// Longer reports whether a JSON list has more than a number of elements, without decoding it.
func Longer(data []byte, most int) bool {
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
