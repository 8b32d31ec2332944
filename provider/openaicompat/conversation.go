package openaicompat

import (
	"slices"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// messages writes the conversation of a request that is in its form. Parts come before the text of their message.
func (p *Provider) messages(req *provider.Request, d *Dialect, t *wire.Terms) []wireMessage {
	list := make([]wireMessage, 0, len(req.Messages)+2)
	if req.System != "" {
		list = append(list, wireMessage{Role: string(provider.RoleSystem), text: &req.System})
	}
	for i := range req.Messages {
		switch m := &req.Messages[i]; {
		case m.ToolResult != nil:
			text := wire.Told(m.ToolResult)
			list = append(list, wireMessage{Role: roleTool, ToolCallID: m.ToolResult.ID, text: &text})
		case len(m.ToolCalls) > 0:
			list = append(list, p.calls(m, req.Model))
		default:
			list = d.said(list, m, req.Own(m))
		}
	}
	list = d.said(list, &req.Last, false)
	if p.JoinRoles || t.Leaves(wire.OptionRoles) {
		list = joined(list)
	}
	return list
}

// said adds the parts and the text of a message. The speaker's own text is a message by itself, because only users send parts.
func (d *Dialect) said(list []wireMessage, m *provider.Message, own bool) []wireMessage {
	user := wireMessage{Role: string(provider.RoleUser)}
	if len(m.Parts) > 0 {
		user.parts = d.parts(m.Parts)
	}
	if m.Text != "" && !own {
		text := m.Enclosed()
		user.text = &text
	}
	if user.parts != nil || user.text != nil {
		list = append(list, user)
	}
	if m.Text != "" && own {
		list = append(list, wireMessage{Role: string(provider.RoleAssistant), text: &m.Text})
	}
	return list
}

// joined returns a conversation in which users and the assistant take turns, as far as tools are not between them.
func joined(list []wireMessage) []wireMessage {
	out := make([]wireMessage, 0, len(list))
	for _, m := range list {
		if n := len(out) - 1; n >= 0 && out[n].joins(&m) {
			out[n] = out[n].and(m)
			continue
		}
		out = append(out, m)
	}
	return out
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
