package provider

import (
	"iter"
)

// Role is the part that a text plays in a vendor's chat.
type Role string

// The roles of a chat.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Chat yields the whole request as a vendor wants it, in order: the system prompt, the messages and
// the last one, each with its role. The speaker's own turns are the assistant's, as they were
// spoken; everybody else's are a user's, under their name and inside their fence. Tool calls and
// results have no text of their own here: an adapter that offers tools reads them from Messages.
//
// Nothing is stored: the text of a fenced message is put together while it is yielded.
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
			if m.Speaker != "" && m.Speaker == r.Self {
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

// Enclosed yields the text as somebody other than its speaker reads it: under the speaker's name
// and, if the message has a fence, between its markers.
func (m *Message) Enclosed() string {
	switch {
	case m.Fence != "":
		return "<<<" + m.Fence + " " + m.Speaker + ">>>\n" + m.Text + "\n<<<end " + m.Fence + ">>>"
	case m.Speaker != "":
		return m.Speaker + ": " + m.Text
	default:
		return m.Text
	}
}
