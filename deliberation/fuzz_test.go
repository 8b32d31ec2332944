package deliberation_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
)

// FuzzConfig: whatever a config says, it is refused with errors that name their fields, or yields a debate's config
// that the flow reads again.
func FuzzConfig(f *testing.F) {
	for _, seed := range []string{
		toJSON(three()), `{}`, `{"problem":"x","agents":[{"id":"a"},{"id":"b"}]}`,
		`{"problem":"x","agents":[{"id":"a","model":"t/a"},{"id":"b","model":"t/b"}],"judge":{"model":"t/j"},"topology":{"kind":"nearest","k":1}}`,
		`{"problem":"x","roles":[{"name":"r","system":"s"}],"agents":[{"id":"a","model":"t/a","role":"r"}],"termination":{"threshold":1e999}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var config deliberation.Config
		if err := json.Unmarshal(data, &config); err != nil {
			return
		}
		for i := range config.Agents {
			config.Agents[i].PromptFile = ""
		}
		config.Judge.PromptFile = ""
		made, err := config.Debate()
		if err != nil {
			for _, field := range fields(t, err) {
				assert.NotEmpty(t, field)
			}
			return
		}
		flow := deliberation.Flow()
		_, err = flow.DecodeConfig(made.FlowConfig)
		require.NoError(t, err)
		require.NoError(t, flow.Check(&made))
		texts, err := flow.Texts(debate.Setup{Config: &made, Fence: "1234567890"})
		require.NoError(t, err)
		for name, text := range texts {
			assert.NotEmpty(t, text, name)
		}
	})
}

// FuzzFrozen: the frozen part of a hostile log is refused or read, and its prompts can be rendered.
func FuzzFrozen(f *testing.F) {
	made, err := three().Debate()
	require.NoError(f, err)
	f.Add([]byte(made.FlowConfig))
	f.Add([]byte(`{"problem":"x","agents":[{"id":"a"},{"id":"a"}],"termination":{"kind":"fixed"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		flow := deliberation.Flow()
		config := debate.Config{FlowConfig: data}
		_ = flow.Check(&config)
		if _, err := flow.DecodeConfig(data); err != nil {
			return
		}
		_, err := flow.Texts(debate.Setup{Config: &config, Fence: "1"})
		require.NoError(t, err)
	})
}

// TestViewsOfOtherRecords: a record of another flow, or of nothing, has nothing to show.
func TestViewsOfOtherRecords(t *testing.T) {
	r := &debate.Record{}
	_, _, ok := deliberation.Final(r)
	assert.False(t, ok)
	assert.Empty(t, deliberation.Contributions(r))
	assert.Empty(t, deliberation.SummariesOf(r))
	assert.Empty(t, deliberation.Clarifications(r))
	assert.Empty(t, deliberation.Evaluations(r))
	ballots, scores := deliberation.Votes(r)
	assert.Empty(t, ballots)
	assert.Empty(t, scores)
	assert.Len(t, deliberation.Prompts(r), 1)
}
