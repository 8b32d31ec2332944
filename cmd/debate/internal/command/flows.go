package command

import (
	"cmp"
	"slices"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
)

// flows returns the flows that an engine runs, in the order of their names.
func flows(engine *debate.Engine) []*flow.Flow {
	out := []*flow.Flow{debate.DebateFlow()}
	for _, f := range engine.Flows {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b *flow.Flow) int { return cmp.Compare(a.Name, b.Name) })
	return out
}
