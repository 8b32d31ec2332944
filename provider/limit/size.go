package limit

import "github.com/agonist-dev/debate/provider"

const (
	// DefaultOutput is what is reserved for the reply to a request without MaxTokens, in tokens: a page
	// and a half, which is a long turn.
	DefaultOutput = 1024
	// bytesPerToken is the vendors' rule of thumb for English. Other languages have more tokens than it
	// says; what a vendor reports sets that right.
	bytesPerToken = 4
	// mostTokens is more than any request has. Sums of such numbers do not overflow.
	mostTokens = 1 << 28
)

// size estimates the tokens of a request and its reply before anybody has counted them: its bytes, and as
// much output as it allows.
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
	return min(bytes/bytesPerToken, mostTokens) + min(output, mostTokens)
}

func messageSize(m *provider.Message) int {
	bytes := len(m.Speaker) + len(m.Text) + 2*len(m.Fence)
	for i := range m.ToolCalls {
		c := &m.ToolCalls[i]
		bytes += len(c.Name) + len(c.Arguments)
	}
	if m.ToolResult != nil {
		bytes += len(m.ToolResult.Text)
	}
	return bytes
}

// used yields the tokens that a vendor reports, and whether it reports any that can be.
func used(u provider.Usage) (tokens int, ok bool) {
	if u.IsZero() || u.Input < 0 || u.Output < 0 {
		return 0, false
	}
	return min(u.Input, mostTokens) + min(u.Output, mostTokens), true
}
