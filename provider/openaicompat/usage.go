package openaicompat

import (
	"encoding/json"
	"math"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// count is a number of tokens. It never makes a chunk undecodable: what is no sensible number is 0.
type count int

func (c *count) UnmarshalJSON(data []byte) error {
	var f float64
	*c = 0
	if json.Unmarshal(data, &f) == nil && f > 0 && f <= math.MaxInt32 {
		*c = count(f)
	}
	return nil
}

// usage is OpenAI's, with the fields that others add.
type usage struct {
	Prompt     count `json:"prompt_tokens"`
	Completion count `json:"completion_tokens"`
	Total      count `json:"total_tokens"`
	CacheHit   count `json:"prompt_cache_hit_tokens"` // DeepSeek
	Cached     count `json:"cached_tokens"`           // Moonshot
	In         struct {
		Cached count `json:"cached_tokens"`
		Write  count `json:"cache_write_tokens"` // OpenRouter
	} `json:"prompt_tokens_details"`
	Out struct {
		Reasoning count `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// parseUsage reads a usage object; what is none is the zero Usage.
func parseUsage(data json.RawMessage) provider.Usage {
	var u usage
	if !wire.Present(data) || json.Unmarshal(data, &u) != nil {
		return provider.Usage{}
	}
	input, output, reasoning := int(u.Prompt), int(u.Completion), int(u.Out.Reasoning)
	// xAI does not count reasoning among the completion tokens; its total tells.
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
