package debate

import (
	"strconv"

	"github.com/agonist-dev/debate/flow"
)

// seats returns every part of the config that asks models.
func (c *Config) seats() flow.Seats {
	at := func(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }
	var all flow.Seats
	for i := range c.Participants {
		all = append(all, c.Participants[i].seat(c, at("participants", i)))
	}
	if c.Judging != nil {
		for i := range c.Judging.Judges {
			all = append(all, c.Judging.Judges[i].seat(at("judging.judges", i)))
		}
	}
	if c.Audience != nil {
		for i := range c.Audience.Members {
			all = append(all, c.Audience.Members[i].seat(at("audience.members", i)))
		}
	}
	if c.Assign != nil {
		all = append(all, c.Assign.seat())
	}
	return all
}

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
