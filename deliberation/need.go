package deliberation

import "github.com/agonist-dev/debate/flow"

// actors returns one call for each actor that the rest of a deliberation may ask; see [flow.Flow.Asks].
func actors(r *flow.Record) []*flow.Call {
	b := read(r)
	var calls []*flow.Call
	for i := range b.agents {
		calls = append(calls, &flow.Call{By: b.agents[i].ID, Model: b.agents[i].Model, Fallbacks: b.agents[i].Fallbacks})
	}
	if j := b.config.Judge; j.Model != "" {
		calls = append(calls, &flow.Call{By: nameJudge, Model: j.Model, Fallbacks: j.Fallbacks})
	}
	return append(calls, b.registered()...)
}
