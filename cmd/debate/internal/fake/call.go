package fake

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agonist-dev/debate/internal/toolschema"
)

// schema is a schema with its name, as both interfaces have it.
type schema struct {
	Name   string           `json:"name"`
	Schema *toolschema.Node `json:"schema"`
}

// read reads the body of a call.
func read(body []byte, chat bool) (*Call, error) {
	var sent struct {
		Model string            `json:"model"`
		Tools []json.RawMessage `json:"tools"`
		Text  struct {
			Format *schema `json:"format"`
		} `json:"text"`
		ResponseFormat struct {
			Schema *schema `json:"json_schema"`
		} `json:"response_format"`
		Instructions        string `json:"instructions"`
		Input               any    `json:"input"`
		Messages            any    `json:"messages"`
		MaxOutputTokens     int    `json:"max_output_tokens"`
		MaxCompletionTokens int    `json:"max_completion_tokens"`
		MaxTokens           int    `json:"max_tokens"`

		Stream bool `json:"stream"`
	}
	if err := json.Unmarshal(body, &sent); err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	if !sent.Stream {
		return nil, fmt.Errorf("the request for %s is not for a stream", sent.Model)
	}
	call := &Call{Model: sent.Model, Body: string(body), read: []any{sent.Instructions, sent.Input, sent.Messages}}
	call.most = max(sent.MaxOutputTokens, sent.MaxCompletionTokens, sent.MaxTokens)
	wanted := sent.Text.Format
	if chat {
		wanted = sent.ResponseFormat.Schema
	}
	if wanted != nil {
		call.Schema, call.schema = wanted.Name, wanted.Schema
	}
	used := strings.Contains(call.Body, `"function_call_output"`) || strings.Contains(call.Body, `"tool_call_id"`)
	call.tools = len(sent.Tools) > 0 && !used
	return call, nil
}
