package debate

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/prompt"
)

// assessmentCalls yields the assessments of the round that are still missing.
func assessmentCalls(r *Record) []Call {
	judging := r.config.Judging
	if judging == nil || judging.When == AtEnd || r.late && len(r.spoken(r.Round)) == 0 {
		return nil
	}
	schema := string(KindAssessment)
	if judging.Rubric != nil {
		schema = schemaRubric
	}
	id := "r" + strconv.Itoa(r.Round) + ".assessment."
	var calls []Call
	for place, i := range r.bench {
		judge := &judging.Judges[i]
		if r.Done(id+judge.Name) || len(r.dropped) > 0 && r.isDropped(judge.Name) {
			continue
		}
		call := judgeCall(r, judge, id+judge.Name, KindAssessment)
		call.Schema, call.Slot = schema, place
		call.Last = func(r *Record) string {
			return prompt.Fill(r.Text("assess."+judge.Name), r.Round) + r.gone() + r.measured()
		}
		calls = append(calls, call)
	}
	return calls
}

// verdictCalls yields the verdicts that are still missing.
func verdictCalls(r *Record) []Call {
	if r.config.Judging == nil {
		return nil
	}
	var calls []Call
	for place, i := range r.bench {
		judge := &r.config.Judging.Judges[i]
		if len(r.dropped) > 0 && r.isDropped(judge.Name) {
			continue
		}
		for _, swapped := range []bool{false, true} {
			if swapped && !r.config.Judging.BothOrders {
				break
			}
			call := verdictCall(r, judge, swapped)
			call.Slot = place
			if !r.Done(call.ID) {
				calls = append(calls, call)
			}
		}
	}
	return calls
}

// Suffixes of the ids of calls and texts.
const (
	swappedSuffix    = ".swapped"
	unfinishedSuffix = ".unfinished"
)

func verdictCall(r *Record, judge *JudgeConfig, swapped bool) Call {
	id, text := "verdict."+judge.Name, "verdict."+judge.Name
	if swapped {
		id, text = id+swappedSuffix, text+swappedSuffix
	}
	call := judgeCall(r, judge, id, KindVerdict)
	call.Schema, call.swapped, call.View.Swapped = string(KindVerdict), swapped, swapped
	call.Last = func(r *Record) string {
		if !allArgumentsReceived(r) {
			return prompt.Fill(r.Text(text+unfinishedSuffix), r.Round) + r.gone()
		}
		return prompt.Fill(r.Text(text), r.Round) + r.gone()
	}
	return call
}

func judgeCall(r *Record, judge *JudgeConfig, id string, kind CallKind) Call {
	call := Call{
		ID: id, Kind: kind, By: judge.Name, Performer: performer(judge.Judge, judge.Person), Model: judge.Model,
		Fallbacks: judge.Fallbacks, Judge: judge.Judge, Round: r.Round, System: r.Text("system." + judge.Name),
		View: View{Labels: r.config.Judging.Anonymous}, MaxTokens: judge.MaxTokens, Temperature: judge.Temperature,
		Timeout: r.config.JudgeTimeout, OnFail: OnFail{Ask: failingJudge, Drop: true},
	}
	if len(call.Fallbacks) > 0 && len(r.bench) > 1 && !r.config.Judging.OwnFamily {
		call.Fallbacks = slices.DeleteFunc(slices.Clone(call.Fallbacks), r.partial)
	}
	if model := r.replaced(judge.Name); model != "" {
		call.Performer, call.Model, call.Judge = ByModel, model, ""
	}
	return call
}

// gone tells a judge who of those listed in its instruction takes no further part.
func (r *Record) gone() string {
	var names []string
	for _, name := range r.dropped {
		if r.place(name, -1) < 0 {
			continue
		}
		if r.anonymous != nil {
			name = r.anonymous.labels.hide(name)
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return ""
	}
	return "\n\nLeft the debate early, and not to be judged any more: " + strings.Join(names, ", ") + "."
}
