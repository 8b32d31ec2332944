package wire

import (
	"encoding/json"
	"math"
	"strconv"
)

// Name is a field of an answer that only names something: an id, the name of a tool or of a model, a reason. It never makes an
// answer undecodable: a number is its digits (anomalyco/opencode#19947), and an object, a list, null and false are "".
type Name string

// UnmarshalJSON reads a scalar of any kind.
func (n *Name) UnmarshalJSON(data []byte) error {
	*n = ""
	if len(data) > 0 && data[0] != '{' && data[0] != '[' {
		*n = Name(Joined(Plain(data)))
	}
	return nil
}

// Index is a place in a list as a server reports it. It never makes an answer undecodable: what is no whole number from 0 on, or a
// string of one, is no place. The zero Index is none.
type Index struct{ beyond int }

const maxIndex = math.MaxInt32

// At returns the place, -1 if there is none.
func (i Index) At() int { return i.beyond - 1 }

// UnmarshalJSON reads a place.
func (i *Index) UnmarshalJSON(data []byte) error {
	*i = Index{}
	f, err := strconv.ParseFloat(Plain(json.RawMessage(data)), 64)
	if err == nil && f >= 0 && f < maxIndex && f == math.Trunc(f) {
		i.beyond = int(f) + 1
	}
	return nil
}
