package flow

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/agonist-dev/debate/internal/secret"
	"github.com/agonist-dev/debate/provider"
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

// Wake returns when a process has to step a [Tick] of a conversation that waits for a person, on the clock of the inputs: a limit of
// its time is reached then, or the time of a question is over. Zero: no process has to.
func (c *Core) Wake() time.Time {
	if c.record.State != StateAwaitingInput || c.record.InFlight() > 0 {
		return time.Time{}
	}
	at := c.record.wakes(time.Time{})
	if !at.IsZero() {
		at = at.Add(-c.ahead)
	}
	return at
}

// Untold is Wake of a conversation that waits since before logs said so: no append has set its alarm. Zero: its log says so, or no process
// has to step.
func (c *Core) Untold() time.Time {
	if !c.record.told.Wake.IsZero() {
		return time.Time{}
	}
	return c.Wake()
}

// Over reports whether nothing more can be recorded: the conversation is final, and no call is in flight.
func (c *Core) Over() bool { return c.record.Final() && c.record.InFlight() == 0 }

// InFlightAs reports whether this attempt of the call is in flight and no control has aborted it.
func (c *Core) InFlightAs(call string, attempt int) bool {
	state := c.record.callByID(call)
	return state != nil && state.status == callInFlight && state.intent.Attempt == attempt && !state.aborted
}

// Queue marks an attempt in flight as one that waits for its turn. Nothing is recorded: only readers of this core's record see
// the wait. A runtime that knows of the wait calls Queue on a core of its own.
func (c *Core) Queue(call string, attempt int) {
	if c.InFlightAs(call, attempt) {
		c.record.callByID(call).unbegun = true
	}
}

// Streams returns the first chunk, without text, of an attempt that is in flight and whose text readers may watch. nil: there
// is no such attempt.
func (c *Core) Streams(call string, attempt int) *Chunk {
	state := c.current(call, attempt)
	if state == nil || state.intent.Tool != "" {
		return nil
	}
	schema, _ := c.machine.flow.watched(state.intent.Schema)
	return &Chunk{Call: call, Attempt: attempt, By: state.intent.By, Schema: schema, Hidden: state.intent.Hidden}
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

// Next is what is left to a runtime after Engine.Advance. It holds no text, so that a workflow engine may store it.
type Next struct {
	// Calls are all calls in flight: those that the signal has begun, and those from before. The runtime makes each of them once.
	Calls []Lost `json:"calls,omitempty"`
	// Abort names those of the Calls that a control has aborted. The runtime aborts them, and still reports their outcomes. It
	// begins none of them; Engine.Call makes sure of that.
	Abort []string `json:"abort,omitempty"`
	// Wait is after how long a Tick is due, from now on. 0: none is. It replaces the Wait of the Next before. It is set beside Idle
	// if a person is awaited and the time of a question, or a limit of the budget's time, is still to be reached.
	Wait time.Duration `json:"wait,omitempty"`
	// Idle says that no process needs to work on the conversation: it is over, in the error state, paused, or waits for a person,
	// and no call is in flight.
	Idle bool `json:"idle,omitempty"`
	// Over says that nothing more can be recorded.
	Over  bool  `json:"over,omitempty"`
	State State `json:"state"`
	Round int   `json:"round,omitempty"` // from 1; 0: before the first
	Seq   int64 `json:"seq"`             // the number of the last event
}

// opening is the last Opened of a log, and what its owner has begun since. A runtime that gives the same Opened again, with the same
// ID, has not learned of these calls, so that nobody has made any of them.
//
// It is the zero value where somebody else may have begun calls since, or the runtime has learned of one.
type opening struct {
	Opened

	since []*callState // the calls that were begun since; always nil if there is no ID
}

func (o *opening) begin(call *callState) {
	if o.ID != "" {
		o.since = append(o.since, call)
	}
}

// end takes an outcome. If the call was begun since the opening, its runtime has learned of it, or another one has taken over.
func (o *opening) end(call *callState) {
	if slices.Contains(o.since, call) {
		*o = opening{}
	}
}

// foldOpened folds that a process has resumed the log. No process has worked on the conversation since its last event.
func (r *Record) foldOpened(o *Opened, at time.Time) error {
	if why := notReason(o.ID); why != "" {
		return invalid("opened.id", "%s", why)
	}
	r.shift(at.Sub(r.LastAt))
	r.opened = opening{Opened: *o}
	return nil
}

// OpenedAs reports whether a runtime has stepped this same Opened before, and cannot have made any call that was begun since
// and is in flight. It is false for an Opened without an ID.
func (c *Core) OpenedAs(o Opened) bool { return o.ID != "" && c.record.opened.Opened == o }

// onOpened records that the conversation was resumed after a break, if a round's time or an outage is running: the break does not
// count as time of the round, nor of the outage. It also records an opening that has an ID, and the one that follows such an opening.
func (c *Core) onOpened(s Opened) error {
	if why := notReason(s.ID); why != "" {
		return &Error{Kind: provider.KindValidation, Op: "open", Field: "id", Err: errors.New(why)}
	}
	if c.record.start == nil || !c.machine.working(c.record.State) {
		return nil
	}
	if c.record.deadline().IsZero() && len(c.record.outages) == 0 && s.ID == "" && c.record.opened.ID == "" {
		return nil
	}
	return c.emit(Event{Body: &s})
}
