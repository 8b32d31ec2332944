package ollama

import (
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// usage holds the counts of the server.
type usage struct {
	Input  wire.Count `json:"prompt_eval_count"`
	Cached wire.Count `json:"prompt_eval_cached_count"`
	Output wire.Count `json:"eval_count"`
}

// tokens returns the usage of a complete reply. If one of the two sides is missing, it returns the zero
// Usage (unknown), because every reply has both.
func (u usage) tokens() provider.Usage {
	if u.Input == 0 || u.Output == 0 {
		return provider.Usage{}
	}
	return provider.Usage{Input: int(u.Input), CachedInput: int(min(u.Cached, u.Input)), Output: int(u.Output)}
}
