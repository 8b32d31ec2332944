package deliberation

import (
	"maps"
	"slices"
	"time"

	"github.com/agonist-dev/debate/flow"
)

// amendable reports what of an amendment a deliberation cannot change: models of those whom nobody asks, and the time of a round to
// one that its phases cannot fit.
func amendable(r *flow.Record, a *flow.Amendment) []error {
	d := of(r)
	var f flow.Findings
	for _, name := range slices.Sorted(maps.Keys(a.Models)) {
		if d.seats[name] == nil && (name != nameJudge || d.config.Judge.Model == "") {
			f.Addf("models", "%q is no agent", name)
		}
	}
	if a.RoundTimeout != nil {
		turn := flow.Duration(r.Settings().TurnTimeout)
		if a.TurnTimeout != nil {
			turn = *a.TurnTimeout
		}
		roundTime(&f, time.Duration(*a.RoundTimeout), time.Duration(turn))
	}
	return f
}
