package openaicompat_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider/openaicompat"
)

func TestStrictSchema(t *testing.T) {
	for name, schema := range fixtures(t, "schema/*.json") {
		t.Run(name, func(t *testing.T) {
			before := bytes.Clone(schema)
			strict, ok := openaicompat.StrictSchema(schema, openaicompat.OpenAIBounds)
			assert.Equal(t, string(before), string(schema), "the caller's schema is untouched")
			if strings.HasPrefix(name, "no_") {
				assert.False(t, ok)
				assert.Nil(t, strict)
				return
			}
			require.True(t, ok)
			var pretty bytes.Buffer
			require.NoError(t, json.Indent(&pretty, strict, "", "  "))
			golden(t, "schema/"+name+".golden", pretty.String()+"\n")

			bare, ok := openaicompat.StrictSchema(schema, nil)
			require.True(t, ok)
			for _, bound := range []string{"minItems", "maximum", "pattern", "minLength", "format"} {
				assert.NotContains(t, string(bare), `"`+bound+`":`, "bounds that no server was named for")
			}

			again, ok := openaicompat.StrictSchema(strict, openaicompat.OpenAIBounds)
			require.True(t, ok)
			assert.Equal(t, string(strict), string(again), "a lowered schema stays as it is")
		})
	}
}

func TestStrictSchemaCountsProperties(t *testing.T) {
	properties := map[string]any{}
	for i := range 5001 {
		properties[fmt.Sprint(i)] = map[string]string{"type": "string"}
	}
	schema := func() json.RawMessage {
		data, err := json.Marshal(map[string]any{"type": "object", "properties": properties})
		require.NoError(t, err)
		return data
	}
	_, ok := openaicompat.StrictSchema(schema(), nil)
	assert.False(t, ok)
	delete(properties, "0")
	_, ok = openaicompat.StrictSchema(schema(), nil)
	assert.True(t, ok)
}

func FuzzStrictSchema(f *testing.F) {
	for _, schema := range fixtures(f, "schema/*.json") {
		f.Add(schema)
	}
	f.Fuzz(func(t *testing.T, schema []byte) {
		before := bytes.Clone(schema)
		strict, ok := openaicompat.StrictSchema(schema, openaicompat.OpenAIBounds)
		require.Equal(t, before, schema)
		if !ok {
			return
		}
		require.True(t, json.Valid(strict))
		again, ok := openaicompat.StrictSchema(strict, openaicompat.OpenAIBounds)
		require.True(t, ok)
		require.Equal(t, string(strict), string(again))
	})
}

func ExampleStrictSchema() {
	strict, ok := openaicompat.StrictSchema(json.RawMessage(`{
		"type": "object",
		"properties": {
			"score": {"type": "integer", "minimum": 0, "maximum": 10},
			"winner": {"oneOf": [{"type": "string"}, {"type": "null"}]}
		}
	}`), openaicompat.OpenAIBounds)
	fmt.Println(ok)
	fmt.Println(string(strict))
	// Output:
	// true
	// {"type":"object","properties":{"score":{"type":"integer","minimum":0,"maximum":10},"winner":{"anyOf":[{"type":"string"},{"type":"null"}]}},"required":["score","winner"],"additionalProperties":false}
}
