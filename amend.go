package debate

import (
	"maps"
	"slices"

	"github.com/agonist-dev/debate/flow"
)

// amendable reports what of an amendment a debate cannot change: the rounds of a format that fixes them, and models of
// those whom no model can stand in for. A judge who is no model can be replaced by one; a member of the audience votes for
// itself.
func amendable(r *flow.Record, a *flow.Amendment) []error {
	d := of(r)
	var f flow.Findings
	if a.Rounds != nil && d.format.Rounds > 0 && *a.Rounds != d.format.Rounds {
		f.Addf("rounds", "are fixed: the format %s has %d", d.format.Name, d.format.Rounds)
	}
	var known, own []string
	for i := range d.config.Participants {
		known = append(known, d.config.Participants[i].Name)
	}
	if d.config.Judging != nil {
		for i := range d.config.Judging.Judges {
			known = append(known, d.config.Judging.Judges[i].Name)
		}
	}
	if d.config.Audience != nil {
		for i := range d.config.Audience.Members {
			m := &d.config.Audience.Members[i]
			if known = append(known, m.Name); m.Model == "" {
				own = append(own, m.Name)
			}
		}
	}
	if d.config.AssignPositions != nil {
		known = append(known, assigner)
	}
	for _, name := range slices.Sorted(maps.Keys(a.Models)) {
		if !slices.Contains(known, name) {
			f.Addf("models", "%w", flow.Unknown("actor", name, known...))
		}
		if slices.Contains(own, name) {
			f.Addf("models", "%q is no model", name)
		}
	}
	return f
}
