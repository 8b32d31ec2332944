package google

import (
	"google.golang.org/genai"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// foreignSignature is the signature that the vendor documents for calls that its models did not make:
// models from Gemini 3 on refuse a step whose first call is unsigned.
const foreignSignature = "skip_thought_signature_validator"

// opening precedes a conversation that begins with the speaker's own words or calls, because the API
// requires user content before a call.
const opening = "(The conversation begins with your own words.)"

// conversation is the contents of a request. Roles alternate, which older models require: neighbouring
// messages of one role become parts of one content.
type conversation []*genai.Content

// contents writes the conversation as [provider.Request.Chat] describes it. The speaker's own tool calls
// and their results are added in the shapes that the API has for them. Those of other speakers are left
// out.
func contents(req *provider.Request, owner wire.Owner) ([]*genai.Content, error) {
	var c conversation
	for i := range req.Messages {
		m := &req.Messages[i]
		c.parts(m)
		c.chat(provider.Request{Self: req.Self, Messages: req.Messages[i : i+1]})
		if !calls(req, m) {
			continue
		}
		// The results directly follow the calls, one for each, in the same order; otherwise the API
		// refuses them.
		results := results(req, req.Messages[i+1:])
		var given []*genai.Part
		for k := range m.ToolCalls {
			call := &m.ToolCalls[k]
			args, err := arguments(call.Arguments)
			if err != nil {
				return nil, err
			}
			s := wire.Unseal[sealed](call.Opaque, owner)
			if k == 0 && len(s.Signature) == 0 {
				s.Signature = []byte(foreignSignature)
			}
			c.add(genai.RoleModel, &genai.Part{
				FunctionCall:     &genai.FunctionCall{ID: s.ID, Name: call.Name, Args: args},
				ThoughtSignature: s.Signature,
			})
			given = append(given, &genai.Part{FunctionResponse: &genai.FunctionResponse{
				ID: s.ID, Name: call.Name, Response: response(results[call.ID]),
			}})
		}
		c.add(genai.RoleUser, given...)
	}
	c.parts(&req.Last)
	c.chat(provider.Request{Self: req.Self, Last: req.Last})
	return c, nil
}

// chat adds the texts of a part of the request.
func (c *conversation) chat(part provider.Request) {
	for role, text := range part.Chat() {
		to := genai.RoleUser
		if role == provider.RoleAssistant {
			to = genai.RoleModel
		}
		if last := c.last(to); last != nil && last.Parts[len(last.Parts)-1].Text != "" {
			text = "\n\n" + text // the model reads parts as one text
		}
		c.add(to, &genai.Part{Text: text})
	}
}

// last returns the last content if it has that role, otherwise nil.
func (c *conversation) last(role string) *genai.Content {
	if n := len(*c); n > 0 && (*c)[n-1].Role == role {
		return (*c)[n-1]
	}
	return nil
}

func (c *conversation) add(role string, parts ...*genai.Part) {
	if last := c.last(role); last != nil {
		last.Parts = append(last.Parts, parts...)
		return
	}
	if len(*c) == 0 && role == genai.RoleModel {
		c.add(genai.RoleUser, &genai.Part{Text: opening})
	}
	*c = append(*c, &genai.Content{Role: role, Parts: parts})
}

// calls reports whether the message has tool calls of the speaker.
func calls(req *provider.Request, m *provider.Message) bool {
	return len(m.ToolCalls) > 0 && m.Speaker != "" && m.Speaker == req.Self
}

// results returns the results before the speaker's next calls, by the ids of their calls. Later calls are
// excluded because ids that the adapter made may be repeated.
func results(req *provider.Request, after []provider.Message) map[string]*provider.ToolResult {
	list := map[string]*provider.ToolResult{}
	for i := range after {
		if calls(req, &after[i]) {
			break
		}
		if r := after[i].ToolResult; r != nil && list[r.ID] == nil {
			list[r.ID] = r
		}
	}
	return list
}

// response writes a result in the API's form: an object whose key says whether it is a result or an
// error.
func response(r *provider.ToolResult) map[string]any {
	switch {
	case r == nil:
		return map[string]any{"error": "there is no result"} // every call needs one
	case r.Error:
		return map[string]any{"error": r.Text}
	default:
		return map[string]any{"output": r.Text}
	}
}
