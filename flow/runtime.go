package flow

import (
	"encoding/json"

	"github.com/agonist-dev/debate/internal/secret"
)

// Err returns why the core is unusable, or nil if it is usable. A core becomes unusable when a Step or Fold fails
// half-way. A runtime then drops it.
func (c *Core) Err() error { return c.broken }

// Started reports whether the conversation has started. Before that, nothing is recorded.
func (c *Core) Started() bool { return c.record.start != nil }

// Refusal returns why a trigger is not possible now, as an [*Error] of kind state. nil: it is possible.
func (c *Core) Refusal(on Trigger) error {
	if c.machine.allows(c.record, on) {
		return nil
	}
	return c.machine.refusal(c.record, on)
}

// HasWork reports whether a process needs the lease of the conversation now: its state makes calls, or calls are in
// flight.
func (c *Core) HasWork() bool {
	return c.machine.working(c.record.State) || c.record.InFlight() > 0
}

// Over reports whether nothing more can be recorded: the conversation is final, and no call is in flight.
func (c *Core) Over() bool { return c.record.Final() && c.record.InFlight() == 0 }

// InFlightAs reports whether this attempt of the call is in flight and no control has aborted it.
func (c *Core) InFlightAs(call string, attempt int) bool {
	state := c.record.callByID(call)
	return state != nil && state.status == callInFlight && state.intent.Attempt == attempt && !state.aborted
}

// Queue marks an attempt in flight as one that waits for its turn. It is for the readers of this core's record: a runtime
// that knows of the wait calls it on a core of its own, and nothing is recorded.
func (c *Core) Queue(call string, attempt int) {
	if c.InFlightAs(call, attempt) {
		c.record.callByID(call).unbegun = true
	}
}

// Streams returns the beginning of the chunks of an attempt that is in flight and whose text readers may watch: a chunk without
// text. nil: there is no such attempt.
func (c *Core) Streams(call string, attempt int) *Chunk {
	state := c.current(call, attempt)
	if state == nil || state.intent.Tool != "" {
		return nil
	}
	schema, _ := c.machine.flow.watched(state.intent.Schema)
	return &Chunk{Call: call, Attempt: attempt, By: state.intent.By, Schema: schema}
}

// Secret returns 32 bytes drawn from the conversation's seed for one use. They are the same in every process, and as secret as
// the seed. ok is false before the conversation has started.
func (c *Core) Secret(use string) (drawn [32]byte, ok bool) {
	if !c.Started() {
		return drawn, false
	}
	return secret.Digest(c.record.start.Seed, use), true
}

// MaxText bounds the text of the reply to a command, in bytes. 0: the command has no request.
func (c *Command) MaxText() int {
	if c.Request == nil {
		return 0
	}
	return maxReplyBytes(c.Request.MaxTokens)
}

// SameEvent reports whether two events are equal as they are stored: whether they have the same JSON. An event that
// cannot be encoded equals none.
func SameEvent(a, b *Event) bool {
	left, errL := json.Marshal(a)
	right, errR := json.Marshal(b)
	return errL == nil && errR == nil && string(left) == string(right)
}
