package debate

import "encoding/json"

// err is why the core is unusable: a Step or Fold failed half-way. A runtime drops such a core. nil: it is usable.
func (c *Core) err() error { return c.broken }

// started reports whether the debate has started. Nothing is recorded before.
func (c *Core) started() bool { return c.record.start != nil }

// refusal reports why a trigger is not possible now: an [*Error] of kind state. nil: it is possible.
func (c *Core) refusal(on Trigger) error {
	if c.machine.allows(c.record, on) {
		return nil
	}
	return c.machine.refusal(c.record, on)
}

// hasWork reports whether a process is needed now: the state makes calls, or calls are in flight.
func (c *Core) hasWork() bool {
	return c.machine.working(c.record.State) || c.record.InFlight() > 0
}

// over reports whether nothing more can be recorded: the debate is final, and no call is in flight.
func (c *Core) over() bool { return c.record.Final() && c.record.InFlight() == 0 }

// inFlightAs reports whether this attempt of the call is in flight and no control has aborted it.
func (c *Core) inFlightAs(call string, attempt int) bool {
	state := c.record.opened(call)
	return state != nil && state.status == callOpen && state.intent.Attempt == attempt && !state.aborted
}

// maxText is how many bytes of text the reply to a command may have.
func (c *Command) maxText() int {
	if c.Request == nil {
		return 0
	}
	return mostBytes(c.Request.MaxTokens)
}

// sameEvent reports whether two events are equal as they are stored.
func sameEvent(a, b *Event) bool {
	left, errL := json.Marshal(a)
	right, errR := json.Marshal(b)
	return errL == nil && errR == nil && string(left) == string(right)
}
