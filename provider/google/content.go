package google

import (
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// foreignSignature is the signature that the vendor documents for calls that its models did not make:
// models from Gemini 3 on refuse a step whose first call is unsigned.
const foreignSignature = "skip_thought_signature_validator"

// conversation is the contents of a request. Roles alternate, which older models require: neighbouring
// messages of one role become parts of one content.
type conversation []*turn

// contents writes the conversation of a request that is in its form.
func contents(req *provider.Request, owner wire.Owner) []*turn {
	var c conversation
	var ids []string // the models' own, of the calls whose results follow
	var names []string
	for i := range req.Messages {
		switch m := &req.Messages[i]; {
		case m.ToolResult != nil: // in the order of the calls
			c.add(roleUser, piece{FunctionResponse: &sentResult{
				ID: ids[0], Name: names[0], Response: response(m.ToolResult),
			}})
			ids, names = ids[1:], names[1:]
		default:
			c.say(m, req.Own(m))
			for k := range m.ToolCalls {
				call := &m.ToolCalls[k]
				s := wire.Unseal[sealed](call.Opaque, owner)
				if k == 0 && len(s.Signature) == 0 {
					s.Signature = []byte(foreignSignature)
				}
				c.add(roleModel, piece{
					FunctionCall:     &sentCall{ID: s.ID, Name: call.Name, Args: arguments(call.Arguments)},
					ThoughtSignature: s.Signature,
				})
				ids, names = append(ids, s.ID), append(names, call.Name)
			}
		}
	}
	c.say(&req.Last, false)
	return c
}

// say adds the files and the text of a message.
func (c *conversation) say(m *provider.Message, own bool) {
	c.parts(m)
	to, text := roleUser, m.Enclosed()
	switch {
	case m.Text == "":
		return
	case own:
		to, text = roleModel, m.Text
	}
	if last := c.last(to); last != nil && last.Parts[len(last.Parts)-1].Text != "" {
		text = "\n\n" + text // the model reads parts as one text
	}
	c.add(to, piece{Text: text})
}

// last returns the last turn if it has that role, otherwise nil.
func (c *conversation) last(role string) *turn {
	if n := len(*c); n > 0 && (*c)[n-1].Role == role {
		return (*c)[n-1]
	}
	return nil
}

func (c *conversation) add(role string, p piece) {
	if last := c.last(role); last != nil {
		last.Parts = append(last.Parts, p)
		return
	}
	*c = append(*c, &turn{Role: role, Parts: []piece{p}})
}

// response writes a result in the API's form: an object whose key says whether it is a result or an
// error.
func response(r *provider.ToolResult) map[string]any {
	if r.Error {
		return map[string]any{"error": r.Text}
	}
	return map[string]any{"output": r.Text}
}
