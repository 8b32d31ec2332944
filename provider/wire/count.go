package wire

import (
	"encoding/json"
	"math"
)

// Count is a number of tokens as a server reports it. It never makes an answer undecodable: a value that
// is not a sensible number is 0.
type Count int

// UnmarshalJSON reads a number of any kind.
func (c *Count) UnmarshalJSON(data []byte) error {
	var f float64
	*c = 0
	if json.Unmarshal(data, &f) == nil && f > 0 && f <= math.MaxInt32 {
		*c = Count(f)
	}
	return nil
}
