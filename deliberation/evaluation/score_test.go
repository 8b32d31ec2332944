package evaluation_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation/evaluation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// TestAnInvalidAnswerIsAGap: it is asked for once more, and then there is no number at all.
func TestAnInvalidAnswerIsAGap(t *testing.T) {
	bad := map[string]string{
		"a score of 11":    marks(11),
		"a score of 0":     marks(5, 0),
		"a word":           strings.Replace(marks(5), `"score":5`, `"score":"5"`, 1),
		"null":             strings.Replace(marks(5), `"score":5`, `"score":null`, 1),
		"a missing one":    strings.Replace(marks(5), `"testability"`, `"taste"`, 1),
		"prose":            "I would give it a 7.",
		"half of it":       marks(5)[:200],
		"beyond all float": strings.Replace(marks(5), `"score":5`, `"score":1e999`, 1),
	}
	for name, text := range bad {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			engine, models := evaluators(map[string][]scripted.Reply{
				"eva": {says(text), says(text)}, "eli": {says(marks(8))}, "eda": {says(text), says(marks(6))},
			})
			record := evaluate(t, engine, skipping(threeEvaluators()))
			assert.Equal(t, 5, models.Calls())
			assert.Equal(t, flow.StateCompleted, record.State)
			report := scores(record)
			assert.Equal(t, 2, report.Answered)
			for _, rating := range append(report.Criteria, report.Overall) {
				gap := rating.Opinions[0]
				assert.Nil(t, gap.Value)
				assert.Empty(t, gap.Reasoning)
				assert.Contains(t, gap.Gap, "no valid answer: ")
				assert.Equal(t, &evaluation.Spread{Of: 2, Mean: 7, Min: 6, Max: 8, Deviation: 1}, rating.Spread)
			}
			all, ok := evaluation.Of(record)
			require.True(t, ok)
			var shown struct {
				State  flow.State        `json:"state"`
				Report evaluation.Report `json:"report"`
			}
			require.NoError(t, json.Unmarshal([]byte(stage.JSON(all)), &shown))
			assert.Equal(t, flow.StateCompleted, shown.State)
			assert.Equal(t, report, shown.Report)
			require.Len(t, record.Warnings, 1)
			assert.Equal(t, flow.WarnLeftOut, record.Warnings[0].Kind)
			assert.Equal(t, "eva", record.Warnings[0].By)
			assert.Equal(t, "score.eva", record.Warnings[0].Call)
		}))
	}
}

// skipping leaves out evaluators that have failed.
func skipping(c evaluation.Config) evaluation.Config {
	c.OnFailure = []flow.FailureRule{{Do: flow.OptionSkip}}
	return c
}

// TestAnEvaluatorIsOwed: without a rule nobody is left out. The evaluation stops, and continues with the evaluators that
// have not answered.
func TestAnEvaluatorIsOwed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, models := evaluators(map[string][]scripted.Reply{
			"eva": {{Err: &provider.Error{Kind: provider.KindAuthentication}}, says(marks(5))}, "eli": {says(marks(8))}, "eda": {says(marks(6))},
		})
		config := threeEvaluators()
		config.Unattended = true
		session := stage.Started(t, engine, config)
		record, err := session.Wait(t.Context())
		require.ErrorIs(t, err, &debate.Error{Kind: provider.KindAuthentication})
		assert.Equal(t, flow.StateError, record.State)
		require.NoError(t, session.Retry(t.Context()))
		record = stage.Ended(t, session)
		assert.Equal(t, 3, scores(record).Answered)
		assert.Equal(t, 4, models.Calls())
	})
}

// TestNobodyAnswers: neither a rule nor a person leaves out the last evaluator. The evaluation stops, and its report holds
// no number.
func TestNobodyAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, unattended := range []bool{true, false} {
			down := scripted.Reply{Err: &provider.Error{Kind: provider.KindAuthentication, Message: "no such key"}}
			engine, _ := evaluators(map[string][]scripted.Reply{
				"eva": {down, says(marks(7))}, "eli": {down, says(marks(7))}, "eda": {says("7"), says("7"), says(marks(7))},
			})
			config := skipping(threeEvaluators())
			config.Unattended = unattended
			session, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
			record, err := session.Wait(t.Context())
			require.Error(t, err)
			assert.Len(t, record.SkippedCalls, 2)
			report := scores(record)
			assert.Zero(t, report.Answered)
			for _, rating := range append(report.Criteria, report.Overall) {
				assert.Nil(t, rating.Spread)
				require.Len(t, rating.Opinions, 3)
				for _, score := range rating.Opinions {
					assert.Nil(t, score.Value)
					assert.NotEmpty(t, score.Gap)
				}
			}
			data, err := json.Marshal(report)
			require.NoError(t, err)
			assert.NotContains(t, string(data), "NaN")
			assert.Equal(t, 8, strings.Count(string(data), `"spread":null`))
			assert.Equal(t, 24, strings.Count(string(data), `"score":null`))
			if unattended {
				require.Equal(t, flow.StateError, record.State)
				require.NoError(t, session.Retry(t.Context()))
			} else {
				require.Len(t, record.Inquiries, 1)
				assert.NotContains(t, record.Inquiries[0].Options, flow.OptionSkip)
				require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionRetry}))
			}
			record = stage.Ended(t, session)
			assert.Equal(t, "1 of 3 evaluators have scored", record.Evidence)
			assert.Len(t, record.Warnings, 2)
			require.NoError(t, session.Close())
		}
	})
}

// TestAChangedLog: a stored answer that could not have been accepted is no number either.
func TestAChangedLog(t *testing.T) {
	for _, text := range []string{marks(5, 11), marks(0.5), "{", "null", `{"overall":{"score":5}}`} {
		engine, _ := evaluators(map[string][]scripted.Reply{"eva": {says(marks(7))}, "eli": {says(marks(8))}, "eda": {says(marks(9))}})
		record := evaluate(t, engine, threeEvaluators())
		for _, turn := range record.Turns {
			if turn.Speaker == "eli" {
				turn.Data = json.RawMessage(text)
			}
		}
		report := scores(record)
		assert.Equal(t, 2, report.Answered)
		assert.Nil(t, report.Overall.Opinions[1].Value)
		assert.Equal(t, "the stored answer is not valid", report.Overall.Opinions[1].Gap)
		assert.Equal(t, 8.0, report.Overall.Spread.Mean)
	}
}

// TestScoresOfSomethingElse: a record of another flow has no scores.
func TestScoresOfSomethingElse(t *testing.T) {
	debated := stage.TwoDebaters()
	engine, _ := stage.Engine(debated)
	for _, r := range []*flow.Record{nil, {}, stage.Run(t, engine, debated)} {
		s, ok := evaluation.Of(r)
		assert.False(t, ok)
		assert.Nil(t, s)
	}
}

// TestSpread: an average lies between its ends, and the deviation is no larger than half of what lies
// between them.
func TestSpread(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 1))
	for run := range 60 {
		eval := threeEvaluators()
		eval.Evaluators = nil
		answers := map[string][]scripted.Reply{}
		sum, score := 0.0, 0.0
		n := 1 + random.IntN(9)
		for i := range n {
			id := fmt.Sprintf("e%d", i)
			if score == 0 || run%2 == 0 { // in every other run all agree
				score = 1 + math.Round(random.Float64()*90)/10
			}
			sum += score
			eval.Evaluators = append(eval.Evaluators, evaluation.Evaluator{ID: id, Model: "test/a"})
			answers[id] = []scripted.Reply{says(marks(score))}
		}
		engine, _ := evaluators(answers)
		report := scores(evaluate(t, engine, eval))
		for _, rating := range append(report.Criteria, report.Overall) {
			s := rating.Spread
			require.NotNil(t, s)
			assert.Equal(t, n, s.Of)
			assert.InDelta(t, sum/float64(n), s.Mean, 1e-9)
			assert.GreaterOrEqual(t, s.Mean, s.Min)
			assert.LessOrEqual(t, s.Mean, s.Max)
			assert.GreaterOrEqual(t, s.Min, 1.0)
			assert.LessOrEqual(t, s.Max, 10.0)
			assert.LessOrEqual(t, s.Deviation, (s.Max-s.Min)/2+1e-9)
			assert.Equal(t, n == 1 || s.Max == s.Min, s.Deviation == 0)
		}
	}
}
