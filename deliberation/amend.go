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

// amendable reports what of an amendment a deliberation cannot change: models of those whom nobody asks, and the times of a round and of
// a call to ones with which its phases cannot fit.
func amendable(r *flow.Record, a *flow.Amendment) []error {
	d := of(r)
	var f flow.Findings
	for _, name := range slices.Sorted(maps.Keys(a.Models)) {
		if d.seats[name] == nil && (name != nameJudge || d.config.Judge.Model == "") {
			f.Addf("models", "%w", flow.Unknown("agent", name, d.replaceable()...))
		}
	}
	if a.RoundTimeout == nil && a.TurnTimeout == nil {
		return f
	}
	round, turn := r.Settings().RoundTimeout, r.Settings().TurnTimeout
	if a.RoundTimeout != nil {
		round = time.Duration(*a.RoundTimeout)
	}
	if a.TurnTimeout != nil {
		turn = time.Duration(*a.TurnTimeout)
	}
	roundTime(&f, round, turn)
	return f
}
