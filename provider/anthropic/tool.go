package anthropic

import (
	"encoding/json"
	"strconv"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/agonist-dev/debate/provider"
)

// noResult stands in for a missing result: the API requires one for each call.
const noResult = "The tool gave no result."

// tools writes the tools that the model may call.
func tools(offered []provider.Tool) []sdk.ToolUnionParam {
	var list []sdk.ToolUnionParam // nil, so that none are sent if there are none
	for _, t := range offered {
		tool := &sdk.ToolParam{Name: t.Name}
		if t.Description != "" {
			tool.Description = param.NewOpt(t.Description)
		}
		if len(t.Parameters) > 0 {
			tool.InputSchema = param.Override[sdk.ToolInputSchemaParam](t.Parameters)
		} else {
			tool.InputSchema.Properties = struct{}{}
		}
		list = append(list, sdk.ToolUnionParam{OfTool: tool})
	}
	return list
}

// calling reports whether a message holds tool calls of self.
func calling(m *provider.Message, self string) bool {
	return len(m.ToolCalls) > 0 && m.Speaker != "" && m.Speaker == self
}

// call adds a message in which the speaker called tools, and after it all results in one message, as the
// API requires. It looks for the results in following, up to the speaker's next calls, and records them
// in sent.
func (c *conversation) call(m *provider.Message, following []provider.Message, self string, sent map[*provider.ToolResult]bool) {
	for i := range following {
		if calling(&following[i], self) {
			following = following[:i]
			break
		}
	}
	ids := make([]string, len(m.ToolCalls))
	for i := range m.ToolCalls {
		t := &m.ToolCalls[i]
		thoughts := unseal(t.Opaque, c.owner)
		if n := len(c.messages); i == 0 && n > 0 && len(thoughts) > 0 && c.messages[n-1].Role == sdk.MessageParamRoleAssistant {
			c.add(sdk.MessageParamRoleUser, sdk.NewTextBlock(between))
		}
		for _, block := range thoughts {
			c.add(sdk.MessageParamRoleAssistant, block)
		}
		if i == 0 && !blank(m.Text) { // after the first thoughts, where the model wrote it
			c.add(sdk.MessageParamRoleAssistant, sdk.NewTextBlock(m.Text))
		}
		ids[i] = c.id(t.ID)
		c.add(sdk.MessageParamRoleAssistant, sdk.NewToolUseBlock(ids[i], object(t.Arguments), t.Name))
	}
	for i := range m.ToolCalls {
		c.add(sdk.MessageParamRoleUser, result(ids[i], find(m.ToolCalls[i].ID, following, sent)))
	}
}

// find looks for the result of a call that has not been written yet.
func find(id string, in []provider.Message, sent map[*provider.ToolResult]bool) *provider.ToolResult {
	for i := range in {
		if r := in[i].ToolResult; r != nil && r.ID == id && !sent[r] {
			sent[r] = true
			return r
		}
	}
	return nil
}

// result writes the result of a tool call.
func result(id string, r *provider.ToolResult) sdk.ContentBlockParamUnion {
	if r == nil {
		r = &provider.ToolResult{Text: noResult, Error: true}
	}
	block := &sdk.ToolResultBlockParam{ToolUseID: id}
	if !blank(r.Text) {
		block.Content = []sdk.ToolResultBlockParamContentUnion{{OfText: &sdk.TextBlockParam{Text: r.Text}}}
	}
	if r.Error {
		block.IsError = param.NewOpt(true)
	}
	return sdk.ContentBlockParamUnion{OfToolResult: block}
}

// id turns the id of a call into one that the API accepts: letters, digits, '_' and '-', and not used
// before. Anthropic's own ids stay unchanged.
func (c *conversation) id(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, s)
	if s == "" {
		s = "call"
	}
	id := s
	for n := 2; c.ids[id]; n++ {
		id = s + "_" + strconv.Itoa(n)
	}
	if c.ids == nil {
		c.ids = map[string]bool{}
	}
	c.ids[id] = true
	return id
}

// object returns the arguments of a call if they are a JSON object; the API accepts nothing else.
func object(arguments json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(arguments, &fields) != nil || fields == nil {
		return json.RawMessage("{}")
	}
	return arguments
}
