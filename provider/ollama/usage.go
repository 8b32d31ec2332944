package ollama

import (
	"encoding/json"
	"math"

	"github.com/agonist-dev/debate/provider"
)

// count is a number of tokens. It never makes a line undecodable: what is no sensible number is 0.
type count int

func (c *count) UnmarshalJSON(data []byte) error {
	var f float64
	*c = 0
	if json.Unmarshal(data, &f) == nil && f > 0 && f <= math.MaxInt32 {
		*c = count(f)
	}
	return nil
}

// usage is what the server counts.
type usage struct {
	Input  count `json:"prompt_eval_count"`
	Cached count `json:"prompt_eval_cached_count"`
	Output count `json:"eval_count"`
}

// tokens yields the usage of a whole reply. It is zero, which says that nothing is known, if one of the
// two sides is missing: every reply has both.
func (u usage) tokens() provider.Usage {
	if u.Input == 0 || u.Output == 0 {
		return provider.Usage{}
	}
	return provider.Usage{Input: int(u.Input), CachedInput: int(min(u.Cached, u.Input)), Output: int(u.Output)}
}
