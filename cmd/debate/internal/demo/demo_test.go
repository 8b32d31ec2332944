package demo_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/cmd/debate/internal/demo"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
)

// play runs a conversation to its end. No answer of the script is refused.
func play(t *testing.T, config flow.Config) (record *flow.Record) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		engine := &debate.Engine{Flows: map[string]*debate.Flow{
			deliberation.FlowName: deliberation.Flow(), arbiter.FlowName: arbiter.Flow(),
		}}
		var models []string
		for _, model := range flow.Models(config) {
			models = append(models, model)
		}
		demo.Play(engine, models...)
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		record, err = session.WaitIdle(t.Context())
		require.NoError(t, err)
		require.Equal(t, flow.StateCompleted, record.State)
		for event, err := range session.Events(t.Context(), 0) {
			require.NoError(t, err)
			intent, ok := event.Body.(*flow.Intent)
			assert.False(t, ok && intent.Reask, "an answer was refused")
		}
		assert.Zero(t, record.Spent().Cost)
		for _, turn := range record.Turns {
			assert.NotEmpty(t, strings.TrimSpace(turn.Text), turn.Call)
		}
	})
	return record
}

// The script plays every way in which a deliberation can end, with models of any vendor.
func TestTheScriptDeliberates(t *testing.T) {
	t.Parallel()
	for _, synthesis := range []string{deliberation.SynthesisJudge, deliberation.SynthesisVoting, deliberation.SynthesisMerge} {
		for _, ends := range []string{deliberation.TerminationFixed, deliberation.TerminationConvergence, deliberation.TerminationQuality} {
			t.Run(synthesis+" "+ends, func(t *testing.T) {
				t.Parallel()
				record := play(t, deliberation.Config{
					Problem: "# Design a cache?\nwith two levels", Judge: deliberation.Judge{Model: "openai/gpt-4.1"}, Unattended: true,
					Agents: []deliberation.Agent{
						{ID: "System Architect", Role: deliberation.RoleArchitect, Model: "anthropic/claude-sonnet-4-5"},
						{ID: "b", Role: deliberation.RoleSecurity, Model: "own/x"},
						{ID: "c", Model: demo.Model},
					},
					Synthesis: synthesis, Termination: deliberation.Termination{Kind: ends},
					Clarification: deliberation.Clarification{On: true},
				})
				d, ok := deliberation.Of(record)
				require.True(t, ok)
				solution, _, ok := d.Solution()
				require.True(t, ok)
				assert.Contains(t, solution.Description, "## Design a cache")
				assert.Contains(t, solution.Description, "A script has written this")
				assert.NotEmpty(t, solution.Recommendations)
			})
		}
	}
}

// The script speaks in every built-in format.
func TestTheScriptDebates(t *testing.T) {
	t.Parallel()
	for _, f := range format.Builtin() {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			cast := []debate.Participant{
				{Name: "Ada", Side: format.For, Model: demo.Model}, {Name: "Ben", Side: format.Against, Model: demo.Model},
			}
			switch f.Name {
			case format.Socratic:
				cast[0].Side, cast[1].Side = format.Neutral, ""
			case format.KarlPopper:
				cast = nil
				for i, name := range []string{"Ada", "Ben", "Cy", "Di", "Ed", "Flo"} {
					side := []format.Side{format.For, format.Against}[i%2]
					cast = append(cast, debate.Participant{Name: name, Side: side, Model: demo.Model})
				}
			}
			record := play(t, debate.Config{
				Topic: "Should cities ban cars?", Format: f.Name, Unattended: true, Participants: cast,
				Judging: &debate.Judging{Judges: []debate.JudgeConfig{{Model: demo.Model}}},
			})
			d, ok := debate.Of(record)
			require.True(t, ok)
			assert.NotNil(t, d.Outcome())
		})
	}
}

// The script's arbiter lets each agent act once, and the plan is complete at the end.
func TestTheScriptWorks(t *testing.T) {
	t.Parallel()
	record := play(t, arbiter.Config{
		Task: "Write a plan", Arbiter: arbiter.Arbiter{Model: demo.Model}, Unattended: true,
		Agents: []arbiter.Agent{{Name: "planner", Model: demo.Model}, {Name: "Cy", Model: "x/y"}, {Name: "reviewer", Model: demo.Model}},
	})
	w, ok := arbiter.Of(record)
	require.True(t, ok)
	require.NotNil(t, w.Plan())
	assert.True(t, w.Plan().IsComplete)
	assert.Len(t, w.Plan().Steps, 3)
	assert.Len(t, record.Turns, 3)
}
