package debate

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/prompt"
)

// assessmentCalls returns the assessments of the round that are still missing.
func assessmentCalls(r *flow.Record) []flow.Call {
	d := of(r)
	judging := d.config.Judging
	if judging == nil || judging.When == AtEnd || d.Late() && len(d.spoken(d.Round)) == 0 {
		return nil
	}
	schema := string(KindAssessment)
	if judging.Rubric != nil {
		schema = schemaRubric
	}
	id := "r" + strconv.Itoa(d.Round) + ".assessment."
	var calls []flow.Call
	for place, i := range d.bench {
		judge := &judging.Judges[i]
		if d.Done(id+judge.Name) || len(d.Dropped()) > 0 && d.IsDropped(judge.Name) {
			continue
		}
		call := judgeCall(d, judge, id+judge.Name, KindAssessment)
		call.Schema, call.Slot = schema, place
		call.Last = func(*flow.Record) string {
			return prompt.Fill(d.Text("assess."+judge.Name), d.Round) + d.gone() + d.measured()
		}
		calls = append(calls, call)
	}
	return calls
}

// verdictCalls returns the verdicts that are still missing.
func verdictCalls(d *Debate) []flow.Call {
	if d.config.Judging == nil {
		return nil
	}
	var calls []flow.Call
	for place, i := range d.bench {
		judge := &d.config.Judging.Judges[i]
		if len(d.Dropped()) > 0 && d.IsDropped(judge.Name) {
			continue
		}
		for _, swapped := range []bool{false, true} {
			if swapped && !d.config.Judging.BothOrders {
				break
			}
			call := verdictCall(d, judge, swapped)
			call.Slot = place
			if !d.Done(call.ID) {
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

func verdictCall(d *Debate, judge *JudgeConfig, swapped bool) flow.Call {
	id, text := "verdict."+judge.Name, "verdict."+judge.Name
	if swapped {
		id, text = id+swappedSuffix, text+swappedSuffix
	}
	call := judgeCall(d, judge, id, KindVerdict)
	call.Schema, call.View.Swapped = string(KindVerdict), swapped
	if swapped {
		call.Tag = tagSwapped
	}
	call.Last = func(*flow.Record) string {
		if !allArgumentsReceived(d.Record) {
			return prompt.Fill(d.Text(text+unfinishedSuffix), d.Round) + d.gone()
		}
		return prompt.Fill(d.Text(text), d.Round) + d.gone()
	}
	return call
}

func judgeCall(d *Debate, judge *JudgeConfig, id string, kind flow.CallKind) flow.Call {
	call := flow.Call{
		ID: id, Kind: kind, By: judge.Name, Performer: performer(judge.Judge, judge.Person), Model: judge.Model,
		Fallbacks: judge.Fallbacks, Judge: judge.Judge, Round: d.Round, System: d.Text("system." + judge.Name),
		View: flow.View{Labels: d.config.Judging.Anonymous}, MaxTokens: judge.MaxTokens, Temperature: judge.Temperature,
		Timeout: d.config.JudgeTimeout, OnFail: flow.OnFail{Ask: failingJudge, Drop: true}, Task: judgeTask,
	}
	if len(call.Fallbacks) > 0 && len(d.bench) > 1 && !d.config.Judging.OwnFamily {
		call.Fallbacks = slices.DeleteFunc(slices.Clone(call.Fallbacks), d.partial)
	}
	if model := d.Replacement(judge.Name); model != "" {
		call.Performer, call.Model, call.Judge = flow.ByModel, model, ""
	}
	return call
}

// gone tells a judge which of the participants in its instruction have been dropped.
func (d *Debate) gone() string {
	var names []string
	for _, name := range d.Dropped() {
		if d.Seat(name) < 0 {
			continue
		}
		name = d.Hide(name)
		names = append(names, name)
	}
	if len(names) == 0 {
		return ""
	}
	return "\n\nLeft the debate early, and not to be judged any more: " + strings.Join(names, ", ") + "."
}
