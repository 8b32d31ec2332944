package deliberation

import (
	"time"

	"github.com/agonist-dev/debate/flow"
)

// amendable refuses times of a round and of a call with which the phases of a deliberation cannot fit.
func amendable(r *flow.Record, a *flow.Amendment) []error {
	if a.RoundTimeout == nil && a.TurnTimeout == nil {
		return nil
	}
	var f flow.Findings
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
