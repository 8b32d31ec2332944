package adapter_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openai"
)

// toolSchemas are schemas that servers list for their tools, each of a kind that a vendor has refused. arguments are the names that have to
// be left of each.
var toolSchemas = map[string]struct {
	schema    string
	arguments []string
}{
	// openai-agents-python#449 (2025-04), langchain-mcp-adapters#137 (2025-05)
	"no properties": {`{"type":"object"}`, nil},
	// The official Go SDK for MCP v1.8.0, of a tool without arguments.
	"of the Go SDK": {`{"additionalProperties":false,"type":"object"}`, nil},
	// langchain#39271 (2026-08-05), opencode#46628 (2026-09)
	"anyOf at the root": {`{"type":"object","anyOf":[{"properties":{"picture":{"type":"string"}},"required":["picture"]},{"properties":{"address":{"type":"string"}},"required":["address"]}]}`, []string{"picture", "address"}},
	// claude-code#40075 (2026-03), cloudflare's mcp#224 (2025-09)
	"oneOf at the root": {`{"oneOf":[{"type":"object","properties":{"kind":{"const":"leaf"},"at":{"type":"integer"}}},{"type":"object","properties":{"kind":{"const":"root"}}}]}`, []string{"kind", "at"}},
	"allOf at the root": {`{"allOf":[{"$ref":"#/$defs/one"},{"properties":{"b":{"type":"string"}}}],"$defs":{"one":{"type":"object","properties":{"a":{"$ref":"#/$defs/two"}}},"two":{"enum":["x"]}}}`, []string{"a", "b"}},
	// gemini-desktop#7 (2025-06-02): "items: missing field"
	"lists without items": {`{"type":"object","properties":{"tags":{"type":"array"},"pair":{"type":"array","items":[{"type":"string"},{"type":"integer"}]}}}`, []string{"tags", "pair"}},
	// appstore-connect-mcp#2 (2026-04-13), composio#3500 (2026-06-02)
	"names of arguments": {`{"type":"object","properties":{"filter[id]":{"type":"string"},"$top":{"type":"integer"},"word":{"type":"string"}},"required":["word"]}`, []string{"word"}},
	// mcp-server-brave-search#12 (2025-11-20): Gemini knows no const
	"formats, patterns and const": {`{"type":"object","properties":{"at":{"type":"string","format":"uri-reference"},"n":{"type":"integer","format":"uint8","exclusiveMinimum":0},"p":{"type":"string","pattern":"^(?=x)"},"c":{"anyOf":[{"const":"a"},{"const":"b"}]}}}`, []string{"at", "n", "p", "c"}},
	"references to itself":        {`{"type":"object","properties":{"node":{"$ref":"#/$defs/node"}},"required":["node","gone"],"$defs":{"node":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/node"}}}}}}`, []string{"node"}},
}

// argumentName is what Anthropic's refusal quotes: n8n#30590 (2026-05-17).
var argumentName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// wanted says what vendors refuse of a schema within that of a tool.
func wanted(at string, v any, root bool) (problems []string) {
	s, ok := v.(object)
	if !ok {
		return nil
	}
	if root {
		if s["type"] != "object" {
			problems = append(problems, "no type object")
		}
		if _, ok := s["properties"].(object); !ok {
			problems = append(problems, "object schema missing properties")
		}
		for _, keyword := range []string{"anyOf", "oneOf", "allOf", "enum", "not", "$ref"} {
			if s[keyword] != nil {
				problems = append(problems, keyword+" at the top level")
			}
		}
	}
	known := []string{
		"type", "title", "description", "properties", "required", "items", "anyOf", "enum", "additionalProperties", "minimum", "maximum",
		"minItems", "maxItems", "minLength", "maxLength", "format", "default", "propertyOrdering",
	}
	for keyword := range s {
		if !slices.Contains(known, keyword) {
			problems = append(problems, at+": Unknown name "+keyword)
		}
	}
	if _, ok := s["items"].(object); s["type"] == "array" && !ok {
		problems = append(problems, at+": array schema missing items")
	}
	if format := s["format"]; format != nil && format != "date-time" {
		problems = append(problems, fmt.Sprint(at, ": unknown format ", format))
	}
	properties, _ := s["properties"].(object)
	for name, one := range properties {
		if !argumentName.MatchString(name) {
			problems = append(problems, "Property keys should match pattern: "+name)
		}
		problems = append(problems, wanted(at+"."+name, one, false)...)
	}
	required, _ := s["required"].([]any)
	for _, name := range required {
		if one, _ := name.(string); properties[one] == nil {
			problems = append(problems, fmt.Sprint(at, ": required property is not defined: ", name))
		}
	}
	either, _ := s["anyOf"].([]any)
	for i, one := range either {
		problems = append(problems, wanted(fmt.Sprint(at, ".anyOf.", i), one, false)...)
	}
	return append(problems, wanted(at+".items", s["items"], false)...)
}

// within returns the value at a path in a request.
func within(v any, path ...string) any {
	for _, name := range path {
		if list, ok := v.([]any); ok && len(list) > 0 {
			v = list[0]
		}
		o, _ := v.(object)
		v = o[name]
	}
	return v
}

// TestSchemasOfTools sends each of the schemas with each adapter.
func TestSchemasOfTools(t *testing.T) {
	paths := map[string][]string{
		"openaicompat": {"tools", "function", "parameters"}, "openai": {"tools", "parameters"}, "ollama": {"tools", "function", "parameters"},
		"anthropic": {"tools", "input_schema"}, "google": {"tools", "functionDeclarations", "parametersJsonSchema"},
		"vertex":  {"tools", "functionDeclarations", "parametersJsonSchema"},
		"bedrock": {"toolConfig", "tools", "toolSpec", "inputSchema", "json"},
	}
	for kind, c := range toolSchemas {
		for vendor, path := range paths {
			t.Run(kind+"/"+vendor, func(t *testing.T) {
				bodies := make(chan []byte, 1) // the first
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					data, _ := io.ReadAll(r.Body)
					select {
					case bodies <- data:
					default:
					}
					w.WriteHeader(http.StatusTeapot)
				}))
				defer server.Close()
				p := adapters(server.URL, canary, server.Client())[vendor]
				if o, ok := p.(*openai.Provider); ok {
					o.API = openai.Responses
				}
				req := &provider.Request{
					Model: "m", Self: "Ada", Last: provider.Message{Text: "Go."}, MaxTokens: 99,
					Tools: []provider.Tool{{Name: "plant", Description: "Plants.", Parameters: json.RawMessage(c.schema)}},
				}
				_, err := p.Generate(t.Context(), req, func(provider.Chunk) {})
				require.Error(t, err)
				var body any
				require.NoError(t, json.Unmarshal(<-bodies, &body))
				schema := within(body, path...)
				if schema == nil && c.arguments == nil && path[len(path)-1] == "parametersJsonSchema" {
					return // Google leaves the schema of a tool without arguments unset: pipecat-flows#110 (2025-03-17)
				}
				require.NotNil(t, schema, "%v", body)
				assert.Empty(t, wanted("the schema", schema, true), "%v", schema)
				properties, _ := within(schema, "properties").(object)
				for _, name := range c.arguments {
					assert.Contains(t, properties, name)
				}
				assert.Len(t, properties, len(c.arguments))
			})
		}
	}
}
