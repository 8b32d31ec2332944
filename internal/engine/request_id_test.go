package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider/scripted"
)

// A script by the documented ids of requests answers a whole debate.
func TestAScriptByTheIDsOfRequests(t *testing.T) {
	config := stage.TwoDebaters()
	config.ID, config.Rounds = "cars", 1
	names := []string{"Ada", "Ben"}
	engine, source := stage.Engine(config)
	source.Reply = nil
	source.Replies = map[string][]scripted.Reply{"Ada": nil, "Ben": nil, "judge": nil}
	source.ByID = map[string]scripted.Reply{
		"cars/r1.opening.Ada/1":      {Text: "Streets are for people."},
		"cars/r1.opening.Ben/1":      {Text: "Streets are for getting there."},
		"cars/r1.assessment.judge/1": {Text: stage.Judgement(names, false)},
		"cars/verdict.judge/1":       {Text: stage.Verdict(names)},
	}
	record := stage.Run(t, engine, config)
	require.Len(t, record.Turns, 2)
	assert.Equal(t, "Streets are for people.", record.Turns[0].Text)
	assert.NotNil(t, stage.View(record).Verdict)
	assert.Equal(t, len(source.ByID), source.Calls())
}

// Whoever opens what is not there is told what was looked for.
func TestAnUnknownIDIsNamed(t *testing.T) {
	engine, _ := stage.Engine(stage.TwoDebaters())
	_, err := engine.Open(t.Context(), "trams")
	require.ErrorIs(t, err, debate.ErrNotFound)
	assert.EqualError(t, err, `debate: validation: open: id: no such conversation: "trams"`)
}
