package google_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
)

// lowered returns a schema as it is sent, nil if it is refused.
func lowered(t *testing.T, schema []byte) json.RawMessage {
	t.Helper()
	p, transport := played(yes)
	req := request()
	req.Schema = &provider.Schema{Name: "reply", JSON: schema}
	if _, _, err := ask(t, p, req); err != nil {
		e := failure(t, err, provider.KindValidation)
		require.Equal(t, "schema", e.Code)
		require.True(t, e.NotSent)
		return nil
	}
	var sent struct {
		GenerationConfig struct {
			ResponseMIMEType   string          `json:"responseMimeType"`
			ResponseJSONSchema json.RawMessage `json:"responseJsonSchema"`
		}
	}
	require.NoError(t, json.Unmarshal(transport.Body, &sent))
	require.Equal(t, "application/json", sent.GenerationConfig.ResponseMIMEType)
	return sent.GenerationConfig.ResponseJSONSchema
}

// Each schema under testdata/schema is sent as its golden file says.
func TestLoweredSchemas(t *testing.T) {
	paths, err := filepath.Glob("testdata/schema/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			got := lowered(t, data)
			require.NotNil(t, got)
			golden(t, "schema/"+name+".golden", pretty(t, got))
			assert.JSONEq(t, string(got), string(lowered(t, got)), "what is lowered stays as it is")
		})
	}
}

func TestSmallSchemas(t *testing.T) {
	for schema, want := range map[string]string{
		`true`:                       `{}`,
		`false`:                      `{}`,
		`{}`:                         `{}`,
		`{"const":"a"}`:              `{"enum":["a"]}`,
		`{"const":null}`:             `{}`,
		`{"const":[1]}`:              `{}`,
		`{"enum":[1,"a"]}`:           `{"enum":[1,"a"]}`,
		`{"enum":[1,null]}`:          `{}`,
		`{"enum":["a"],"const":"a"}`: `{"enum":["a"]}`,
		`{"type":"integer","exclusiveMinimum":0}`:                                                        `{"type":"integer","minimum":1}`,
		`{"type":"integer","exclusiveMaximum":10}`:                                                       `{"type":"integer","maximum":9}`,
		`{"type":"integer","exclusiveMinimum":0.5}`:                                                      `{"type":"integer","minimum":0.5}`,
		`{"type":"number","exclusiveMinimum":0}`:                                                         `{"type":"number","minimum":0}`,
		`{"type":"integer","minimum":3,"exclusiveMinimum":0}`:                                            `{"type":"integer","minimum":3}`,
		`{"exclusiveMinimum":true,"minimum":1}`:                                                          `{"minimum":1}`,
		`{"type":"string","format":"date-time"}`:                                                         `{"type":"string","format":"date-time"}`,
		`{"type":"string","format":"email","pattern":"@"}`:                                               `{"type":"string"}`,
		`{"type":"array","minItems":1,"maxItems":9,"items":{"type":"integer","minimum":0,"maximum":10}}`: `{"type":"array","minItems":1,"maxItems":9,"items":{"type":"integer","minimum":0,"maximum":10}}`,
		`{"type":["string","null"]}`:                                                                     `{"type":["string","null"]}`,
		`{"not":{"type":"string"},"if":{},"then":{}}`:                                                    `{}`,
		`{"allOf":[{"type":"string"}]}`:                                                                  `{"type":"string"}`,
		`{"allOf":[{"type":"string"},{"minLength":1}]}`:                                                  `{}`,
		`{"title":"a","allOf":[{"title":"b"}]}`:                                                          `{"title":"a"}`,
		`{"description":"d","allOf":[{"$ref":"#/$defs/x"}]}`:                                             `{"$ref":"#/$defs/x"}`,
		`{"$ref":"#/definitions/x","definitions":{"x":{"type":"string"}}}`:                               `{"$ref":"#/$defs/x","$defs":{"x":{"type":"string"}}}`,
		`{"required":["a"]}`:                                                                             `{}`,
		`{"items":[{"type":"string"}]}`:                                                                  `{}`,
		`{"items":true}`:                                                                                 `{"items":{}}`,
		`{"prefixItems":[{"const":1},true]}`:                                                             `{"prefixItems":[{"enum":[1]},{}]}`,
		`{"additionalProperties":{"const":1}}`:                                                           `{"additionalProperties":{"enum":[1]}}`,
		`{"patternProperties":{"^x":{}},"additionalProperties":false}`:                                   `{}`,
		`{"properties":{"b":{},"a":{}},"required":["a","z"]}`:                                            `{"properties":{"b":{},"a":{}},"required":["a"],"propertyOrdering":["b","a"]}`,
		`{"properties":{"b":{},"a":{}},"propertyOrdering":["a","b"]}`:                                    `{"properties":{"b":{},"a":{}},"propertyOrdering":["a","b"]}`,
	} {
		assert.Equal(t, want, string(lowered(t, []byte(schema))), schema)
	}
}

func TestWhatIsNoSchema(t *testing.T) {
	for _, schema := range []string{
		``, `{`, `7`, `"a"`, `[]`, `null`, `{"a":1,"a":2}`, `{"anyOf":{}}`, `{"anyOf":[7]}`, `{"properties":[]}`, `{"properties":{"a":7}}`,
		`{"items":{"items":7}}`, `{"$defs":{"a":null}}`, `{"additionalProperties":{"a":1,"a":1}}`, `{"additionalProperties":7}`,
		strings.Repeat(`{"items":`, 70) + `{}` + strings.Repeat(`}`, 70),
	} {
		assert.Nil(t, lowered(t, []byte(schema)), schema)
	}
}

func FuzzSchema(f *testing.F) {
	paths, err := filepath.Glob("testdata/schema/*.json")
	require.NoError(f, err)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(data)
	}
	f.Add([]byte(`{"allOf":[{"$ref":"#"}],"exclusiveMinimum":1e400,"const":{}}`))
	f.Fuzz(func(t *testing.T, schema []byte) {
		got := lowered(t, schema)
		if got == nil {
			return
		}
		require.True(t, json.Valid(got))
		again := lowered(t, got)
		require.NotNil(t, again, "what is lowered is a schema")
		require.True(t, bytes.Equal(got, again), "what is lowered stays as it is: %s, %s", got, again)
	})
}
