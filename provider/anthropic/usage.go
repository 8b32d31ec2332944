package anthropic

import (
	"math"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/agonist-dev/debate/provider"
)

// usage keeps the last of each figure that the vendor reported: they are cumulative.
type usage struct {
	fresh, written, read int64 // input tokens: sent anew, written to the cache, read from it
	output, thought      int64
	complete             bool // the output is counted
}

// start takes the figures of a stream's beginning.
func (u *usage) start(s *sdk.Usage) {
	u.fresh, u.written, u.read = s.InputTokens, s.CacheCreationInputTokens, s.CacheReadInputTokens
	u.output, u.thought = s.OutputTokens, s.OutputTokensDetails.ThinkingTokens
}

// update takes the figures of a stream's end, as far as there are any.
func (u *usage) update(d *sdk.MessageDeltaUsage) {
	if d.JSON.InputTokens.Valid() {
		u.fresh = d.InputTokens
	}
	if d.JSON.CacheCreationInputTokens.Valid() {
		u.written = d.CacheCreationInputTokens
	}
	if d.JSON.CacheReadInputTokens.Valid() {
		u.read = d.CacheReadInputTokens
	}
	if d.JSON.OutputTokens.Valid() {
		u.output, u.complete = d.OutputTokens, true
	}
	if d.OutputTokensDetails.JSON.ThinkingTokens.Valid() {
		u.thought = d.OutputTokensDetails.ThinkingTokens
	}
}

// known yields the usage. spoken says that output has come: before it is counted, nothing is known.
func (u *usage) known(spoken bool) provider.Usage {
	if spoken && !u.complete {
		return provider.Usage{}
	}
	fresh, written, read, output := tokens(u.fresh), tokens(u.written), tokens(u.read), tokens(u.output)
	return provider.Usage{
		Input: fresh + written + read, CachedInput: read, CacheWrite: written,
		Output: output, Reasoning: min(tokens(u.thought), output),
	}
}

// tokens makes a figure a number of tokens; what is no sensible one is 0.
func tokens(n int64) int {
	if n < 0 || n > math.MaxInt32 {
		return 0
	}
	return int(n)
}
