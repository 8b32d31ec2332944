package anthropic

import (
	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/agonist-dev/debate/provider"
)

const callID = 64 // bytes of the id of a call

// tools writes the tools that the model may call.
func tools(offered []provider.Tool) []sdk.ToolUnionParam {
	var list []sdk.ToolUnionParam // nil, so that none are sent if there are none
	for _, t := range offered {
		tool := &sdk.ToolParam{Name: t.Name}
		if t.Description != "" {
			tool.Description = param.NewOpt(t.Description)
		}
		tool.InputSchema = param.Override[sdk.ToolInputSchemaParam](t.Parameters)
		list = append(list, sdk.ToolUnionParam{OfTool: tool})
	}
	return list
}

// call adds a message in which the speaker called tools.
func (c *conversation) call(m *provider.Message) {
	for i := range m.ToolCalls {
		t := &m.ToolCalls[i]
		thoughts := unseal(t.Opaque, c.owner)
		if n := len(c.messages); i == 0 && n > 0 && len(thoughts) > 0 && c.messages[n-1].Role == sdk.MessageParamRoleAssistant {
			c.add(sdk.MessageParamRoleUser, sdk.NewTextBlock(between))
		}
		for _, block := range thoughts {
			c.add(sdk.MessageParamRoleAssistant, block)
		}
		if i == 0 && m.Text != "" { // after the first thoughts, where the model wrote it
			c.add(sdk.MessageParamRoleAssistant, sdk.NewTextBlock(m.Text))
		}
		c.add(sdk.MessageParamRoleAssistant, sdk.NewToolUseBlock(t.ID, t.Arguments, t.Name))
	}
}

// result writes the result of a tool call.
func result(r *provider.ToolResult) sdk.ContentBlockParamUnion {
	block := &sdk.ToolResultBlockParam{
		ToolUseID: r.ID, Content: []sdk.ToolResultBlockParamContentUnion{{OfText: &sdk.TextBlockParam{Text: r.Text}}},
	}
	if r.Error {
		block.IsError = param.NewOpt(true)
	}
	return sdk.ContentBlockParamUnion{OfToolResult: block}
}
