package otel_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
)

// evaluations writes down the scores that are on a span.
func evaluations(s trace.ReadOnlySpan) (all []string) {
	for _, e := range s.Events() {
		if e.Name != "gen_ai.evaluation.result" {
			continue
		}
		all = append(all, strings.Join(strings.Fields(fmt.Sprintln(
			among(e.Attributes, "debate.evaluation.judge"), among(e.Attributes, "gen_ai.evaluation.name"),
			among(e.Attributes, "gen_ai.agent.name"), among(e.Attributes, "gen_ai.evaluation.score.value"),
			among(e.Attributes, "gen_ai.evaluation.score.label"), among(e.Attributes, "gen_ai.evaluation.explanation"),
		)), " "))
	}
	return all
}

// The scores of judges are on what was judged; their reasons are there with Content only.
func TestTheScoresOfJudges(t *testing.T) {
	events := play(t, nil)
	r := newRecorder()
	read(t, r, events)
	assert.Equal(t, []string{"judge verdict.quality 78", "judge verdict.score Ada 80 won", "judge verdict.score Ben 79 lost"},
		evaluations(r.one(t, "invoke_workflow debate")))
	for _, round := range r.find(t, "round") {
		assert.Equal(t, []string{"judge assessment.quality 7.5", "judge assessment.score Ada 7", "judge assessment.score Ben 7"},
			evaluations(round))
	}
	assert.Len(t, r.find(t, "round"), 2)

	r = newRecorder()
	r.Content = true
	read(t, r, events)
	assert.Equal(t, []string{
		"judge verdict.quality 78 A close debate. " + canary, "judge verdict.score Ada 80 won answered every point",
		"judge verdict.score Ben 79 lost",
	}, evaluations(r.one(t, "invoke_workflow debate")))
	assert.Contains(t, evaluations(r.find(t, "round")[0]), "judge assessment.quality 7.5 Both made their case. "+canary)
}

// Marks by a rubric, a verdict without a winner, one in the other order, and an assessment whose round is unknown.
func TestScoresOfEachKind(t *testing.T) {
	spend := flow.Spend{Call: "r1.assessment.Eve", Attempt: 1}
	r := newRecorder()
	read(t, r, []flow.Event{
		{Body: &debate.Assessment{Spend: spend, Judge: "Eve", Judgement: debate.Judgement{QualityScore: 5, Assessments: []debate.ParticipantMark{
			{Participant: "Ada", Score: 6.5, Criteria: map[string]float64{"logic": 6, "evidence": 7}},
		}}}},
		{Body: &debate.Verdict{Spend: spend, Judge: "Eve", Swapped: true, FinalVerdict: debate.FinalVerdict{Scores: map[string]float64{"Ada": 50}}}},
	})
	root := r.one(t, "invoke_workflow")
	assert.Equal(t, []string{
		"Eve assessment.quality 5", "Eve assessment.score Ada 6.5", "Eve assessment.criterion.evidence Ada 7",
		"Eve assessment.criterion.logic Ada 6", "Eve verdict.quality 0", "Eve verdict.score Ada 50",
	}, evaluations(root))
	last := root.Events()[len(root.Events())-1]
	assert.Equal(t, "true", among(last.Attributes, "debate.evaluation.swapped"))
	assert.Equal(t, "r1.assessment.Eve", among(last.Attributes, "debate.call.id"))
}

func TestHostileScores(t *testing.T) {
	long := strings.Repeat("\x00\u202e\n", longform.Or(1<<16, 1<<10))
	marks := make([]debate.ParticipantMark, 1000)
	scores := map[string]float64{}
	for i := range marks {
		name := fmt.Sprint(i, long)
		marks[i] = debate.ParticipantMark{Participant: name, Score: math.Inf(1), Criteria: map[string]float64{long: math.NaN()}}
		scores[name] = math.NaN()
	}
	require.Len(t, slices.Collect(maps.Keys(scores)), 1000)
	spend := flow.Spend{Call: long, Attempt: 1}
	r := newRecorder()
	r.Content = true
	read(t, r, []flow.Event{
		{Body: &debate.Assessment{Spend: spend, Judge: long, Judgement: debate.Judgement{Assessments: marks, Reasoning: long}}},
	})
	r2 := newRecorder()
	r2.Content = true
	read(t, r2, []flow.Event{
		{Body: &debate.Verdict{Spend: spend, Judge: long, FinalVerdict: debate.FinalVerdict{
			Scores: scores, Summary: long, Winner: &debate.Winner{Participant: long, Reasoning: long},
		}}},
	})
	for _, of := range []*recorder{r, r2} {
		root := of.one(t, "invoke_workflow")
		assert.Len(t, evaluations(root), 64)
		tree := of.tree(t)
		assert.Less(t, len(tree), 1<<17)
		assert.NotContains(t, tree, "\x00")
		assert.NotContains(t, tree, "\u202e")
		assert.NotContains(t, tree, "NaN")
		assert.NotContains(t, tree, "Inf")
	}
}
