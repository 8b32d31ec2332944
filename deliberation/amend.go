package deliberation

import (
	"maps"
	"slices"
	"time"

	"github.com/agonist-dev/debate/flow"
)

// replaceable returns the names of those who can be given another model.
func (d *Deliberation) replaceable() []string {
	names := slices.Collect(maps.Keys(d.seats))
	if d.config.Judge.Model != "" {
		names = append(names, nameJudge)
	}
	return names
}

// amendable reports what of an amendment a deliberation cannot change: models of those whom nobody asks, and the time of a round to
// one that its phases cannot fit.
func amendable(r *flow.Record, a *flow.Amendment) []error {
	d := of(r)
	var f flow.Findings
	for _, name := range slices.Sorted(maps.Keys(a.Models)) {
		if d.seats[name] == nil && (name != nameJudge || d.config.Judge.Model == "") {
			f.Addf("models", "%w", flow.Unknown("agent", name, d.replaceable()...))
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
