package openaicompat

import (
	"slices"

	"github.com/agonist-dev/debate/provider"
)

// gotResults is put into the speaker's mouth between tool results and the next message
// ([Provider.AssistantAfterTools]). It takes no side, and is true of any speaker who called a tool.
const gotResults = "I have the results."

// messages writes the conversation as [provider.Request.Chat] describes it. The speaker's own tool calls
// and their results are added in the shapes that the protocol has for them. Those of other speakers are
// left out. Parts come before the text of their message.
func (p *Provider) messages(req *provider.Request, d *Dialect) []wireMessage {
	list := make([]wireMessage, 0, len(req.Messages)+2)
	part := provider.Request{System: req.System, Self: req.Self}
	chat := func(to ...provider.Message) {
		part.Messages = to
		for role, text := range part.Chat() {
			list = append(list, wireMessage{Role: string(role), text: &text})
		}
		part.System = ""
	}
	sent := map[*provider.ToolResult]bool{}
	from := 0
	for i := range req.Messages {
		switch m := &req.Messages[i]; {
		case calling(m, req.Self):
			chat(req.Messages[from:i]...)
			list = p.appendCalls(list, m, req.Messages[i+1:], req, sent)
			from = i + 1
		case len(m.Parts) > 0:
			chat(req.Messages[from:i]...)
			list = append(list, wireMessage{Role: string(provider.RoleUser), parts: d.parts(m.Parts)})
			list = shown(list, m, req.Self)
			from = i + 1
		}
	}
	chat(req.Messages[from:]...)
	if len(req.Last.Parts) > 0 {
		list = append(list, wireMessage{Role: string(provider.RoleUser), parts: d.parts(req.Last.Parts)})
	}
	if last := req.Last; last.Text != "" {
		list = shown(list, &last, "")
	}
	return list
}

// shown adds the text of a message to the parts that the last message of the list holds. The speaker's own text is a
// message by itself, because only users send parts.
func shown(list []wireMessage, m *provider.Message, self string) []wireMessage {
	n := len(list) - 1
	switch {
	case m.Text == "":
		return list
	case m.Speaker != "" && m.Speaker == self:
		return append(list, wireMessage{Role: string(provider.RoleAssistant), text: &m.Text})
	case n < 0 || len(m.Parts) == 0:
		text := m.Enclosed()
		return append(list, wireMessage{Role: string(provider.RoleUser), text: &text})
	}
	text := m.Enclosed()
	list[n].text = &text
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
			arranged = append(arranged, wireMessage{Role: string(provider.RoleAssistant), text: &text})
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

// and returns the message with the next one appended: its text as a new paragraph, its parts before that.
func (m *wireMessage) and(next wireMessage) wireMessage {
	if len(next.parts) > 0 {
		if m.text != nil {
			m.parts = append(slices.Clip(m.parts), wirePart{Type: "text", Text: *m.text})
		}
		next.parts = append(slices.Clip(m.parts), next.parts...)
		return next
	}
	next.parts = m.parts
	switch {
	case m.text == nil:
	case next.text == nil:
		next.text = m.text
	default:
		text := *m.text + "\n\n" + *next.text
		next.text = &text
	}
	return next
}
