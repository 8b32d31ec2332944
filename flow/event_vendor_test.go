package flow_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// A runtime that makes the calls elsewhere moves what came of them as JSON. What the vendor has said moves too.
func TestWhatCameOfACallSurvivesJSON(t *testing.T) {
	for name, response := range map[string]*provider.Response{
		"nothing":         {},
		"a cost of 0":     {Cost: new(0.0)},
		"an id":           {ID: "resp_1"},
		"a long name":     {Model: strings.Repeat("é", 200)},
		"what is cut":     {ID: strings.Repeat("a", 300), Left: strings.Split(strings.Repeat("temperature ", 40), " ")},
		"dropped sources": {Uncited: 1 << 30},
		"everything": {
			ID: "resp_1", Model: "debater-2026", Cost: new(0.001), Left: []string{"temperature"}, Reasoning: "Hmm.", Uncited: 2,
			Citations: []provider.Citation{{Title: "Trams", URL: "https://example.org/trams", Quote: "free", Start: 1, End: 3}},
		},
	} {
		told := flow.MetadataOf(response)
		assertMoves(t, name, flow.Result{
			Call: "a", Attempt: 2, Text: "A word.", Stop: provider.StopLength, Usage: provider.Usage{Input: 7, Output: 3},
			Calls: []provider.ToolCall{{ID: "1", Name: "look", Arguments: json.RawMessage(`{}`)}}, Took: time.Second, Metadata: told,
		})
		failure := &flow.Error{Kind: provider.KindRateLimit, Op: "a", Attempt: 1, Err: errors.New("gone")}
		assertMoves(t, name, flow.Failed{Call: "a", Attempt: 1, Error: failure, Partial: true, Metadata: told})
	}
}

// assertMoves asserts that a value is equal to what is read of its JSON.
func assertMoves[T any](t *testing.T, name string, given T) {
	t.Helper()
	data, err := json.Marshal(given)
	require.NoError(t, err, name)
	var moved T
	require.NoError(t, json.Unmarshal(data, &moved), name)
	assert.Equal(t, given, moved, name)
}

// What another program writes as metadata is cut as what a vendor reports.
func TestMetadataFromElsewhereIsBounded(t *testing.T) {
	var moved flow.Metadata
	require.NoError(t, json.Unmarshal([]byte(`{"id": "a\nb", "cost": 1000000, "uncited": -1}`), &moved))
	data, err := json.Marshal(moved)
	require.NoError(t, err)
	assert.JSONEq(t, `{"id": "a b"}`, string(data))
	assert.Error(t, json.Unmarshal([]byte(`{"cost": "much"}`), &moved))
}
