package log_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// A config on the wire is its own fields beside the name of its flow.
func TestConfigsOfAllFlowsAreReadFromJSON(t *testing.T) {
	notes := debate.DebateFlow()
	notes.Name = "notes"
	engine := &debate.Engine{Flows: map[string]*debate.Flow{"notes": notes}}

	config, err := engine.DecodeConfig([]byte(`{"topic":"Is chess a sport?","rounds":2,"participants":[]}`))
	require.NoError(t, err)
	assert.Equal(t, "debate", config.Flow(), "without a flow it is a debate")
	assert.Equal(t, 2, config.Settings().Rounds)

	config, err = engine.DecodeConfig([]byte(`{"flow":"notes","topic":"Is chess a sport?","participants":[]}`))
	require.NoError(t, err)
	assert.Equal(t, "notes", config.Flow())

	data, err := flow.EncodeConfig(config)
	require.NoError(t, err)
	again, err := engine.DecodeConfig(data)
	require.NoError(t, err)
	assert.Equal(t, config, again, "what is written is read")
}

func TestConfigsOnTheWireAreRefusedByPath(t *testing.T) {
	engine := &debate.Engine{}
	for text, field := range map[string]string{
		`{"flow":"opera","topic":"x"}`:     "flow",
		`{"flow":1}`:                       "flow",
		`{"flow":"debate","runds":2}`:      "runds",
		`{"flow":"debate","rounds":"2"}`:   "rounds",
		`{"topic":"x","topic":"y"}`:        "",
		`[]`:                               "",
		`{"topic":`:                        "",
		`{"participants":[{"nme":"Ada"}]}`: "participants[0].nme",
	} {
		_, err := engine.DecodeConfig([]byte(text))
		assert.Equal(t, field, stage.RequireKind(t, err, provider.KindValidation).Field, text)
	}
}
