package openaicompat

import (
	"bytes"
	"cmp"
	"encoding/json"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// usage is OpenAI's usage object, with fields that other vendors add.
type usage struct {
	Prompt     wire.Count `json:"prompt_tokens"`
	Completion wire.Count `json:"completion_tokens"`
	Total      wire.Count `json:"total_tokens"`
	CacheHit   wire.Count `json:"prompt_cache_hit_tokens"`     // DeepSeek
	Cached     wire.Count `json:"cached_tokens"`               // Moonshot
	Read       wire.Count `json:"cache_read_input_tokens"`     // Anthropic's, as Portkey and LiteLLM pass it on
	Written    wire.Count `json:"cache_creation_input_tokens"` // the same
	Reasoning  wire.Count `json:"reasoning_tokens"`            // Perplexity, beside the completion
	In         struct {
		Cached  wire.Count `json:"cached_tokens"`
		Write   wire.Count `json:"cache_write_tokens"`    // OpenRouter
		Written wire.Count `json:"cache_creation_tokens"` // LiteLLM
	} `json:"prompt_tokens_details"`
	Out struct {
		Reasoning wire.Count `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// parseUsage reads a usage object. ok is false if it counts nothing, or is none. What does not add up is the zero Usage.
// thinks says that the server counts thoughts in the total alone, and charges them as output.
func parseUsage(data json.RawMessage, thinks bool) (_ provider.Usage, ok bool) {
	var u usage
	if !wire.Present(data) || json.Unmarshal(data, &u) != nil {
		return provider.Usage{}, false
	}
	counts := wire.Tokens{
		Input: u.Prompt, Output: u.Completion, Total: u.Total, Reasoning: cmp.Or(u.Out.Reasoning, u.Reasoning), Thinks: thinks,
		Cached: max(u.In.Cached, u.CacheHit, u.Cached, u.Read), Written: max(u.In.Write, u.In.Written, u.Written),
	}
	return counts.Usage(), max(u.Prompt, u.Completion, u.Total) > 0
}

// tick is xAI's unit of costs, in USD. Source: its guide to tracking costs, 2026.
const tick = 1e-10

// parseCost reads what the server says that the request costs, in USD: OpenRouter's cost, with what the caller's own
// account at the upstream vendor is charged, Perplexity's total, or xAI's ticks. ok is false if it says nothing.
func parseCost(data json.RawMessage) (usd float64, ok bool) {
	var u struct {
		Cost    cost `json:"cost"`
		OwnKey  bool `json:"is_byok"`
		Details struct {
			Upstream *float64 `json:"upstream_inference_cost"`
		} `json:"cost_details"`
		Ticks *float64 `json:"cost_in_usd_ticks"`
	}
	if !wire.Present(data) || json.Unmarshal(data, &u) != nil {
		return 0, false
	}
	switch {
	case u.Ticks != nil:
		return *u.Ticks * tick, *u.Ticks != 0 // 0: xAI's models at another vendor, which sends its own bill
	case u.Cost.usd == nil, u.OwnKey && u.Details.Upstream == nil:
		return 0, false
	case u.OwnKey:
		return *u.Cost.usd + *u.Details.Upstream, true
	default:
		return *u.Cost.usd, true
	}
}

// cost is an amount, or an object that has it as its total.
type cost struct{ usd *float64 } // nil: neither

// UnmarshalJSON implements [json.Unmarshaler].
func (c *cost) UnmarshalJSON(data []byte) error {
	if !bytes.HasPrefix(data, []byte("{")) {
		return json.Unmarshal(data, &c.usd)
	}
	var parts struct {
		Total *float64 `json:"total_cost"`
	}
	err := json.Unmarshal(data, &parts)
	c.usd = parts.Total
	return err
}
