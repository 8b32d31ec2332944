package openai

import (
	"encoding/json"
	"slices"

	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

const (
	// noResult stands in for a missing result: the API requires one for each call.
	noResult = "The tool gave no result."
	failed   = "The tool failed: " // the API has no field for it
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
		parameters := t.Parameters
		if len(parameters) == 0 {
			parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		f.SetExtraFields(map[string]any{"parameters": parameters})
		written = append(written, responses.ToolUnionParam{OfFunction: &f})
	}
	return written
}

// calling reports whether a message holds tool calls of self.
func calling(m *provider.Message, self string) bool {
	return len(m.ToolCalls) > 0 && m.Speaker != "" && m.Speaker == self
}

// before returns the messages before the next calls of self.
func before(messages []provider.Message, self string) []provider.Message {
	for i := range messages {
		if calling(&messages[i], self) {
			return messages[:i]
		}
	}
	return messages
}

// appendCalls adds a message in which the speaker called tools, each call after the thoughts that led to it.
func appendCalls(list responses.ResponseInputParam, m *provider.Message, owner wire.Owner) responses.ResponseInputParam {
	for i, c := range m.ToolCalls {
		for _, thought := range unseal(c.Opaque, owner) {
			list = append(list, param.Override[responses.ResponseInputItemUnionParam](thought))
		}
		if i == 0 && m.Text != "" {
			list = append(list, responses.ResponseInputItemParamOfMessage(m.Text, responses.EasyInputMessageRoleAssistant))
		}
		arguments := string(c.Arguments)
		if arguments == "" {
			arguments = "{}"
		}
		list = append(list, responses.ResponseInputItemParamOfFunctionCall(arguments, c.ID, c.Name))
	}
	return list
}

// appendResults adds the results of a message's calls, directly after them and in their order, as the API
// requires. It looks for them in following, and records them in sent.
func appendResults(
	list responses.ResponseInputParam, m *provider.Message, following []provider.Message, sent map[*provider.ToolResult]bool,
) responses.ResponseInputParam {
	for i := range m.ToolCalls {
		id := m.ToolCalls[i].ID
		item := responses.ResponseInputItemParamOfFunctionCallOutput(result(id, following, sent))
		item.OfFunctionCallOutput.CallID = param.NewOpt(id)
		list = append(list, item)
	}
	return list
}

// result returns the result of a call that has not been written yet.
func result(id string, in []provider.Message, sent map[*provider.ToolResult]bool) string {
	i := slices.IndexFunc(in, func(m provider.Message) bool {
		return m.ToolResult != nil && m.ToolResult.ID == id && !sent[m.ToolResult]
	})
	if i < 0 {
		return noResult
	}
	r := in[i].ToolResult
	sent[r] = true
	if r.Error {
		return failed + r.Text
	}
	return r.Text
}
