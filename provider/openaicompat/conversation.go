package openaicompat

import (
	"github.com/agonist-dev/debate/provider"
)

// gotResults is what the speaker is made to say between results and what follows them
// ([Provider.AssistantAfterTools]). It takes no side, and is true of whoever called a tool.
const gotResults = "I have the results."

// messages writes the conversation. What Chat says holds for all of it but the speaker's own tool
// calls and their results, which have shapes of their own; other speakers' are left out.
func messages(req *provider.Request) []wireMessage {
	list := make([]wireMessage, 0, len(req.Messages)+2)
	part := provider.Request{System: req.System, Self: req.Self}
	chat := func(to []provider.Message) {
		part.Messages = to
		for role, text := range part.Chat() {
			list = append(list, wireMessage{Role: string(role), Content: &text})
		}
		part.System = ""
	}
	told := map[*provider.ToolResult]bool{}
	from := 0
	for i := range req.Messages {
		if m := &req.Messages[i]; calling(m, req.Self) {
			chat(req.Messages[from:i])
			list = appendCalls(list, m, req.Messages[i+1:], req.Self, told)
			from = i + 1
		}
	}
	part.Last = req.Last
	chat(req.Messages[from:])
	return list
}

// arrange makes the conversation one that the server takes.
func (p *Provider) arrange(list []wireMessage) []wireMessage {
	arranged := make([]wireMessage, 0, len(list))
	for _, m := range list {
		if p.ShortIDs {
			m.shorten()
		}
		n := len(arranged) - 1
		switch {
		case n < 0:
		case p.JoinRoles && arranged[n].joins(&m):
			arranged[n] = arranged[n].and(m)
			continue
		case p.AssistantAfterTools && m.Role == string(provider.RoleUser) && arranged[n].Role == roleTool:
			text := gotResults
			arranged = append(arranged, wireMessage{Role: string(provider.RoleAssistant), Content: &text})
		}
		arranged = append(arranged, m)
	}
	return arranged
}

// joins reports whether the next message is said by the same role. Between a call and what follows it is
// its result.
func (m *wireMessage) joins(next *wireMessage) bool {
	return m.Role == next.Role && m.Role != roleTool && len(m.ToolCalls) == 0
}

// and is the message with what the next one says, as another paragraph.
func (m *wireMessage) and(next wireMessage) wireMessage {
	switch {
	case m.Content == nil:
	case next.Content == nil:
		next.Content = m.Content
	default:
		text := *m.Content + "\n\n" + *next.Content
		next.Content = &text
	}
	return next
}
