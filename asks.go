package debate

import "github.com/agonist-dev/debate/flow"

// asks returns one call for each actor that the rest of a debate may ask; see flow.Flow.Asks.
func asks(r *flow.Record) []flow.Call {
	d := of(r)
	calls := assignCalls(d)
	for _, p := range d.config.Participants {
		calls = append(calls, flow.Call{By: p.Name, Model: p.Model, Fallbacks: p.Fallbacks})
	}
	for _, i := range d.bench {
		calls = append(calls, judgeCall(d, &d.config.Judging.Judges[i], "", KindVerdict))
	}
	if d.config.Audience != nil {
		for i := range d.config.Audience.Members {
			calls = append(calls, memberCall(d, &d.config.Audience.Members[i], "", KindBallot))
		}
	}
	return calls
}
