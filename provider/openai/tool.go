package openai

import (
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// tools writes the functions that the model may call. They are not strict: in strict mode, the model
// would have to make up values for optional arguments.
func tools(list []provider.Tool) []responses.ToolUnionParam {
	var written []responses.ToolUnionParam
	for i := range list {
		t := &list[i]
		f := responses.FunctionToolParam{Name: t.Name, Strict: param.NewOpt(false)}
		if t.Description != "" {
			f.Description = param.NewOpt(t.Description)
		}
		f.SetExtraFields(map[string]any{"parameters": t.Parameters})
		written = append(written, responses.ToolUnionParam{OfFunction: &f})
	}
	return written
}

// callID is the bytes of an id of a call that the API takes at most.
const callID = 64

// appendCalls adds a message in which the speaker called tools, each call after the thoughts that led to it.
func appendCalls(list responses.ResponseInputParam, m *provider.Message, owner wire.Owner) responses.ResponseInputParam {
	for i, c := range m.ToolCalls {
		for _, thought := range unseal(c.Opaque, owner) {
			list = append(list, param.Override[responses.ResponseInputItemUnionParam](thought))
		}
		if i == 0 && m.Text != "" {
			list = append(list, responses.ResponseInputItemParamOfMessage(m.Text, responses.EasyInputMessageRoleAssistant))
		}
		list = append(list, responses.ResponseInputItemParamOfFunctionCall(string(c.Arguments), c.ID, c.Name))
	}
	return list
}

// result writes the result of a call.
func result(r *provider.ToolResult) responses.ResponseInputItemUnionParam {
	item := responses.ResponseInputItemParamOfFunctionCallOutput(wire.Told(r))
	item.OfFunctionCallOutput.CallID = param.NewOpt(r.ID)
	return item
}
