package deliberation

import (
	"maps"
	"slices"

	"github.com/agonist-dev/debate/flow"
)

// amendable reports what of an amendment a deliberation cannot change: models of those whom nobody asks.
func amendable(r *flow.Record, a *flow.Amendment) []error {
	d := of(r)
	var f flow.Findings
	for _, name := range slices.Sorted(maps.Keys(a.Models)) {
		if d.seats[name] == nil && (name != nameJudge || d.config.Judge.Model == "") {
			f.Addf("models", "%q is no agent", name)
		}
	}
	return f
}
