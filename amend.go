package debate

import (
	"errors"

	"github.com/agonist-dev/debate/flow"
)

// amendable reports what of an amendment a debate cannot change: the rounds of a format that fixes them, and those of a debate that goes on
// for one answer alone.
func amendable(r *flow.Record, a *flow.Amendment) []error {
	var f flow.Findings
	switch d := of(r); {
	case a.Rounds == nil:
	case d.format.Rounds > 0 && *a.Rounds != d.format.Rounds:
		f.Addf("rounds", "are fixed: the format %s has %d", d.format.Name, d.format.Rounds)
	case d.alone && *a.Rounds > d.Round:
		err := errors.New("none follows: the debate goes on for one answer alone")
		f.Addf("rounds", "%w", flow.WithMend(err, "reopen it with rounds once it is over"))
	}
	return f
}
