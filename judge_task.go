package debate

import (
	"cmp"
	"encoding/json"
	"slices"
)

// JudgeTask is what a judge is asked. What it points to is shared: read only.
type JudgeTask struct {
	Debate  string
	Call    string   // deterministic: an idempotency key together with Attempt
	Attempt int      // from 1
	Kind    CallKind // KindAssessment, KindVerdict, or KindBallot
	Topic   string
	Round   int
	Rounds  int
	// Participants are those who still take part. Their models are left out, and with neutral labels
	// their names are the labels, in Turns too.
	Participants []Participant
	Turns        []*Turn // oldest first; their text is hostile
	Instruction  string  // what a model would be told, problems of a rejected answer included
	Schema       json.RawMessage
	Labels       map[string]string
}

// task makes what a judge from outside is asked.
func (r *Record) task(ready *prepared, intent *Intent) *JudgeTask {
	task := &JudgeTask{
		Debate: r.ID, Call: intent.Call, Attempt: intent.Attempt, Kind: intent.Kind, Topic: r.config.Topic,
		Round: r.Round, Rounds: r.config.Rounds, Instruction: ready.last, Schema: wireJSON(ready.wire), Labels: r.config.Labels,
	}
	if !ready.call.View.None {
		task.Turns = r.readable()
	}
	for _, seat := range r.shownTo(intent) {
		if p := r.placed(seat); !r.isDropped(p.Name) {
			p.Model, p.Fallbacks = "", nil
			task.Participants = append(task.Participants, p)
		}
	}
	if intent.Swapped {
		turns := task.Turns
		task.Turns = reversedRuns(turns, func(i, j int) bool {
			return turns[i].Hidden && turns[j].Hidden && turns[i].Round == turns[j].Round
		})
	}
	if ready.call.View.Labels {
		r.anonymous.labels.hideTask(task)
	}
	return task
}

// shownTo yields the seats in the order in which a judge is shown the participants.
func (r *Record) shownTo(intent *Intent) []int {
	order := make([]int, len(r.config.Participants))
	for i := range order {
		order[i] = i
	}
	if judge := r.seatOfJudge(intent.By); judge >= 0 {
		order = judgesOrder(r.start.Seed, judge, len(order))
	}
	if intent.Swapped {
		slices.Reverse(order)
	}
	return order
}

// readable yields the turns that are not hidden, in the order of rounds and slots: that in which
// simultaneous replies happened to arrive is not shown to anybody.
func (r *Record) readable() []*Turn {
	if len(r.hidden) == 0 && r.inOrder() {
		return slices.Clip(r.Turns)
	}
	var turns []*Turn
	for i := range r.Turns {
		if !r.hides(i) {
			turns = append(turns, r.Turns[i])
		}
	}
	slices.SortStableFunc(turns, func(a, b *Turn) int { return cmp.Or(a.Round-b.Round, a.Slot-b.Slot) })
	return turns
}

func (r *Record) hides(turn int) bool {
	return slices.Contains(r.hidden, turn)
}

// inOrder reports whether the turns were recorded in the order of their slots.
func (r *Record) inOrder() bool {
	return slices.IsSortedFunc(r.Turns, func(a, b *Turn) int { return cmp.Or(a.Round-b.Round, a.Slot-b.Slot) })
}
