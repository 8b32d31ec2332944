package google

import (
	"google.golang.org/genai"

	"github.com/agonist-dev/debate/provider"
)

// usage translates the vendor's count. It counts thoughts beside the text, and what the vendor's own
// tools fed to the model beside the prompt; the cached tokens are among the prompt's.
func usage(u *genai.GenerateContentResponseUsageMetadata) provider.Usage {
	if u == nil {
		return provider.Usage{}
	}
	count := func(n int32) int { return int(max(n, 0)) }
	return provider.Usage{
		Input:       count(u.PromptTokenCount) + count(u.ToolUsePromptTokenCount),
		CachedInput: min(count(u.CachedContentTokenCount), count(u.PromptTokenCount)),
		Output:      count(u.CandidatesTokenCount) + count(u.ThoughtsTokenCount),
		Reasoning:   count(u.ThoughtsTokenCount),
	}
}
