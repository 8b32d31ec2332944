package arbiter_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
	w, err := play(t, engine, config())
	require.NoError(t, err)
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

// TestAFlowDoesNotHideAFieldOfTheRecord: readers of JSON keep one of two fields of one name.
func TestAFlowDoesNotHideAFieldOfTheRecord(t *testing.T) {
	engine, _ := engineFor(nil)
	w, err := play(t, engine, config())
	require.NoError(t, err)
	_, err = w.MarshalWith(struct {
		State string `json:"state"`
	}{"mine"})
	require.ErrorContains(t, err, `two fields "state"`)
	_, err = w.MarshalWith(struct{ State string }{"mine"})
	require.ErrorContains(t, err, `two fields "State"`, "readers in Go take them for one")
}
