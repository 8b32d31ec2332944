package window_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// A model whose whole window is kept free could be sent nothing. Validate names each place that names it, and why.
func TestValidateNamesAWindowThatIsAllReserve(t *testing.T) {
	config := stage.TwoDebaters()
	engine, p := stage.Engine(config)
	engine.Models["test/small"] = debate.Model{Priced: true, Window: 4096}
	config.Participants[0].Model = "test/small"
	config.Participants[1].Fallbacks = []string{"test/small"}
	config.Judging.Judges[0].Model, config.Summarizer = "test/small", "test/small"
	err := engine.Validate(t.Context(), config)
	assert.Equal(t, []string{"judging.judges[0].model", "participants[0].model", "participants[1].fallbacks[0]", "summarizer"}, stage.FieldsOf(t, err))
	stage.RequireKind(t, err, provider.KindValidation)
	assert.ErrorContains(t, err, "has a window of 4096 tokens, and reserve keeps 4096 of them free: lower reserve")
	session, err := engine.Start(t.Context(), config)
	assert.Nil(t, session)
	assert.ErrorContains(t, err, "reserve keeps 4096 of them free")
	assert.Zero(t, p.Calls())

	config.Reserve, config.MaxTokens = 1024, 1024
	require.NoError(t, engine.Validate(t.Context(), config))
}

// What fails for want of room says how much of the window is kept free, and so does its hint.
func TestAFailureForWantOfRoomNamesTheReserve(t *testing.T) {
	config := stage.TwoDebaters()
	config.MaxTokens, config.Reserve, config.Unattended = 300, 3900, true
	engine, _ := narrowEngine(config, 4096)
	session := stage.Started(t, engine, config)
	_, err := session.Wait(t.Context())
	failure := stage.RequireKind(t, err, provider.KindContextOverflow)
	assert.ErrorContains(t, err, "the prompt alone does not fit the window of 4096 tokens: it needs ")
	assert.ErrorContains(t, err, ", and reserve and maxTokens keep 3900 free")
	assert.Contains(t, failure.Hint(), "smaller reserve or maxTokens")
}
