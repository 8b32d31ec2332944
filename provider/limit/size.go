package limit

import "github.com/agonist-dev/debate/provider"

const (
	// DefaultOutput is the number of tokens reserved for the reply to a request without MaxTokens: a page
	// and a half, which is a long turn.
	DefaultOutput = 1024
	// bytesPerToken is the vendors' rule of thumb for English. Other languages have more tokens than
	// that. The usage that a vendor reports corrects the estimate.
	bytesPerToken = 4
	// imageTokens is what one image costs at most with Anthropic, which is more than with most vendors.
	imageTokens = 1600
	// bytesPerFileToken is for PDFs and other files: a page of 50 to 100 KB has 1,500 to 3,000 tokens, says Anthropic.
	bytesPerFileToken = 32
	// maxTokens is more than any request has. Sums of such numbers do not overflow.
	maxTokens = 1 << 28
)

// size estimates the tokens of a request and its reply: the bytes of the request, and as much output as
// it allows.
func size(req *provider.Request) int {
	bytes := len(req.System) + messageSize(&req.Last)
	for i := range req.Messages {
		bytes += messageSize(&req.Messages[i])
	}
	if req.Schema != nil {
		bytes += len(req.Schema.JSON)
	}
	for i := range req.Tools {
		t := &req.Tools[i]
		bytes += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	output := req.MaxTokens
	if output <= 0 {
		output = DefaultOutput
	}
	return min(bytes/bytesPerToken, maxTokens) + min(output, maxTokens)
}

func messageSize(m *provider.Message) int {
	bytes := len(m.Speaker) + len(m.Label) + len(m.Text) + 2*len(m.Fence)
	for i := range m.ToolCalls {
		c := &m.ToolCalls[i]
		bytes += len(c.Name) + len(c.Arguments)
	}
	if m.ToolResult != nil {
		bytes += len(m.ToolResult.Text)
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Ability() == provider.AbilityImage {
			bytes += imageTokens * bytesPerToken
		} else {
			bytes += len(p.Data) / bytesPerFileToken * bytesPerToken
		}
	}
	return bytes
}

// used returns the tokens that a vendor reports, and whether the report is usable.
func used(u provider.Usage) (tokens int, ok bool) {
	if u.IsZero() || u.Input < 0 || u.Output < 0 {
		return 0, false
	}
	return min(u.Input, maxTokens) + min(u.Output, maxTokens), true
}
