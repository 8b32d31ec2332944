package openaicompat

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/provider"
)

const (
	roleTool = "tool"
	// noResult stands in for a missing result: the protocol requires one for each call.
	noResult = "The tool gave no result."
	failed   = "The tool failed: " // the protocol has no field for it
	idLength = 9
)

// tools writes the tools that the model may call, and the server's own search if the request asks for it.
func (d *Dialect) tools(req *provider.Request) []wireTool {
	var list []wireTool // nil, so that none are sent if there are none
	for _, t := range req.Tools {
		parameters := t.Parameters
		if len(parameters) == 0 {
			parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		list = append(list, wireTool{Type: "function", Function: &wireFunction{
			Name: t.Name, Description: t.Description, Parameters: parameters,
		}})
	}
	if req.Options != nil && req.Options.Search && d.SearchTool != "" {
		list = append(list, wireTool{Type: d.SearchTool})
	}
	return list
}

// calling reports whether a message holds tool calls of self.
func calling(m *provider.Message, self string) bool {
	return len(m.ToolCalls) > 0 && m.Speaker != "" && m.Speaker == self
}

// appendCalls adds a message in which the speaker called tools, and directly after it the results, one
// for each call, in the order of the calls, as the protocol requires. It looks for the results in
// following, up to the speaker's next calls, and records them in sent.
func (p *Provider) appendCalls(
	list []wireMessage, m *provider.Message, following []provider.Message, req *provider.Request, sent map[*provider.ToolResult]bool,
) []wireMessage {
	if i := slices.IndexFunc(following, func(m provider.Message) bool { return calling(&m, req.Self) }); i >= 0 {
		following = following[:i]
	}
	w := wireMessage{Role: string(provider.RoleAssistant)}
	if m.Text != "" {
		w.text = &m.Text
	}
	for _, c := range m.ToolCalls {
		arguments := string(c.Arguments)
		if arguments == "" {
			arguments = "{}"
		}
		w.ToolCalls = append(w.ToolCalls, wireToolCall{
			ID: c.ID, Type: "function", Function: wireFunction{Name: c.Name, Arguments: arguments},
		})
	}
	p.giveBack(&w, m, req.Model)
	list = append(list, w)
	for _, c := range m.ToolCalls {
		text := result(c.ID, following, sent)
		list = append(list, wireMessage{Role: roleTool, ToolCallID: c.ID, text: &text})
	}
	return list
}

// result writes the result of a call that has not been written yet.
func result(id string, in []provider.Message, sent map[*provider.ToolResult]bool) string {
	for i := range in {
		if r := in[i].ToolResult; r != nil && r.ID == id && !sent[r] {
			sent[r] = true
			if r.Error {
				return failed + r.Text
			}
			return r.Text
		}
	}
	return noResult
}

// shorten gives the message's calls, or its result, ids of nine letters and digits. Ids of that form
// stay. Others are replaced by a hash, in the call and its result alike.
func (m *wireMessage) shorten() {
	if m.Role == roleTool {
		m.ToolCallID = shortID(m.ToolCallID)
	}
	for i := range m.ToolCalls {
		m.ToolCalls[i].ID = shortID(m.ToolCalls[i].ID)
	}
}

func shortID(id string) string {
	const alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	if len(id) == idLength && strings.Trim(id, alphabet) == "" {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])[:idLength]
}
