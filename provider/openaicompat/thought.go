package openaicompat

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/internal/toolschema"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// Thoughts is the form in which a server wants back the thoughts that led a model to call tools. They go back to
// the host of BaseURL that they came from, with the calls ([provider.ToolCall.Opaque]); signed and encrypted ones go back
// to their own model only. For calls of another model the server gets the placeholder that it accepts.
type Thoughts string

// These are the forms of thoughts.
const (
	// ThoughtsNone sends none: the thoughts are dropped.
	ThoughtsNone Thoughts = ""
	// ThoughtsText sends the text as reasoning_content, with each message that calls tools: Moonshot, which
	// otherwise refuses the request once its model thinks. A text that is empty counts as missing there.
	ThoughtsText Thoughts = "reasoning_content"
	// ThoughtsAlways sends the text as reasoning_content too: DeepSeek. In a request with tools, its thinking
	// models want the field in each message of their own. It is empty where there are no thoughts, as in the
	// turns of earlier rounds.
	ThoughtsAlways Thoughts = "reasoning_content always"
	// ThoughtsDetails sends the list reasoning_details with each message that calls tools: OpenRouter.
	ThoughtsDetails Thoughts = "reasoning_details"
	// ThoughtsSignature sends each call with its extra_content, which has a signature: Gemini's compatible
	// endpoint. Models from Gemini 3 on refuse a call without one.
	ThoughtsSignature Thoughts = "thought_signature"
)

const (
	noThoughts = " " // the shortest text that Moonshot accepts
	maxDetails = 1 << 10
	// unsigned is what Gemini's API documents for calls that its models did not make.
	unsigned = `{"google":{"thought_signature":"skip_thought_signature_validator"}}`
)

// sealed is what is kept with a tool call. The first call of a reply has the thoughts of all.
type sealed struct {
	Text    string          `json:"reasoning_content,omitempty"`
	Details json.RawMessage `json:"reasoning_details,omitempty"`
	Extra   json.RawMessage `json:"extra_content,omitempty"`
}

// giveBack adds to a message with calls what the server wants back with them.
func (p *Provider) giveBack(w *wireMessage, m *provider.Message, model string) {
	owner := p.Owner(model)
	for i := range m.ToolCalls {
		s := wire.Unseal[sealed](m.ToolCalls[i].Opaque, owner)
		switch p.Thoughts {
		case ThoughtsText, ThoughtsAlways:
			if s.Text != "" && w.Thoughts == nil {
				w.Thoughts = &s.Text
			}
		case ThoughtsDetails:
			if len(s.Details) > 0 && s.Details[0] == '[' && w.Details == nil {
				w.Details = s.Details
			}
		case ThoughtsSignature:
			switch {
			case len(s.Extra) > 0 && s.Extra[0] == '{':
				w.ToolCalls[i].Extra = s.Extra
			case i == 0:
				w.ToolCalls[i].Extra = json.RawMessage(unsigned)
			}
		case ThoughtsNone:
		}
	}
	switch {
	case p.Thoughts == ThoughtsText && w.Thoughts == nil:
		none := noThoughts
		w.Thoughts = &none
	case p.Thoughts == ThoughtsDetails && w.Details == nil:
		w.Details = json.RawMessage("[]")
	}
}

// fill adds the empty field that ThoughtsAlways wants in the model's own messages.
func (p *Provider) fill(messages []wireMessage, tools bool) {
	tools = tools || slices.ContainsFunc(messages, func(m wireMessage) bool { return len(m.ToolCalls) > 0 })
	if p.Thoughts != ThoughtsAlways || !tools {
		return
	}
	for i := range messages {
		if m := &messages[i]; m.Role == string(provider.RoleAssistant) && m.Thoughts == nil {
			m.Thoughts = new(string)
		}
	}
}

// kept collects the thoughts of a reply.
type kept struct {
	form    Thoughts
	owner   wire.Owner
	text    strings.Builder
	details []*detail
	listed  bool // the server sent a list, if only an empty one
	extra   map[int]json.RawMessage
}

// think adds thoughts that have come: a text, and OpenRouter's details.
func (t *kept) think(text string, details json.RawMessage) {
	switch t.form {
	case ThoughtsText, ThoughtsAlways:
		t.text.WriteString(text)
	case ThoughtsDetails:
		var list []json.RawMessage
		if wire.Longer(details, maxDetails) || json.Unmarshal(details, &list) != nil || list == nil {
			return
		}
		t.listed = true
		for _, raw := range list {
			t.piece(raw)
		}
	case ThoughtsSignature, ThoughtsNone:
	}
}

// sign keeps what came with a call.
func (t *kept) sign(at int, extra json.RawMessage) {
	if t.form != ThoughtsSignature || !wire.Present(extra) || extra[0] != '{' {
		return
	}
	if t.extra == nil {
		t.extra = map[int]json.RawMessage{}
	}
	t.extra[at] = extra
}

// seal adds the thoughts to the calls of a reply.
func (t *kept) seal(r *wire.Reply) {
	for at := range r.Calls() {
		s, owner := sealed{Extra: t.extra[at]}, t.owner
		if at == 0 {
			s.Text = wire.Joined(t.text.String())
			if t.listed && len(t.details) <= maxDetails {
				s.Details = t.list()
			}
		}
		switch {
		case s.Extra != nil || s.Details != nil: // signed or encrypted
		case s.Text != "":
			owner.Model = "" // any model of the server reads a text
		default:
			continue
		}
		r.Seal(at, owner, s)
	}
}

// detail is an element of reasoning_details. Its text comes in pieces.
type detail struct {
	fields toolschema.Object
	name   string // of the field with the text; "": it has none
	text   strings.Builder
}

// piece adds an element, or a piece of one: of the same type and index as an earlier one, or without an index the
// same type as the last. Encrypted elements are whole.
func (t *kept) piece(raw json.RawMessage) {
	fields, ok := toolschema.Parse(raw)
	if !ok || len(t.details) > maxDetails {
		return
	}
	d := t.begun(fields)
	if d == nil {
		d = &detail{}
		t.details = append(t.details, d)
	}
	for _, name := range []string{"text", "summary"} {
		if d.name == "" && fields.Has(name) {
			d.name = name
		}
	}
	for _, f := range fields {
		if f.Name == d.name {
			d.text.WriteString(wire.Plain(f.Value))
		}
		at := slices.IndexFunc(d.fields, func(had toolschema.Field) bool { return had.Name == f.Name })
		switch {
		case at < 0:
			d.fields = append(d.fields, f)
		case !wire.Present(d.fields[at].Value):
			d.fields[at].Value = f.Value
		}
	}
}

// begun returns the element that a piece continues; nil: it begins one.
func (t *kept) begun(piece toolschema.Object) *detail {
	if piece.Has("data") {
		return nil
	}
	is := func(d *detail, name string) bool { return bytes.Equal(piece.Get(name), d.fields.Get(name)) }
	for _, d := range slices.Backward(t.details) {
		if is(d, "type") && is(d, "index") && !d.fields.Has("data") {
			return d
		}
		if !piece.Has("index") {
			return nil
		}
	}
	return nil
}

// list writes the elements. It leaves out texts that their vendor would refuse because they lack its signature.
func (t *kept) list() json.RawMessage {
	var list []json.RawMessage
	for _, d := range t.details {
		if d.unsigned() {
			continue
		}
		whole := slices.Clone(d.fields)
		for i := range whole {
			if whole[i].Name == d.name {
				whole[i].Value = toolschema.Written(wire.Joined(d.text.String()))
			}
		}
		list = append(list, whole.JSON())
	}
	return toolschema.Joined(list)
}

// unsigned reports whether an element is a text that its vendor signs, without its signature. Without a format it
// is Anthropic's.
func (d *detail) unsigned() bool {
	switch cmp.Or(d.fields.Text("format"), "anthropic-claude-v1") {
	case "anthropic-claude-v1", "google-gemini-v1":
		return d.fields.Text("type") == "reasoning.text" && !wire.Present(d.fields.Get("signature"))
	}
	return false
}
