package debate_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
)

// A debate shares nothing with its host's config.
func TestTheConfigIsTheDebatesOwn(t *testing.T) {
	config := stage.TwoDebaters()
	config.Labels = map[string]string{"tenant": "blue"}
	config.Participants[0].Temperature = new(0.5)
	engine, _ := stage.Engine(config)
	session, err := engine.New(config)
	require.NoError(t, err)
	config.Participants[0].Name, *config.Participants[0].Temperature = "Mallory", 2
	config.Labels["tenant"], config.Judging.Judges[0].Model = "red", "acme/x"
	require.NoError(t, session.Validate(t.Context()))
	require.NoError(t, session.Start(t.Context()))
	record := stage.Ended(t, session)
	assert.Equal(t, "Ada", stage.View(record).Config().Participants[0].Name)
	assert.InDelta(t, 0.5, *stage.View(record).Config().Participants[0].Temperature, 0)
	assert.Equal(t, "blue", stage.View(record).Config().Labels["tenant"])
}

func TestDefaults(t *testing.T) {
	config := stage.TwoDebaters()
	config.Format, config.Rounds = "", 0
	engine, source := stage.Engine(config)
	record := stage.Run(t, engine, config)
	c := stage.View(record).Config()
	assert.Equal(t, debate.FlowName, record.Flow())
	assert.Equal(t, format.FreeForm, c.Format)
	assert.Equal(t, debate.Sequential, c.Mode)
	assert.Equal(t, 5, c.Rounds)
	assert.Equal(t, 4096, c.MaxTokens)
	assert.Equal(t, 4096, c.Reserve)
	assert.Equal(t, 2*time.Minute, c.TurnTimeout)
	assert.Equal(t, 3*time.Minute, c.JudgeTimeout)
	assert.Zero(t, c.RoundTimeout)
	assert.Equal(t, debate.EveryRound, c.Judging.When)
	assert.Equal(t, 5, record.Round)
	for _, request := range source.Requests() {
		want := 0.8
		if request.Schema != nil {
			want = 0.2
		}
		assert.InDelta(t, want, *request.Temperature, 0)
		assert.Equal(t, 4096, request.MaxTokens)
	}
}

// A zero is a value where nil is the default.
func TestTemperatureZero(t *testing.T) {
	config := stage.TwoDebaters()
	config.Temperature, config.Judging.Judges[0].Temperature = new(1.5), new(0.0)
	config.Participants[1].Temperature, config.Participants[1].MaxTokens = new(0.0), 77
	engine, source := stage.Engine(config)
	stage.Run(t, engine, config)
	for _, request := range source.Requests() {
		want := map[string]float64{"Ada": 1.5, "Ben": 0, "judge": 0}[request.Self]
		assert.InDelta(t, want, *request.Temperature, 0, request.Self)
		assert.Equal(t, request.Self == "Ben", request.MaxTokens == 77)
	}
}
