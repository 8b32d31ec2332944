package toolschema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/toolschema"
)

// TestRename has names of servers that Anthropic refused: appstore-connect-mcp#1 (2026-03-31), composio#3500 (2026-06-02), composio#3067
// (2026-03-29).
func TestRename(t *testing.T) {
	long := strings.Repeat("settings__", 8)
	given := `{"type":"object","properties":{"filter[bundleId]":{"type":"string"},"$top":{"type":"integer"},"top":{},"@microsoft.graph.conflictBehavior":{},"` +
		long + `":{},"` + long + `x":{},"[]":{}},"required":["$top","top","filter[bundleId]"],"additionalProperties":false}`
	renamed, former := toolschema.Rename(json.RawMessage(given))
	assert.Equal(t, map[string]string{
		"filter_bundleId": "filter[bundleId]", "top_2": "$top", "microsoft.graph.conflictBehavior": "@microsoft.graph.conflictBehavior",
		long[:64]: long, long[:62] + "_2": long + "x", "argument": "[]",
	}, former)
	lowered, err := toolschema.Lower(renamed)
	require.NoError(t, err)
	var s struct {
		Properties map[string]any
		Required   []string
	}
	require.NoError(t, json.Unmarshal(lowered, &s))
	assert.Len(t, s.Properties, 7, "no argument is lost")
	assert.Equal(t, []string{"top_2", "top", "filter_bundleId"}, s.Required)

	for _, schema := range []string{`{"type":"object","properties":{"a":{}}}`, `{"type":"object"}`, `7`, `{`, ``} {
		renamed, former := toolschema.Rename(json.RawMessage(schema))
		assert.Nil(t, former)
		assert.Equal(t, schema, string(renamed))
	}
}
