package openaicompat

import (
	"encoding/json"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// usage is OpenAI's usage object, with fields that other vendors add.
type usage struct {
	Prompt     wire.Count `json:"prompt_tokens"`
	Completion wire.Count `json:"completion_tokens"`
	Total      wire.Count `json:"total_tokens"`
	CacheHit   wire.Count `json:"prompt_cache_hit_tokens"` // DeepSeek
	Cached     wire.Count `json:"cached_tokens"`           // Moonshot
	In         struct {
		Cached wire.Count `json:"cached_tokens"`
		Write  wire.Count `json:"cache_write_tokens"` // OpenRouter
	} `json:"prompt_tokens_details"`
	Out struct {
		Reasoning wire.Count `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// parseUsage reads a usage object. Anything else is the zero Usage.
func parseUsage(data json.RawMessage) provider.Usage {
	var u usage
	if !wire.Present(data) || json.Unmarshal(data, &u) != nil {
		return provider.Usage{}
	}
	input, output, reasoning := int(u.Prompt), int(u.Completion), int(u.Out.Reasoning)
	// xAI does not count reasoning among the completion tokens; the total shows it.
	if reasoning > 0 && int(u.Total) == input+output+reasoning {
		output += reasoning
	}
	cached := min(int(max(u.In.Cached, u.CacheHit, u.Cached)), input)
	return provider.Usage{
		Input:       input,
		CachedInput: cached,
		CacheWrite:  min(int(u.In.Write), input-cached),
		Output:      output,
		Reasoning:   min(reasoning, output),
	}
}
