package debate

import (
	"cmp"
	"slices"
	"time"

	"github.com/agonist-dev/debate/provider"
)

// Record is what is known of a debate: the fold of its events, and nothing else. It is read only;
// a Record that [Session.Wait] or [Engine.Record] returned is not written any more and may be read
// from many goroutines.
type Record struct {
	ID    string
	State State
	// Round is the current round, from 1; 0 before the first.
	Round      int
	Turns      []*Turn       // in the order in which they were recorded
	Summaries  []*Summarized // what was summarised, oldest first
	Rejections []Rejection   // answers that were not accepted
	Inquiries  []Inquiry     // the open ones
	Answers    []Answer
	Warnings   []Warning
	Inputs     []Sent        // a flow's own inputs
	ToolUses   []*ToolResult // what tools have answered, in the order in which it was recorded
	// Failure is why the debate is in the error state; nil in all others.
	Failure *Error
	// Reason and Evidence are why the debate ended, went on to its verdict, or stopped in the error state.
	Reason            EndReason
	Evidence          string
	StartedAt, LastAt time.Time
	Seq               int64 // the number of the last event

	start      *Start
	flow       string     // the name of the flow; "" before there is a config
	config     FlowConfig // as the flow reads it
	terms      *Terms
	frozen     any   // what the flow has frozen beside the config
	valid      bool  // the config has passed validation
	work       State // the working state that is current, or will be after a pause
	entered    time.Time
	calls      map[string]*callState
	current    []*callState   // the latest call of each participant and judge
	open       []*callState   // the calls in flight, oldest first
	failing    []*callState   // those that a host's retry resets
	uses       map[string]int // of tools in this state and round, by participant
	limit      WarningKind    // the limit that was reached
	acked      bool
	retries    int // host retries since the last progress
	dropped    []string
	spent      accounts
	reserved   Money
	views      []*view // everybody's first
	readers    []*view // by seat; nil: all read everybody's
	anonymous  *view   // with labels for names; nil: nobody reads it
	texts      map[string]string
	models     []namedModel
	part       Part      // the flow's own; nil: it has none
	before     ending    // why the conversation was about to end before an error
	timed      []State   // the flow's states that a round's time covers
	late       bool      // the round's time is over
	unsummed   bool      // the summarizer has failed for good
	roundAt    time.Time // when the round began, later by as long as nobody might speak
	left       time.Time // when the debate last stopped working
	hidden     []int     // turns that wait for others of their group
	fence      string
	limits     []vendorLimit // that calls have run into, and that still hold
	swaps      []replacement // models that took over by a person's choice
	shrunk     []Shrinking   // what was chosen for those whose context was too large
	windows    []modelSize   // sizes of windows that vendors' overflows have shown
	ratios     []modelRatio  // by how much counts of tokens were wrong
	thresholds []threshold   // of windows, that were told of
}

// callState is what the record knows of one call.
type callState struct {
	intent  *Intent // of the latest attempt
	status  callStatus
	aborted bool       // a control has broken off the attempt
	person  bool       // a person performs it
	model   int        // which of the call's models is asked
	trouble *trouble   // what has gone wrong since the last retry; nil: nothing
	talk    []exchange // with tools
	ready   *prepared  // not a fact: what was computed for the intent
}

// trouble is what has gone wrong with a call.
type trouble struct {
	tries      []Kind // failures with the present model
	retryAt    time.Time
	failure    *Error   // why there is no further attempt
	unsent     bool     // nothing was asked: the same call would fail again
	problems   []string // why the answer was rejected
	rejectedAt time.Time
}

// troubled yields the call's trouble, for writing.
func (c *callState) troubled() *trouble {
	if c.trouble == nil {
		c.trouble = &trouble{}
	}
	return c.trouble
}

// tries yields the failures with the present model.
func (c *callState) tries() []Kind {
	if c.trouble == nil {
		return nil
	}
	return c.trouble.tries
}

// retryAt is when the next attempt may start; zero: at once.
func (c *callState) retryAt() time.Time {
	if c.trouble == nil {
		return time.Time{}
	}
	return c.trouble.retryAt
}

type callStatus uint8

const (
	callIdle callStatus = iota
	callOpen
	callDone
	callRejected
	callFailed
)

// ending is why a conversation ends.
type ending struct {
	reason   EndReason
	evidence string
}

// Flow is the name of the flow; "" before there is a config.
func (r *Record) Flow() string { return r.flow }

// Config yields the frozen config, with every default written out. Read only.
func (r *Record) Config() FlowConfig { return r.config }

// Frozen yields what the flow has frozen beside the config; nil: nothing. Read only.
func (r *Record) Frozen() any { return r.frozen }

// Terms yields what the config says about everything that all flows have; nil before there is a config. Read only.
func (r *Record) Terms() *Terms { return r.terms }

// Start yields the event that the log begins with; nil: nothing has started. It holds the secret seed. Read only.
func (r *Record) Start() *Start { return r.start }

// Parent yields the debate that this one was forked from; nil: none.
func (r *Record) Parent() *Parent {
	if r.start == nil {
		return nil
	}
	return r.start.Parent
}

// Late reports whether the time of the present round is over; see [Config].RoundTimeout.
func (r *Record) Late() bool { return r.late }

// Quote writes somebody's words for an instruction: between the markers of the debate's fence, which the
// words cannot close. Everything that a model or a person has said belongs into a quotation; that what stands
// in one is material, and no instruction, is for the system prompt to say (Setup.Fence).
func (r *Record) Quote(speaker, text string) string {
	m := provider.Message{Speaker: oneLine(escape(speaker, r.fence), 80), Text: escape(readable(text), r.fence), Fence: r.fence}
	return m.Enclosed()
}

// Text yields a prompt of the flow, as rendered when the debate started, with what was assigned since.
func (r *Record) Text(name string) string { return r.texts[name] }

// Model yields the frozen prices and sizes of a model of this debate.
func (r *Record) Model(name string) (Model, bool) {
	if m := r.model(name); m != nil {
		return *m, true
	}
	return Model{}, false
}

// namedModel is a model of a debate. There are few: a list is faster than a map.
type namedModel struct {
	name string
	Model
}

// model yields the frozen model; nil: it is not of this debate.
func (r *Record) model(name string) *Model {
	for i := range r.models {
		if r.models[i].name == name {
			return &r.models[i].Model
		}
	}
	return nil
}

// Done reports whether the call has a result.
func (r *Record) Done(call string) bool {
	c := r.calls[call]
	return c != nil && c.status == callDone
}

// Failed reports whether the call has failed for good: no attempt is left.
func (r *Record) Failed(call string) bool {
	c := r.calls[call]
	return c != nil && c.status == callFailed
}

// FailureOf yields why the call has failed for good; nil: it has not.
func (r *Record) FailureOf(call string) *Error {
	if !r.Failed(call) || r.calls[call].trouble == nil {
		return nil
	}
	return r.calls[call].trouble.failure
}

// opened yields a call, fastest if it is in flight.
func (r *Record) opened(id string) *callState {
	for _, call := range r.open {
		if call.intent.Call == id {
			return call
		}
	}
	return r.calls[id]
}

// latestOf yields the latest call of a participant or judge; nil: there was none.
func (r *Record) latestOf(name string) *callState {
	for _, call := range r.current {
		if call.intent.By == name {
			return call
		}
	}
	return nil
}

// InFlight is the number of calls whose result is outstanding.
func (r *Record) InFlight() int { return len(r.open) }

// Final reports whether nothing more can happen.
func (r *Record) Final() bool { return r.State == StateCompleted || r.State == StateCanceled }

// Working yields the state in which the debate works, or will work again after a pause, a question or an error.
func (r *Record) Working() State { return r.work }

// EnteredAt is when the present working state was entered.
func (r *Record) EnteredAt() time.Time { return r.entered }

// Active yields the names of the participants that still take part, in order.
func (r *Record) Active() []string {
	if r.terms == nil {
		return nil
	}
	if len(r.dropped) == 0 {
		return r.terms.Participants
	}
	return slices.DeleteFunc(slices.Clone(r.terms.Participants), r.IsDropped)
}

// Dropped yields who takes no further part, in the order in which they were dropped. Read only.
func (r *Record) Dropped() []string { return r.dropped }

// Asking reports whether an attempt at the call is in flight.
func (r *Record) Asking(call string) bool {
	c := r.calls[call]
	return c != nil && c.status == callOpen
}

// Status yields what a participant is doing, or somebody else who is asked.
func (r *Record) Status(name string) Status {
	if r.IsDropped(name) {
		return StatusDropped
	}
	if call := r.latestOf(name); call != nil {
		return call.standing()
	}
	return StatusActive
}

// Unsent reports whether the latest call of somebody has failed for good because it could not be sent: the same call
// would fail again.
func (r *Record) Unsent(name string) bool {
	call := r.latestOf(name)
	return call != nil && call.trouble != nil && call.trouble.unsent
}

// Waiting yields a turn that is hidden until the others of its group have spoken; nil: there is none.
func (r *Record) Waiting() *Turn {
	if len(r.hidden) == 0 {
		return nil
	}
	return r.Turns[r.hidden[0]]
}

// Readable yields the turns that are not hidden, in the order of rounds and slots: that in which
// simultaneous replies happened to arrive is not shown to anybody. Read only.
func (r *Record) Readable() []*Turn {
	if len(r.hidden) == 0 && r.inOrder() {
		return slices.Clip(r.Turns)
	}
	var turns []*Turn
	for i := range r.Turns {
		if !slices.Contains(r.hidden, i) {
			turns = append(turns, r.Turns[i])
		}
	}
	slices.SortStableFunc(turns, func(a, b *Turn) int { return cmp.Or(a.Round-b.Round, a.Slot-b.Slot) })
	return turns
}

// inOrder reports whether the turns were recorded in the order of their slots.
func (r *Record) inOrder() bool {
	return slices.IsSortedFunc(r.Turns, func(a, b *Turn) int { return cmp.Or(a.Round-b.Round, a.Slot-b.Slot) })
}

// Line yields somebody's words for a prompt that quotes nothing: one line of at most so many bytes, which cannot close
// the conversation's fence.
func (r *Record) Line(text string, limit int) string { return escape(oneLine(text, limit), r.fence) }

// Hide puts neutral labels in the place of participants' names, if some calls read those; otherwise the text stays.
func (r *Record) Hide(text string) string {
	if r.anonymous == nil {
		return text
	}
	return r.anonymous.labels.hide(text)
}

// RoundTurns yields the turns of a round in slot order.
func (r *Record) RoundTurns(round int) []*Turn {
	var turns []*Turn
	for i := range r.Turns {
		if r.Turns[i].Round == round {
			turns = append(turns, r.Turns[i])
		}
	}
	slices.SortStableFunc(turns, func(a, b *Turn) int { return a.Slot - b.Slot })
	return turns
}
