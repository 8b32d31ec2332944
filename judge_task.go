package debate

import (
	"encoding/json"
	"slices"

	"github.com/agonist-dev/debate/flow"
)

// JudgeTask is what a judge is asked. What it points to is shared and read only.
type JudgeTask struct {
	Debate  string
	Call    string        // deterministic; with Attempt it is an idempotency key
	Attempt int           // from 1
	Kind    flow.CallKind // KindAssessment, KindVerdict, or KindBallot
	Topic   string
	Round   int
	Rounds  int
	// Participants are those who still take part, without their models. With neutral labels, their names are the
	// labels, in Turns too.
	Participants []Participant
	Turns        []*flow.Turn // oldest first; their text is hostile
	Instruction  string       // what a model would be told, including the problems of a rejected answer
	Schema       json.RawMessage
	Labels       map[string]string
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
