package debates_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/internal/stage"
)

func TestAJudgeFromOutside(t *testing.T) {
	config := stage.TwoDebaters()
	config.Labels = map[string]string{"tenant": "blue"}
	config.Judging.Judges[0] = debate.JudgeConfig{Name: "Cato", Judge: "panel"}
	engine, source := stage.Engine(config)
	var tasks []debate.JudgeTask
	engine.Judges = map[string]debate.Judge{"panel": debate.JudgeFunc(func(_ context.Context, task debate.JudgeTask) (json.RawMessage, error) {
		tasks = append(tasks, task)
		return json.RawMessage(stage.WellFormed(task.Kind)), nil
	})}
	record := stage.Run(t, engine, config)

	require.Len(t, tasks, 4)
	for i, task := range tasks[:3] {
		assert.Equal(t, debate.KindAssessment, task.Kind)
		assert.Equal(t, fmt.Sprintf("r%d.assessment.Cato", i+1), task.Call)
		assert.Equal(t, 1, task.Attempt)
		assert.Equal(t, record.ID, task.Debate)
		assert.Equal(t, config.Topic, task.Topic)
		assert.Equal(t, i+1, task.Round)
		assert.Equal(t, 3, task.Rounds)
		assert.Len(t, task.Participants, 2)
		assert.Equal(t, config.Labels, task.Labels)
		assert.Len(t, task.Turns, 2*(i+1))
		assert.True(t, json.Valid(task.Schema))
		assert.NotEmpty(t, task.Instruction)
	}
	assert.Equal(t, debate.KindVerdict, tasks[3].Kind)
	assert.Equal(t, 6, source.Calls(), "no model is asked to judge")
	assert.Equal(t, "Cato", stage.View(record).Verdict.Judge)
	assert.Zero(t, stage.View(record).Verdict.Cost, "what a judge from outside costs is not the debate's")
}

// Hidden turns of the round are all revealed before a judge reads them.
func TestAJudgeFromOutsideReadsSimultaneousTurns(t *testing.T) {
	config := stage.TwoDebaters()
	config.Mode = debate.Simultaneous
	config.Judging.Judges[0] = debate.JudgeConfig{Judge: "panel"}
	engine, _ := stage.Engine(config)
	var read []int
	engine.Judges = map[string]debate.Judge{"panel": debate.JudgeFunc(func(_ context.Context, task debate.JudgeTask) (json.RawMessage, error) {
		read = append(read, len(task.Turns))
		return json.RawMessage(stage.WellFormed(task.Kind)), nil
	})}
	stage.Run(t, engine, config)
	assert.Equal(t, []int{2, 4, 6, 6}, read)
}
