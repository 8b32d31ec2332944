package google

import (
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// count is the usage object of the vendor.
type count struct {
	Prompt   wire.Count `json:"promptTokenCount"`
	Tools    wire.Count `json:"toolUsePromptTokenCount"`
	Cached   wire.Count `json:"cachedContentTokenCount"`
	Text     wire.Count `json:"candidatesTokenCount"`
	Thoughts wire.Count `json:"thoughtsTokenCount"`
}

// tokens translates the count. The vendor counts thoughts separately from the text, and the input of its
// own tools separately from the prompt. Cached tokens are included in the prompt's.
func (c count) tokens() provider.Usage {
	return provider.Usage{
		Input:       int(c.Prompt) + int(c.Tools),
		CachedInput: int(min(c.Cached, c.Prompt)),
		Output:      int(c.Text) + int(c.Thoughts),
		Reasoning:   int(c.Thoughts),
	}
}
