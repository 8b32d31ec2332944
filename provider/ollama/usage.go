package ollama

import (
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// usage is what the server counts.
type usage struct {
	Input  wire.Count `json:"prompt_eval_count"`
	Cached wire.Count `json:"prompt_eval_cached_count"`
	Output wire.Count `json:"eval_count"`
}

// tokens yields the usage of a whole reply. It is zero, which says that nothing is known, if one of the
// two sides is missing: every reply has both.
func (u usage) tokens() provider.Usage {
	if u.Input == 0 || u.Output == 0 {
		return provider.Usage{}
	}
	return provider.Usage{Input: int(u.Input), CachedInput: int(min(u.Cached, u.Input)), Output: int(u.Output)}
}
