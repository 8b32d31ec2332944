package wire_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// Cached tokens stand inside the input or beside it, and the total has them or not. What does not add up is unknown, and never
// output.
func TestTokens(t *testing.T) {
	for name, tt := range map[string]struct {
		in   wire.Tokens
		want provider.Usage
	}{
		"plain":    {wire.Tokens{Input: 10, Output: 4, Total: 14}, provider.Usage{Input: 10, Output: 4}},
		"inside":   {wire.Tokens{Input: 9100, Output: 50, Total: 9150, Cached: 9000}, provider.Usage{Input: 9100, CachedInput: 9000, Output: 50}},
		"no total": {wire.Tokens{Input: 9100, Output: 50, Cached: 9000, Written: 20}, provider.Usage{Input: 9100, CachedInput: 9000, CacheWrite: 20, Output: 50}},
		// Portkey-AI/gateway#1754, 2026-08-10: the prompt excludes what the total has.
		"beside": {wire.Tokens{Input: 100, Output: 50, Total: 9150, Cached: 9000}, provider.Usage{Input: 9100, CachedInput: 9000, Output: 50}},
		"written beside": {
			wire.Tokens{Input: 100, Output: 50, Total: 9200, Cached: 9000, Written: 50},
			provider.Usage{Input: 9150, CachedInput: 9000, CacheWrite: 50, Output: 50},
		},
		"beside, no total": {wire.Tokens{Input: 100, Output: 50, Cached: 9000}, provider.Usage{Input: 9100, CachedInput: 9000, Output: 50}},
		"beside both":      {wire.Tokens{Input: 100, Output: 50, Total: 150, Cached: 9000}, provider.Usage{Input: 9100, CachedInput: 9000, Output: 50}},
		"reasoning beside, no total": {
			wire.Tokens{Input: 10, Output: 4, Reasoning: 20}, provider.Usage{Input: 10, Output: 24, Reasoning: 20},
		},
		"reasoning inside, no total": {
			wire.Tokens{Input: 10, Output: 24, Reasoning: 20}, provider.Usage{Input: 10, Output: 24, Reasoning: 20},
		},
		"reasoning beside":     {wire.Tokens{Input: 10, Output: 4, Total: 34, Reasoning: 20}, provider.Usage{Input: 10, Output: 24, Reasoning: 20}},
		"reasoning and cached": {wire.Tokens{Input: 10, Output: 4, Total: 934, Cached: 900, Reasoning: 20}, provider.Usage{Input: 910, CachedInput: 900, Output: 24, Reasoning: 20}},
		// browser-use/browser-use#4294, 2026-03-07: the total leaves out what the prompt has.
		"a total without": {wire.Tokens{Input: 9100, Output: 50, Total: 150, Cached: 9000}, provider.Usage{Input: 9100, CachedInput: 9000, Output: 50}},
		"thoughts in the total alone": {
			wire.Tokens{Input: 11, Output: 24, Total: 561, Thinks: true}, provider.Usage{Input: 11, Output: 550, Reasoning: 526},
		},
		"a rest that nobody explains": {wire.Tokens{Input: 11, Output: 24, Total: 561}, provider.Usage{}},
		"less than its parts":         {wire.Tokens{Input: 11, Output: 24, Total: 20}, provider.Usage{}},
		"nothing":                     {wire.Tokens{}, provider.Usage{}},
	} {
		assert.Equal(t, tt.want, tt.in.Usage(), name)
	}
}
