package openaicompat

import (
	"github.com/agonist-dev/debate/provider"
)

// gotResults is put into the speaker's mouth between tool results and the next message
// ([Provider.AssistantAfterTools]). It takes no side, and is true of any speaker who called a tool.
const gotResults = "I have the results."

// messages writes the conversation as [provider.Request.Chat] describes it. The speaker's own tool calls
// and their results are added in the shapes that the protocol has for them. Those of other speakers are
// left out.
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
	sent := map[*provider.ToolResult]bool{}
	from := 0
	for i := range req.Messages {
		if m := &req.Messages[i]; calling(m, req.Self) {
			chat(req.Messages[from:i])
			list = appendCalls(list, m, req.Messages[i+1:], req.Self, sent)
			from = i + 1
		}
	}
	part.Last = req.Last
	chat(req.Messages[from:])
	return list
}

// arrange changes the conversation into one that the server accepts.
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

// joins reports whether the next message has the same role and can be joined to this one. A message with
// tool calls is followed by their results, so nothing is joined to it.
func (m *wireMessage) joins(next *wireMessage) bool {
	return m.Role == next.Role && m.Role != roleTool && len(m.ToolCalls) == 0
}

// and returns the message with the text of the next one appended as a new paragraph.
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
