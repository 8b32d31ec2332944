package anthropic

import (
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// figures are the counts in one event. A nil count was not reported.
type figures struct {
	Fresh   *wire.Count `json:"input_tokens"`
	Written *wire.Count `json:"cache_creation_input_tokens"`
	Read    *wire.Count `json:"cache_read_input_tokens"`
	Output  *wire.Count `json:"output_tokens"`
	Details struct {
		Thoughts *wire.Count `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// usage keeps the latest value of each count. The vendor's counts are cumulative.
type usage struct {
	fresh, written, read wire.Count // input tokens: uncached, written to the cache, read from it
	output, thought      wire.Count
	complete             bool // the output is counted to its end
}

// update takes over the counts that were reported.
func (u *usage) update(f *figures) {
	for _, one := range []struct {
		of  *wire.Count
		now *wire.Count
	}{{&u.fresh, f.Fresh}, {&u.written, f.Written}, {&u.read, f.Read}, {&u.output, f.Output}, {&u.thought, f.Details.Thoughts}} {
		if one.now != nil {
			*one.of = *one.now
		}
	}
}

// tokens returns the usage. It is zero until the output is counted to its end, because more of it may be
// charged.
func (u *usage) tokens() provider.Usage {
	if !u.complete {
		return provider.Usage{}
	}
	return u.counted()
}

// counted returns what the vendor has counted so far: at the beginning of a stream the input.
func (u *usage) counted() provider.Usage {
	return provider.Usage{
		Input: int(u.fresh + u.written + u.read), CachedInput: int(u.read), CacheWrite: int(u.written),
		Output: int(u.output), Reasoning: int(min(u.thought, u.output)),
	}
}
