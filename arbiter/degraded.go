package arbiter

import (
	"fmt"

	"github.com/agonist-dev/debate/prompt"
)

// Degraded lists where the work fell short of its config, one line each:
//   - what the record of any conversation lists; see [flow.Record.Degraded]
//   - which calls were left out
//   - if the task is complete, how many steps of the plan were left; if the work ended otherwise, that the task was not
//     declared complete
//
// It is empty if nothing was missing. Its JSON has the same, under "degraded".
func (w *Work) Degraded() []string {
	out := w.Record.Degraded(owes, nil)
	for i := range w.SkippedCalls {
		s, what := &w.SkippedCalls[i], "a decision"
		if s.Kind == KindExecution {
			what = fmt.Sprintf("an execution in round %d", s.Round)
		}
		out = append(out, s.Missed(what))
	}
	switch _, complete := w.Summary(); {
	case !complete && w.Final() && w.EndedEarlyBy == EndedByLimit:
		out = append(out, fmt.Sprintf("the limit of %s was reached, and the task was not declared complete: raise maxIterations",
			prompt.Count(w.Record.Settings().Rounds, "execution")))
	case !complete && w.Final():
		out = append(out, "the task was not declared complete")
	case complete && w.plan != nil && w.plan.Left() > 0:
		out = append(out, fmt.Sprintf("steps left of the plan: %d of %d", w.plan.Left(), len(w.plan.Steps)))
	}
	return out
}
