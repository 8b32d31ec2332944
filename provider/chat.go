package provider

import (
	"iter"
	"strings"
)

// Role is the part that a text plays in a vendor's chat.
type Role string

// The roles of a chat.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Chat yields the whole request in the form that vendors expect: the system prompt, the messages and the
// last message, in this order, each with its role. Turns of the speaker itself have the role assistant
// and keep their text. Everything else has the role user; its text is [Message.Enclosed]. Tool calls and
// tool results have no text, so Chat skips them: an adapter that offers tools reads them from Messages.
//
// Chat stores nothing. It builds the text of a fenced message while it yields it.
func (r *Request) Chat() iter.Seq2[Role, string] {
	return func(yield func(Role, string) bool) {
		if r.System != "" && !yield(RoleSystem, r.System) {
			return
		}
		for i := range r.Messages {
			m := &r.Messages[i]
			if m.Text == "" {
				continue
			}
			if r.Own(m) {
				if !yield(RoleAssistant, m.Text) {
					return
				}
				continue
			}
			if !yield(RoleUser, m.Enclosed()) {
				return
			}
		}
		if r.Last.Text != "" {
			yield(RoleUser, r.Last.Enclosed())
		}
	}
}

// Own reports whether a message of Messages is the speaker's own. A message without a speaker is the engine's, even if Self is empty,
// and Last is the engine's whoever its speaker is.
func (r *Request) Own(m *Message) bool { return m.Speaker != "" && m.Speaker == r.Self }

// Enclosed returns the text as every reader but its speaker gets it: between the markers of its fence or,
// without a fence, after the speaker's name. A text without fence and speaker is returned as it is.
//
// The opening marker of a message with a Label is <<<FENCE LABEL | NAME>>>. The bar in it is the only one: in the label and in the name
// it is written ¦, so that no name can pass for a label. In both, < and > are written ‹ and ›, so that neither seems to close the marker.
func (m *Message) Enclosed() string {
	switch {
	case m.Fence != "":
		name := m.Speaker
		if m.Label != "" {
			name = strings.ReplaceAll(m.Label, "|", "¦") + " | " + strings.ReplaceAll(name, "|", "¦")
		}
		name = strings.ReplaceAll(strings.ReplaceAll(name, "<", "‹"), ">", "›")
		return "<<<" + m.Fence + " " + name + ">>>\n" + m.Text + "\n<<<end " + m.Fence + ">>>"
	case m.Speaker != "":
		return m.Speaker + ": " + m.Text
	default:
		return m.Text
	}
}
