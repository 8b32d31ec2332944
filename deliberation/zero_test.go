package deliberation_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
)

// TestZerosThatWouldNotBeZero: in JSON, 0 is refused where a default would apply in its place.
func TestZerosThatWouldNotBeZero(t *testing.T) {
	for field, text := range map[string]string{
		"rounds":                        `"rounds":0`,
		"toolCalls":                     `"toolCalls":0`,
		"maxTokens":                     `"maxTokens":0`,
		"turnTimeout":                   `"turnTimeout":"0s"`,
		"judgeTimeout":                  `"judgeTimeout":"0s"`,
		"topology.k":                    `"topology":{"k":0}`,
		"summaries.threshold":           `"summaries":{"threshold":0}`,
		"summaries.maxLength":           `"summaries":{"maxLength":0.0}`,
		"clarification.iterations":      `"clarification":{"on":true,"iterations":0}`,
		"clarification.questions":       `"clarification":{"on":true,"questions":0}`,
		"judge.maxTokens":               `"judge":{"model":"a/b","maxTokens":0}`,
		"agents[1].maxTokens":           `"agents":[{"id":"a"},{"id":"b","maxTokens":0}]`,
		"agents[0].summaries.threshold": `"agents":[{"id":"a","summaries":{"threshold":0}}]`,
	} {
		assert.Equal(t, []string{field}, fields(t, new(deliberation.Config).UnmarshalJSON([]byte(`{`+text+`}`))))
	}
	for _, text := range []string{
		`{"termination":{"kind":"quality","threshold":0},"temperature":0,"roundTimeout":"0s"}`, `{"labels":{"rounds":"0"}}`,
	} {
		require.NoError(t, new(deliberation.Config).UnmarshalJSON([]byte(text)), "these are what they say")
	}
}
