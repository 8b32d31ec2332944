package debate

import (
	"encoding/json"
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
			return prompt.Fill(d.Text(textAssess.of(judge.Name)), d.Round) + d.gone() + d.measured()
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
	id := "verdict." + judge.Name
	text := textVerdict.of(judge.Name)
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
		Fallbacks: judge.Fallbacks, Function: judge.Judge, Round: d.Round, System: d.Text(textSystem.of(judge.Name)),
		View: flow.View{Labels: d.config.Judging.Anonymous}, MaxTokens: judge.MaxTokens, Temperature: judge.Temperature,
		Timeout: d.config.JudgeTimeout, OnFail: flow.OnFail{Ask: failingJudge, Drop: true}, Task: judgeTask,
	}
	if len(call.Fallbacks) > 0 && len(d.bench) > 1 && !d.config.Judging.OwnFamily {
		call.Fallbacks = slices.DeleteFunc(slices.Clone(call.Fallbacks), d.partial)
	}
	if model := d.Replacement(judge.Name); model != "" {
		call.Performer, call.Model, call.Function = flow.ByModel, model, ""
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

// JudgeTask is what a judge is asked. What it points to is shared and read only.
type JudgeTask struct {
	Debate  string        // the debate's id
	Call    string        // deterministic; with Attempt it is an idempotency key
	Attempt int           // from 1
	Kind    flow.CallKind // KindAssessment, KindVerdict, or KindBallot
	Topic   string
	Round   int // of an assessment: the round that is judged; otherwise the latest round
	Rounds  int // the largest number of rounds
	// Participants are those who still take part, without their models. With neutral labels, their names are the
	// labels, in Turns too.
	Participants []Participant
	Turns        []*flow.Turn      // oldest first; their text is hostile
	Instruction  string            // what a model would be told, including the problems of a rejected answer
	Schema       json.RawMessage   // the JSON schema that the answer must match
	Labels       map[string]string // Config.Labels
}

// judgeTask makes the task of a judge that is not a model.
func judgeTask(r *flow.Record, asked flow.Asked) any {
	d, call := of(r), asked.Call
	task := &JudgeTask{
		Debate: d.ID, Call: asked.ID, Attempt: asked.Attempt, Kind: call.Kind, Topic: d.config.Topic,
		Round: d.Round, Rounds: d.config.Rounds, Instruction: asked.Instruction, Schema: asked.Schema, Labels: d.config.Labels,
	}
	if !call.View.None {
		task.Turns = d.Readable()
	}
	for _, seat := range d.shownTo(call) {
		if p := d.placed(seat); !d.IsDropped(p.Name) {
			p.Model, p.Fallbacks = "", nil
			task.Participants = append(task.Participants, p)
		}
	}
	if call.View.Swapped {
		task.Turns = swapped(task.Turns)
	}
	if call.View.Labels {
		d.hideTask(task)
	}
	return task
}

// swapped returns turns in their order, except that each group that spoke at once is reversed.
func swapped(turns []*flow.Turn) []*flow.Turn {
	out := slices.Clone(turns)
	for i := 0; i < len(out); {
		j := i + 1
		for j < len(out) && out[i].Hidden && out[j].Hidden && out[i].Round == out[j].Round {
			j++
		}
		slices.Reverse(out[i:j])
		i = j
	}
	return out
}

// shownTo returns the seats in the order in which a judge is shown the participants.
func (d *Debate) shownTo(call *flow.Call) []int {
	order := make([]int, len(d.config.Participants))
	for i := range order {
		order[i] = i
	}
	if judge := d.seatOfJudge(call.By); judge >= 0 && judge < len(d.drawn.Orders) {
		order = slices.Clone(d.drawn.Orders[judge])
	}
	if call.View.Swapped {
		slices.Reverse(order)
	}
	return order
}

// hideTask replaces names by labels in what a judge that is not a model is shown. It copies the task's turns, which
// belong to the debate.
func (d *Debate) hideTask(task *JudgeTask) {
	task.Topic = d.Hide(task.Topic)
	for i := range task.Participants {
		p := &task.Participants[i]
		p.Name, p.Position, p.Persona, p.Instructions = d.Hide(p.Name), d.Hide(p.Position), d.Hide(p.Persona), ""
	}
	turns := make([]*flow.Turn, len(task.Turns))
	for i, t := range task.Turns {
		hidden := *t
		hidden.Spend = flow.Spend{Call: d.Hide(t.Call), Attempt: t.Attempt}
		hidden.Speaker, hidden.Target, hidden.Text = d.Hide(t.Speaker), d.Hide(t.Target), d.Hide(t.Text)
		turns[i] = &hidden
	}
	task.Turns = turns
}
