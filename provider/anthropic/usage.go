package anthropic

import (
	"encoding/json"

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
	// OpenAI's fields, of servers that count as it does.
	Prompt *wire.Count     `json:"prompt_tokens"`
	Total  *wire.Count     `json:"total_tokens"`
	Cached json.RawMessage `json:"prompt_tokens_details"`
}

// usage keeps the latest value of each count. The vendor's counts are cumulative.
type usage struct {
	fresh, written, read wire.Count // input tokens: uncached, written to the cache, read from it
	output, thought      wire.Count
	prompt               wire.Count // all input tokens, as OpenAI's fields tell them; 0: not reported
	openAI               bool       // OpenAI's details are there
	complete             bool       // the output is counted to its end
}

// update takes over the counts that were reported.
func (u *usage) update(f *figures) {
	for _, one := range []struct {
		of  *wire.Count
		now *wire.Count
	}{
		{&u.fresh, f.Fresh},
		{&u.written, f.Written},
		{&u.read, f.Read},
		{&u.output, f.Output},
		{&u.thought, f.Details.Thoughts},
		{&u.prompt, f.Prompt},
	} {
		if one.now != nil {
			*one.of = *one.now
		}
	}
	if f.Prompt == nil && f.Total != nil && f.Output != nil { // of two events, they would not be of one moment
		u.prompt = max(0, *f.Total-*f.Output)
	}
	u.openAI = u.openAI || wire.Present(f.Cached)
}

// tokens returns the usage. It is zero until the output is counted to its end, because more of it may be
// charged.
func (u *usage) tokens() provider.Usage {
	if !u.complete {
		return provider.Usage{}
	}
	return u.counted()
}

// counted returns what the vendor has counted so far: at the beginning of a stream the input. The vendor counts cached tokens beside the
// others. A server that has OpenAI's fields counts them inside, unless what those say is as much as all together, or the cached ones are
// more than the input: a gateway may add fields of OpenAI to the vendor's own counts.
func (u *usage) counted() provider.Usage {
	cached := u.read + u.written
	input, read, written := u.fresh+cached, u.read, u.written
	slack := u.fresh/64 + 16 // DashScope's cache counts two tokens more than its prompt
	if u.fresh > 0 && cached <= u.fresh+slack && u.prompt < input && (u.prompt > 0 || u.openAI) {
		input, read = u.fresh, min(u.read, u.fresh)
		written = min(u.written, input-read)
	}
	return provider.Usage{
		Input: int(input), CachedInput: int(read), CacheWrite: int(written), Output: int(u.output), Reasoning: int(min(u.thought, u.output)),
	}
}
