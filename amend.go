package debate

import "github.com/agonist-dev/debate/flow"

// amendable reports what of an amendment a debate cannot change: the rounds of a format that fixes them.
func amendable(r *flow.Record, a *flow.Amendment) []error {
	var f flow.Findings
	if format := of(r).format; a.Rounds != nil && format.Rounds > 0 && *a.Rounds != format.Rounds {
		f.Addf("rounds", "are fixed: the format %s has %d", format.Name, format.Rounds)
	}
	return f
}
