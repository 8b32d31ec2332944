package progress

import (
	"cmp"

	"github.com/agonist-dev/debate/flow"
)

// Ending sums up a conversation that is over.
func (c *Course) Ending() string {
	line := c.PhaseWord()
	if c.Evidence != "" && c.State == flow.StateCanceled {
		line += ": " + c.Evidence
	}
	return line + ": " + c.Used() + ", " + Span(c.Last.Sub(c.Started))
}

// Used says what a conversation has used so far.
func (c *Course) Used() string {
	used := Plural(c.Calls, "call") + ", " + Plural(c.Tokens, "token")
	if c.Limit() > 0 || c.Spent.Cost > 0 || c.Unsettled().AtMost > 0 {
		return used + ", " + c.Paid()
	}
	return used
}

// Paid says what a conversation has cost so far, and of which limit.
func (c *Course) Paid() string {
	unsettled := c.Unsettled()
	paid := unsettled.Beside(c.Spent.Cost)
	if limit := c.Limit(); limit > 0 {
		if unsettled.AtMost > 0 {
			paid += ","
		}
		paid += " of " + limit.Rounded()
	}
	return paid
}

// Unsettled returns what calls may have cost beyond what is known. If the conversation is over, paused or in error, a call in flight counts
// as broken off: the process that makes it may have died.
func (c *Course) Unsettled() flow.Unsettled {
	sum := c.Spent.Unsettled
	if !c.Over() && c.State != flow.StatePaused && c.State != flow.StateError {
		return sum
	}
	for job := range c.jobs.Pending() {
		if job.InFlight && job.Reserve > 0 {
			sum = sum.Plus(flow.Unsettled{AtMost: job.Reserve, BrokenOff: 1})
		}
	}
	return sum
}

// Limit returns the limit of the cost, or 0 if there is none. A hard limit counts more than a soft one.
func (c *Course) Limit() flow.Money { return cmp.Or(c.Budget.Hard, c.Budget.Soft) }
