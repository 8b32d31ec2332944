package debate

import (
	"strconv"

	"github.com/agonist-dev/debate/flow"
)

// seats yields every part of the config that asks models.
func (c *Config) seats() flow.Seats {
	return func(yield func(flow.Seat) bool) {
		at := func(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }
		for i := range c.Participants {
			if !yield(c.Participants[i].seat(c, at("participants", i))) {
				return
			}
		}
		for i := range c.judges() {
			if !yield(c.Judging.Judges[i].seat(at("judging.judges", i))) {
				return
			}
		}
		for i := range c.members() {
			if !yield(c.Audience.Members[i].seat(at("audience.members", i))) {
				return
			}
		}
		if c.Floor != nil && !yield(c.Floor.seat()) {
			return
		}
		if c.AssignPositions != nil {
			yield(c.AssignPositions.seat())
		}
	}
}

// judges returns who judges.
func (c *Config) judges() []JudgeConfig {
	if c.Judging == nil {
		return nil
	}
	return c.Judging.Judges
}

// members returns who is in the audience.
func (c *Config) members() []Member {
	if c.Audience == nil {
		return nil
	}
	return c.Audience.Members
}

// asks returns one call for each actor that the rest of a debate may ask; see flow.Flow.Asks.
func asks(r *flow.Record) []*flow.Call {
	d := of(r)
	calls := assignCalls(d)
	for i := range d.config.Participants {
		call := new(flow.Call)
		d.config.Participants[i].seat(d.config, "").AskIn(d.Record, call)
		calls = append(calls, call)
	}
	for _, i := range d.bench {
		calls = append(calls, judgeCall(d, &d.config.Judging.Judges[i], "", KindVerdict))
	}
	for i := range d.config.members() {
		calls = append(calls, memberCall(d, &d.config.Audience.Members[i], "", KindBallot))
	}
	if d.config.Floor != nil {
		calls = append(calls, d.floorCall(1))
	}
	return calls
}
