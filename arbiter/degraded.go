package arbiter

import (
	"fmt"

	"github.com/agonist-dev/debate/flow"
)

// Degraded lists where the work fell short of its config, one line each:
//   - what has ended it early; see [flow.Record.CutShort]
//   - who was dropped
//   - what its warnings name: what was left out, or cut by the budget
//   - options that were left out of requests, because the models lack them
//   - if the task is complete, how many steps of the plan were left; if the work ended otherwise, that the task was not
//     declared complete
//
// It is empty if nothing was missing. Its JSON has the same, under "degraded".
func (w *Work) Degraded() []string {
	var out []string
	if cut := w.CutShort(); cut != "" {
		out = append(out, cut)
	}
	for _, name := range w.Dropped() {
		out = append(out, name+" has taken no further part")
	}
	for i := range w.Warnings {
		switch w.Warnings[i].Kind {
		case flow.WarnLeftOut, flow.WarnLate, flow.WarnCapped:
			out = append(out, w.Warnings[i].Evidence)
		default: // about the budget and windows, or about what has passed
		}
	}
	for _, left := range w.LeftOut() {
		out = append(out, left.String())
	}
	switch _, complete := w.Summary(); {
	case !complete && w.Final():
		out = append(out, "the task was not declared complete")
	case complete && w.plan != nil && w.plan.Left() > 0:
		out = append(out, fmt.Sprintf("steps left of the plan: %d of %d", w.plan.Left(), len(w.plan.Steps)))
	}
	return out
}
