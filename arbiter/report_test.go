package arbiter_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// TestTheJSONOfWorkHasItsFailures: attempts that have failed stand beside the number of executions that have.
func TestTheJSONOfWorkHasItsFailures(t *testing.T) {
	broken := false
	engine, _ := engineFor(answers{
		"r1.Ada": func(*provider.Request) scripted.Reply {
			if !broken {
				broken = true
				return scripted.Reply{Err: down(provider.KindNetwork)}
			}
			return scripted.Reply{Text: toJSON(fails("no time"))}
		},
		"d2": moves(arbiter.MoveRetry), "d4": completes("Done."),
	})
	w := worked(t, engine, config())
	require.Len(t, w.Record.Failures, 1)
	data, err := json.Marshal(w)
	require.NoError(t, err)
	var shown struct {
		Failures []struct {
			Call  string
			Error struct{ Kind flow.Kind }
		}
		Failed, FailedInARow int
	}
	require.NoError(t, json.Unmarshal(data, &shown))
	require.Len(t, shown.Failures, 1)
	assert.Equal(t, "r1.Ada", shown.Failures[0].Call)
	assert.Equal(t, provider.KindNetwork, shown.Failures[0].Error.Kind)
	assert.Equal(t, []int{1, 0}, []int{shown.Failed, shown.FailedInARow})
}

// TestTheJSONOfWorkIsTheWholeState: what was asked, of whom, and every number of what came of it.
func TestTheJSONOfWorkIsTheWholeState(t *testing.T) {
	c := config()
	c.Task, c.MaxIterations, c.MaxFailures = "Write a function.\nIt adds two numbers.", 7, 4
	c.Agents[1].Prompt = "You are Ben, who writes."
	engine, _ := engineFor(nil)
	engine.Models = map[string]debate.Model{"test/m": {Window: 100_000, Priced: true, Output: debate.USD / 1_000_000}}
	w := worked(t, engine, c)
	data, err := json.Marshal(w)
	require.NoError(t, err)
	var shown struct {
		Config     arbiter.Config
		Decisions  json.RawMessage
		Executions []arbiter.Execution
		Complete   bool
		Summary    string
	}
	require.NoError(t, json.Unmarshal(data, &shown))

	assert.Equal(t, c.Task, shown.Config.Task, "all its lines")
	assert.Equal(t, "test/m", shown.Config.Arbiter.Model)
	assert.Equal(t, []int{7, 4}, []int{shown.Config.MaxIterations, shown.Config.MaxFailures})
	require.Len(t, shown.Config.Agents, 2)
	assert.Equal(t, "plans", shown.Config.Agents[0].Description)
	assert.Equal(t, c.Agents[1].Prompt, shown.Config.Agents[1].Prompt)

	assert.JSONEq(t, toJSON(w.Decisions()), string(shown.Decisions))
	require.Len(t, shown.Executions, w.Iterations())
	assert.NotEmpty(t, shown.Executions)
	for i, e := range shown.Executions {
		assert.Equal(t, i+1, e.Iteration)
		assert.Equal(t, arbiter.Success, e.Result)
		assert.NotEmpty(t, e.Output)
		assert.Positive(t, e.Usage.Output)
		assert.Positive(t, e.Cost)
		assert.False(t, e.StartedAt.IsZero() || e.EndedAt.IsZero())
	}
	assert.True(t, shown.Complete)
	assert.NotEmpty(t, shown.Summary)
}

// TestAFlowDoesNotHideAFieldOfTheRecord: readers of JSON keep one of two fields of one name.
func TestAFlowDoesNotHideAFieldOfTheRecord(t *testing.T) {
	engine, _ := engineFor(nil)
	w := worked(t, engine, config())
	_, err := w.MarshalWith(struct {
		State string `json:"state"`
	}{"mine"})
	require.ErrorContains(t, err, `two fields "state"`)
	_, err = w.MarshalWith(struct{ State string }{"mine"})
	require.ErrorContains(t, err, `two fields "State"`, "readers in Go take them for one")
}
