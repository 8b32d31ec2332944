package anthropic

import "github.com/agonist-dev/debate/provider"

const callID = 64 // bytes of the id of a call

// tools writes the tools that the model may call.
func tools(offered []provider.Tool) []tool {
	var list []tool // nil, so that none are sent if there are none
	for _, t := range offered {
		list = append(list, tool{InputSchema: t.Parameters, Name: t.Name, Description: t.Description})
	}
	return list
}

// call adds a message in which the speaker called tools.
func (c *conversation) call(m *provider.Message) {
	for i := range m.ToolCalls {
		t := &m.ToolCalls[i]
		thoughts := unseal(t.Opaque, c.owner)
		if n := len(c.turns); i == 0 && n > 0 && len(thoughts) > 0 && c.turns[n-1].Role == assistant {
			c.add(user, said(between))
		}
		for _, block := range thoughts {
			c.add(assistant, block)
		}
		if i == 0 && m.Text != "" { // after the first thoughts, where the model wrote it
			c.add(assistant, said(m.Text))
		}
		c.add(assistant, content{ID: t.ID, Input: t.Arguments, Name: t.Name, Type: typeToolUse})
	}
}

// result writes the result of a tool call.
func result(r *provider.ToolResult) content {
	return content{ToolUseID: r.ID, IsError: r.Error, Content: []content{said(r.Text)}, Type: "tool_result"}
}
