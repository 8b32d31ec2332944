package toolschema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/toolschema"
)

// TestLower: what vendors refuse is lowered, or said in words. The sources of the refusals:
//   - no properties: openai-agents-python#449 (2025-04), langchain-mcp-adapters#137 (2025-05); the Go SDK for MCP v1.8.0 lists such tools
//   - alternatives at the root: langchain#39271 (2026-08-05), opencode#46628 (2026-09), claude-code#40075 (2026-03)
//   - the rest: errors that the APIs of OpenAI, Anthropic and Google return, as the cases in the table name them
func TestLower(t *testing.T) {
	deep := strings.Repeat(`{"type":"array","items":`, 40) + `{}` + strings.Repeat(`}`, 40)
	for name, c := range map[string]struct{ given, want string }{
		"nothing":             {``, `{"type":"object","properties":{}}`},
		"anything":            {` {} `, `{"type":"object","properties":{}}`},
		"no properties":       {`{"type":"object"}`, `{"type":"object","properties":{}}`},
		"of the Go SDK":       {`{"additionalProperties":false,"type":"object"}`, `{"type":"object","properties":{},"additionalProperties":false}`},
		"properties are null": {`{"type":"object","properties":null}`, `{"type":"object","properties":{}}`},
		"no type":             {`{"properties":{"a":{"type":"string"}}}`, `{"type":"object","properties":{"a":{"type":"string"}}}`},
		"types in capitals":   {`{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}`, `{"type":"object","properties":{"a":{"type":"string"}}}`},
		"alternatives": {
			`{"type":"object","anyOf":[{"type":"object","properties":{"picture":{"type":"string"}},"required":["picture"]},
				{"type":"object","properties":{"address":{"type":"string"}},"required":["address"]}]}`,
			`{"type":"object","description":"Give one of these: picture; or address.","properties":{"picture":{"type":"string"},"address":{"type":"string"}}}`,
		},
		"alternatives that share": {
			`{"description":"Adds.","oneOf":[{"properties":{"kind":{"const":"leaf"},"at":{"type":"integer"}},"required":["kind","at"]},
				{"properties":{"kind":{"const":"root"}},"required":["kind"]},{"type":"null"}]}`,
			`{"type":"object","description":"Adds. Give one of these: kind and at; or kind.",
				"properties":{"kind":{"anyOf":[{"enum":["leaf"]},{"enum":["root"]}]},"at":{"type":"integer"}},"required":["kind"]}`,
		},
		"only what is needed": {
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
			`{"type":"object","description":"Give one of these: a; or b.","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`,
		},
		"all of": {
			`{"allOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"integer"}},"required":["b"]}]}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a","b"]}`,
		},
		"a list without items": {`{"type":"object","properties":{"a":{"type":"array"}}}`, `{"type":"object","properties":{"a":{"type":"array","items":{}}}}`},
		"a list within a list": {
			`{"type":"object","properties":{"a":{"items":{"type":["array","null"]}}}}`,
			`{"type":"object","properties":{"a":{"type":"array","items":{"type":["array","null"],"items":{}}}}}`,
		},
		"tuples": {
			`{"type":"object","properties":{"a":{"type":"array","items":[{"type":"string"},{"type":"integer"}]},"b":{"type":"array","prefixItems":[{"type":"string"},{"type":"string"}],"items":false}}}`,
			`{"type":"object","properties":{"a":{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"integer"}]}},"b":{"type":"array","items":{"type":"string"}}}}`,
		},
		"names": {
			`{"type":"object","properties":{"$top":{"type":"integer"},"page[size]":{},"a.b-c_1":{}},"required":["a.b-c_1"],"additionalProperties":false}`,
			`{"type":"object","properties":{"a.b-c_1":{}},"required":["a.b-c_1"]}`,
		},
		"formats and patterns": {
			`{"type":"object","properties":{"a":{"type":"string","format":"uri","description":"Where."},"b":{"type":"string","format":"date-time"},
				"c":{"type":"integer","format":"int64","exclusiveMinimum":0,"exclusiveMaximum":1.5},"d":{"type":"string","pattern":"^x","format":"color"}}}`,
			`{"type":"object","properties":{"a":{"type":"string","description":"Where. Format: uri."},"b":{"type":"string","format":"date-time"},
				"c":{"type":"integer","minimum":1,"maximum":1.5},"d":{"type":"string","description":"Format: color. Pattern: ^x"}}}`,
		},
		"references": {
			`{"$ref":"#/definitions/leaf","definitions":{"leaf":{"type":"object","properties":{"side":{"$ref":"#/$defs/side"},"same":{"$ref":"#/properties/x"},"far":{"$ref":"https://example.com/s"}}}},
				"$defs":{"side":{"enum":["left","right"]}},"properties":{"x":{"type":"boolean"}}}`,
			`{"type":"object","properties":{"x":{"type":"boolean"},"side":{"enum":["left","right"]},"same":{"type":"boolean"},"far":{}}}`,
		},
		"a tree": {
			`{"type":"object","properties":{"root":{"$ref":"#/$defs/node"}},"$defs":{"node":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/node"}}}}}}`,
			`{"type":"object","properties":{"root":{"type":"object","properties":{"kids":{"type":"array","items":{}}}}}}`,
		},
		"itself":       {`{"type":"object","properties":{"inner":{"$ref":"#"}}}`, `{"type":"object","properties":{"inner":{}}}`},
		"map":          {`{"type":"object","properties":{"m":{"type":"object","additionalProperties":{"type":"string","format":"uuid"}}}}`, `{"type":"object","properties":{"m":{"type":"object","properties":{},"additionalProperties":{"type":"string","description":"Format: uuid."}}}}`},
		"odd keywords": {`{"$schema":"x","type":"object","properties":{"a":{"type":"file","nullable":true,"enum":[{}]},"b":true,"c":false,"d":7},"required":true,"not":{},"if":{},"minProperties":1}`, `{"type":"object","properties":{"a":{"description":"One of [{}]."},"b":{},"c":{},"d":{}}}`},
		"values that Gemini does not take": {
			`{"type":"object","properties":{"side":{"type":["string","null"],"enum":["left",null]},"on":{"const":true}}}`,
			`{"type":"object","properties":{"side":{"type":["string","null"],"description":"One of [\"left\",null]."},"on":{"description":"One of [true]."}}}`,
		},
		"one reference in two parts": {
			`{"type":"object","allOf":[{"$ref":"#/$defs/B"}],"properties":{"p":{"$ref":"#/$defs/B"}},"$defs":{"B":{"type":"object","properties":{"x":{"type":"string"}}}}}`,
			`{"type":"object","properties":{"p":{"type":"object","properties":{"x":{"type":"string"}}},"x":{"type":"string"}}}`,
		},
		"unknown needs": {`{"type":"object","properties":{"a":{}},"required":["a","b","a"]}`, `{"type":"object","properties":{"a":{}},"required":["a"]}`},
		"too deep":      {`{"type":"object","properties":{"a":` + deep + `}}`, `{"type":"object","properties":{"a":` + strings.Repeat(`{"type":"array","items":`, 24) + `{}` + strings.Repeat(`}`, 24) + `}}`},
	} {
		t.Run(name, func(t *testing.T) {
			given := json.RawMessage(c.given)
			lowered, err := toolschema.Lower(given)
			require.NoError(t, err)
			assert.JSONEq(t, c.want, string(lowered))
			assert.Equal(t, c.given, string(given), "what is given stays")
			again, err := toolschema.Lower(lowered)
			require.NoError(t, err)
			assert.JSONEq(t, c.want, string(again), "what is lowered stays so")
		})
	}
}

// TestTheOrderOfArgumentsStays: models write arguments in the order of the schema.
func TestTheOrderOfArgumentsStays(t *testing.T) {
	lowered, err := toolschema.Lower(json.RawMessage(`{"type":"object","properties":{"z":{},"a":{"const":"<&>"},"m":{}}}`))
	require.NoError(t, err)
	assert.Equal(t, `{"type":"object","properties":{"z":{},"a":{"enum":["<&>"]},"m":{}}}`, string(lowered)) //nolint:testifylint // byte for byte
}

func TestWhatCannotBeLowered(t *testing.T) {
	for given, want := range map[string]string{
		`7`: "no JSON schema of an object", `[]`: "no JSON schema of an object", `{`: "no JSON schema of an object", `false`: "no JSON schema of an object",
		`{"type":"string"}`:               "no JSON schema of an object",
		`{"anyOf":[{"type":"string"}]}`:   "no JSON schema of an object",
		`{"$ref":"#/$defs/missing"}`:      "no JSON schema of an object",
		`{"$ref":"https://example.com/"}`: "no JSON schema of an object",
		`{"type":"object","properties":{"$filter":{"type":"string"}},"required":["$filter"]}`:                                  `it requires the argument "$filter"`,
		`{"type":"object","description":"` + strings.Repeat("x", 64<<10) + `"}`:                                                "more than 65536 bytes",
		`{"type":"object","properties":{"` + strings.Repeat("x", 65) + `":{}},"required":["` + strings.Repeat("x", 65) + `"]}`: "it requires the argument",
	} {
		lowered, err := toolschema.Lower(json.RawMessage(given))
		require.ErrorContains(t, err, want, given[:min(len(given), 80)])
		assert.Less(t, len(err.Error()), 300)
		assert.Nil(t, lowered)
	}
}

// TestReferencesThatGrow: thirty definitions that each name the next twice would be a billion schemas.
func TestReferencesThatGrow(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{`)
	for i := range 30 {
		fmt.Fprintf(&b, `"d%d":{"type":"object","properties":{"l":{"$ref":"#/$defs/d%d"},"r":{"$ref":"#/$defs/d%d"}}},`, i, i+1, i+1)
	}
	b.WriteString(`"d30":{"type":"string"}}}`)
	lowered, err := toolschema.Lower(json.RawMessage(b.String()))
	if err == nil {
		assert.LessOrEqual(t, len(lowered), 64<<10)
	}
}

func FuzzLower(f *testing.F) {
	f.Add(`{"type":"object","anyOf":[{"properties":{"a":{"$ref":"#"}}}]}`)
	f.Add(`{"allOf":[{"$ref":"#/allOf/0"}]}`)
	f.Fuzz(func(t *testing.T, given string) {
		lowered, err := toolschema.Lower(json.RawMessage(given))
		if err != nil {
			return
		}
		var o struct {
			Type       string
			Properties map[string]any
			AnyOf      any `json:"anyOf"`
		}
		require.NoError(t, json.Unmarshal(lowered, &o), string(lowered))
		assert.Equal(t, "object", o.Type)
		assert.NotNil(t, o.Properties)
		assert.Nil(t, o.AnyOf)
	})
}
