package openai

import (
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// tools writes the functions that the model may call. They are not strict: in strict mode, the model
// would have to make up values for optional arguments.
func tools(list []provider.Tool) []tool {
	var written []tool // nil, so that none are sent if there are none
	for _, t := range list {
		written = append(written, tool{
			Strict: new(false), Name: t.Name, Description: t.Description, Type: "function", Parameters: t.Parameters,
		})
	}
	return written
}

// callID is the bytes of an id of a call that the API takes at most.
const callID = 64

// appendCalls adds a message in which the speaker called tools, each call after the thoughts that led to it.
func appendCalls(list []any, m *provider.Message, owner wire.Owner) []any {
	for i, c := range m.ToolCalls {
		for _, thought := range unseal(c.Opaque, owner) {
			list = append(list, thought)
		}
		if i == 0 && m.Text != "" {
			list = append(list, message{m.Text, assistant})
		}
		list = append(list, functionCall{Arguments: string(c.Arguments), CallID: c.ID, Name: c.Name, Type: "function_call"})
	}
	return list
}

// result writes the result of a call.
func result(r *provider.ToolResult) functionOutput {
	return functionOutput{Output: wire.Told(r), CallID: r.ID, Type: "function_call_output"}
}
