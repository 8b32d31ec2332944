package deliberation_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/deliberation/evaluation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// evaluated plays an evaluation by one model, which marks everything with 6.
func evaluated(t *testing.T, config evaluation.Config) (*flow.Record, *scripted.Provider) {
	t.Helper()
	m := evaluation.Mark{Reasoning: "It says how.", Score: 6}
	marks := evaluation.Marks{
		FunctionalCompleteness: m, PerformanceScalability: m, Security: m, MaintainabilityEvolvability: m, RegulatoryCompliance: m,
		Testability: m, RequirementsFulfilment: m, Overall: m,
	}
	models := &scripted.Provider{Replies: map[string][]scripted.Reply{"eva": {{Text: toJSON(marks)}}}, Record: true}
	config.Evaluators = []evaluation.Evaluator{{ID: "eva", Model: "test/a"}}
	return stage.Run(t, &debate.Engine{
		Providers: map[string]debate.Provider{"test": models}, Flows: map[string]*flow.Flow{evaluation.FlowName: evaluation.Flow()},
	}, config), models
}

// TestEvaluatorsWriteInTheLanguageOfTheConfig, which is that of the deliberation whose solution they score.
func TestEvaluatorsWriteInTheLanguageOfTheConfig(t *testing.T) {
	config := three()
	config.Language = "Bahasa Indonesia"
	solved, _ := engineFor(nil)
	made, err := evaluation.About(view(play(t, solved, config)))
	require.NoError(t, err)
	record, models := evaluated(t, made)
	assert.Equal(t, "Bahasa Indonesia", record.Settings().Language)
	assert.Contains(t, models.Requests()[0].System, "Write reasons in Bahasa Indonesia, ")
}

// TestWhatIsEvaluated: the evaluators read what a deliberation was about and what came of it, and not what its
// solution says about itself.
func TestWhatIsEvaluated(t *testing.T) {
	engine, _ := engineFor(func(call string, _ *provider.Request) (scripted.Reply, bool) {
		switch call {
		case "clarify.1.ada":
			return scripted.Reply{Text: toJSON(map[string]any{"questions": []string{"How many?", "Since when?"}})}, true
		case "synthesis":
			return scripted.Reply{Text: toJSON(solution("# One table\n"))}, true
		default:
			return scripted.Reply{}, false
		}
	})
	config := three()
	config.Rounds, config.Clarification.On = 1, true
	session := stage.Started(t, engine, config)
	record := stage.AwaitsInput(t, session)
	_, err := evaluation.About(view(record))
	assert.ErrorContains(t, err, "holds no solution")
	assert.Equal(t, "record", refused(t, err).Field)
	require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: "question.1.ada.1", Text: "Ten."}))
	require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: "question.1.ada.2", Text: "na"}))
	record = stage.Ended(t, session)

	made, err := evaluation.About(view(record))
	require.NoError(t, err)
	assert.Equal(t, evaluation.Config{
		Problem: "Design a URL shortener.\nIt takes 100 million links.",
		Context: "The team runs PostgreSQL.\n\nQuestion: How many?\nAnswer: Ten.",
		Solution: "# One table\n\n## Implementation\n\n- start small\n\n## Trade-offs\n\n- cost for speed\n\n" +
			"## Recommendations\n\n- measure\n\n## Open questions\n\n- how long links live",
	}, made)

	scored, _ := evaluated(t, made)
	scores, ok := evaluation.Of(scored)
	require.True(t, ok)
	assert.Equal(t, 6.0, scores.Report().Overall.Spread.Mean)
	for _, r := range []*flow.Record{nil, {}, scored} {
		d, ok := deliberation.Of(r)
		assert.False(t, ok)
		assert.Nil(t, d)
	}
}
