package arbiter_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// All that is wrong with a config is told at once, by the names of its own fields.
func TestProblemsAreToldAtOnce(t *testing.T) {
	hot := 7.0
	engine, _ := engineFor(nil)
	c := arbiter.Config{
		Unattended: true, MaxIterations: -1, MaxFailures: 2000, Parallel: 9, Temperature: &hot,
		Arbiter: arbiter.Arbiter{Person: true, Function: "nobody", Temperature: &hot, Options: &provider.Options{Effort: "huge"}},
		Agents: []arbiter.Agent{
			{Name: "Ada", Model: "test/m", Tools: []string{"read", "read", ""}, MaxTokens: -1, MaxIterations: 1000},
			{Name: "ada", Model: "nowhere/m"},
			{Name: "a.b", Model: "test/m", Fallbacks: []string{""}},
			{Name: "arbiter", Description: strings.Repeat("x", 2001)},
		},
	}
	err := engine.Validate(t.Context(), c)
	require.Error(t, err)
	for _, part := range []string{
		"task: is empty", "maxIterations: is negative", "maxFailures: is 2000", "parallel: is 9", "config: temperature: is not between",
		"arbiter: names 2 of a model, a function and a person", "arbiter.person: is set, but the work is unattended", `arbiter.function: no judge or function "nobody" is registered: there is none`,
		"arbiter.temperature: is set, but no model", "arbiter.options", "agents[0].tools[1]", "agents[0].tools[2]: is empty",
		"agents[0].maxTokens: is negative", "agents[0].maxIterations: is 1000", "agents[1].name", "agents[1].model", "agents[2].name", "agents[2].fallbacks[0]: is empty",
		"agents[3].name", "agents[3].description", "agents[3].model: is empty", `agents[0].tools[0]: no tool "read" is registered`,
	} {
		assert.ErrorContains(t, err, part)
	}
	assert.NotContains(t, err.Error(), "maxIterations: is -1", "it is said once")
	err = engine.Validate(t.Context(), arbiter.Config{
		Task: "x", Arbiter: arbiter.Arbiter{Model: "test/m"}, MaxFailures: -1, Parallel: 2,
	})
	for _, part := range []string{"agents: there are 0", "maxFailures: is -1", "parallel: is 2"} {
		require.ErrorContains(t, err, part)
	}
}

func TestConfigsAreReadStrictly(t *testing.T) {
	engine, _ := engineFor(nil)
	read := func(text string) (flow.Config, error) { return engine.DecodeConfig([]byte(text)) }
	c, err := read(`{"flow":"arbiter","task":"x","arbiter":{"function":"f"},"turnTimeout":"90s","agents":[{"name":"Ada","model":"test/m"}]}`)
	require.NoError(t, err)
	data, err := json.Marshal(c)
	require.NoError(t, err)
	again, err := read(`{"flow":"arbiter",` + string(data[1:]))
	require.NoError(t, err)
	assert.Equal(t, c, again)
	_, err = read(`{"flow":"arbiter","task":"x","decider":{}}`)
	require.ErrorContains(t, err, "decider")
}

// An estimate is as much as the work can use, and validation needs no more.
func TestEstimate(t *testing.T) {
	engine, p := engineFor(nil)
	c := config()
	c.MaxIterations = 3
	most := stage.Estimated(t, engine, c)
	assert.Equal(t, 7, most.Calls) // a decision before the first execution, and one after each
	w := worked(t, engine, c)
	assert.LessOrEqual(t, p.Calls(), most.Calls)
	assert.LessOrEqual(t, w.Spent().Usage.Input+w.Spent().Usage.Output, most.Tokens)
}
