package otel

import (
	"maps"
	"math"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/text"
)

// The names of evaluations. Those of assessments are from 0 to 10, those of verdicts from 0 to 100.
const (
	roundQuality   = "assessment.quality"
	roundScore     = "assessment.score"
	roundCriterion = "assessment.criterion." // with the name of a criterion of the rubric
	finalQuality   = "verdict.quality"
	finalScore     = "verdict.score"

	labelWon, labelLost = "won", "lost"
)

// evaluation is one score that a judge has given.
type evaluation struct {
	name        string
	of          string // the participant; "": the round, or the debate
	value       float64
	label       string
	explanation string
}

// judged records what a judge has found as events of the span that was judged: of the round, or of the debate.
func (w *watch) judged(body flow.Body, at time.Time) {
	if !w.traced {
		return
	}
	switch body := body.(type) {
	case *debate.Assessment:
		judged := w.round
		if judged == nil {
			judged = w.debate
		}
		w.evaluated(judged, marks(&body.Judgement), at, keyCall.String(clean(body.Call)), keyJudge.String(clean(body.Judge)))
	case *debate.Verdict:
		common := []attribute.KeyValue{keyCall.String(clean(body.Call)), keyJudge.String(clean(body.Judge))}
		if body.Swapped {
			common = append(common, keySwapped.Bool(true))
		}
		w.evaluated(w.debate, scores(&body.FinalVerdict, w.sides), at, common...)
	}
}

func (w *watch) evaluated(judged *span, all []evaluation, at time.Time, common ...attribute.KeyValue) {
	for _, one := range all[:min(len(all), maxMarks)] {
		attributes := append(slices.Clone(common), keyEvaluation.String(clean(one.name)))
		if !math.IsNaN(one.value) && !math.IsInf(one.value, 0) {
			attributes = append(attributes, keyScore.Float64(one.value))
		}
		attributes = append(attributes, present(keyAgent, one.of)...)
		attributes = append(attributes, present(keyLabel, one.label)...)
		if w.observer.Content && one.explanation != "" {
			attributes = append(attributes, keyExplanation.String(text.OneLine(one.explanation, maxContent)))
		}
		judged.AddEvent(eventEvaluation, trace.WithTimestamp(at), trace.WithAttributes(attributes...))
	}
}

// marks returns the scores of an assessment.
func marks(j *debate.Judgement) []evaluation {
	all := []evaluation{{name: roundQuality, value: j.QualityScore, explanation: j.Reasoning}}
	for i := range j.Assessments {
		mark := &j.Assessments[i]
		all = append(all, evaluation{name: roundScore, of: mark.Participant, value: mark.Score})
		for _, criterion := range slices.Sorted(maps.Keys(mark.Criteria)) {
			all = append(all, evaluation{name: roundCriterion + criterion, of: mark.Participant, value: mark.Criteria[criterion]})
		}
	}
	return all
}

// scores returns those of a verdict. Where a side has won, sides says whose it is, by the names of participants.
func scores(v *debate.FinalVerdict, sides map[string]format.Side) []evaluation {
	all := []evaluation{{name: finalQuality, value: v.QualityScore, explanation: v.Summary}}
	for _, name := range slices.Sorted(maps.Keys(v.Scores)) {
		one := evaluation{name: finalScore, of: name, value: v.Scores[name]}
		switch {
		case v.Winner == nil, v.Winner.Side != "" && sides[name] == "":
		case v.Winner.Participant == name, v.Winner.Side != "" && v.Winner.Side == sides[name]:
			one.label, one.explanation = labelWon, v.Winner.Reasoning
		default:
			one.label = labelLost
		}
		all = append(all, one)
	}
	return all
}
