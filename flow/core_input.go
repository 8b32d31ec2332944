package flow

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// Input is one thing that happens to a conversation. It carries its time and its random bits, so that the core
// needs no clock and draws no random number.
type Input struct {
	// At is the time by the clock of the process. If the log is ahead of At, because the clock of the process that wrote it was, the
	// core remembers the difference, so that waits keep their length. A core that is made anew for each input forgets it.
	//
	// The engine's own runtime counts by the clock of the store (see store.Clock), which a process reads with the lease at most once in
	// a third of one, and by a monotonic clock from then on. Its At is never behind the log.
	At     time.Time
	Bits   uint64 // random; jitter is computed from them
	Signal Signal
}

// Signal is the content of an [Input]: one of the types below, or a [Start], [Answer], [Sent], [Note], [Amendment] or [Opened], which are
// bodies of events too and are recorded as they arrive. It is given as a value. Anything else is refused, also a pointer to one.
type Signal any

// The signals that are no bodies of events.
type (
	// Edit sets the config of a conversation that has not started.
	Edit struct {
		Flow     string // "": the config's own
		Config   Config
		Settings *Settings // the config's, with every default written out; nil: the engine makes them
	}
	// Validate begins the checks.
	Validate struct{}
	// Validated ends the checks. OK reports their result. The start records the warnings.
	Validated struct {
		OK       bool
		Warnings []Warning
	}
	// Pause stops new calls. Without Drain the calls in flight are aborted.
	//
	// The Reason of a Pause, Resume, Stop, Cancel or Retry is why the host program asks for it: one line of at most MaxReason
	// bytes, or "". The Evidence of its transition holds it: "paused by the host: it is late". Person names who asks the host program for
	// it, as the host program knows them; it is such a line too. The transition has it apart from the evidence, and no prompt has it.
	Pause struct {
		Drain          bool
		Reason, Person string
	}
	// Resume continues after a pause.
	Resume struct{ Reason, Person string }
	// Stop concludes with the turns there are. Without any turn, or after an error, the conversation ends at once.
	Stop struct{ Reason, Person string }
	// Cancel ends the conversation without a conclusion.
	Cancel struct{ Reason, Person string }
	// Retry goes back to the state that an error interrupted, and tries the failed call again. While calls wait for an outage
	// to pass, or for their next attempt, it makes them at once; a RetriedNow then holds the Reason.
	Retry struct{ Reason, Person string }
	// Tick reports that time has passed, so that a wait may be over.
	Tick struct {
		// Seq is for Engine.Advance: the Wait of the Next with this Seq is over by the clock of the runtime, whatever Input.At says.
		// 0: Input.At decides.
		Seq int64
	}
	// Result is the reply to an attempt. Call and Attempt are those of its [Command]. A Result and a Failed survive JSON.
	Result struct {
		Call        string
		Attempt     int
		Text        string              // free text, or the JSON of an answer
		Stop        provider.StopReason // "": the end
		Attachments []File              // of a person's answer
		// Quotations is what the runtime has found about quotations in Text, by the document and the words; see [Command].Quotes.
		Quotations map[string]Quotation
		// Calls are the tools that the model asks for, instead of a reply or beside it.
		Calls []provider.ToolCall
		Free  bool // nothing was paid: the reply came from a cache of the host program's
		Usage provider.Usage
		Took  time.Duration // without the time in queues
		// Queued is the time in queues.
		Queued time.Duration
		// Metadata is what the vendor says beside the reply; nil: nothing. See [MetadataOf].
		Metadata *Metadata
	}
	// Failed reports that an attempt gave no reply. Call and Attempt are those of its [Command].
	Failed struct {
		Call    string
		Attempt int
		Error   *Error // see Classify
		Free    bool   // nothing was paid
		Void    bool   // the runtime aborted the attempt because it stops: the call is made again, and this does not count as a try
		// Unreached means that the provider could not be connected to, so nothing was sent.
		Unreached bool
		Usage     provider.Usage // what was paid, as far as it is known
		// Partial means that Usage is what the vendor had counted until the attempt was broken off. Without it a Usage, or a cost in
		// Metadata, is all that was paid.
		Partial  bool
		Took     time.Duration // without the time in queues
		Queued   time.Duration // the time in queues
		Metadata *Metadata     // what the vendor says of what was paid; nil: nothing
	}
	// Lost reports that the outcome of an attempt is unknown, because the process that made it is gone. The attempt
	// counts as broken off and is made again, except for the use of a tool that is neither read-only nor idempotent: a person or
	// the [ToolPolicy] decides about that.
	//
	// A runtime that takes over a conversation steps one Lost for each call in [Core.InFlight]. It does not step
	// one for a call that it is still making itself.
	Lost struct {
		Call    string
		Attempt int
	}
	// GivenUp reports what came of an attempt that the runtime had given up, because the code that made it ignored the end of its context. A
	// Failed has ended the attempt then. It is recorded as a [Late]. If the attempt is still in flight, or if nothing more can be recorded,
	// it is ignored.
	GivenUp struct {
		Outcome Signal // a Result or a Failed; a runtime that moves a GivenUp as JSON moves this one, whose type it knows
	}
	// Outcomes are those of several attempts that have ended at the same time, in the order in which they came: each is a Result, a
	// Failed, a Lost or a GivenUp. They are recorded one after the other, and what is due then follows. So a runtime can save them in one
	// commit.
	Outcomes []Signal
)

// Opened reports that a process resumes a log that another process has left. The runtime steps it once when it
// opens the log, before any Lost. Opened starts no call: the runtime steps a Tick after the last Lost.
type Opened struct {
	By string `json:"by,omitempty" redact:"-"` // the owner of the lease
	// ID identifies a repeated Opened, which a runtime gives to Engine.Advance again if it does not know whether the first
	// was recorded. One line of at most MaxReason bytes; "": an Opened is never recognised as a repeat.
	ID string `json:"id,omitempty" redact:"-"`
}

// Output is what a Step asks its runtime to do, in the order of the fields. It is valid until the next Step.
type Output struct {
	// Events are to be appended to the log in one commit. The runtime does nothing else, and shows none of them,
	// before that commit succeeds.
	Events []Event
	// Abort names calls in flight that the runtime should abort. It still steps their results.
	Abort []string
	// Start names calls that the runtime should make, all at the same time. Core.Command returns each of them.
	Start []string
	// Wait is when a Tick is due, by the clock of Input.At. It replaces the Wait of the Output before. Zero: no Tick is due.
	Wait time.Time
	// Missing is set if a call is due for which the runtime lacks something; see Flows.Missing. It is not begun, and no call
	// after it; Start names those before it that were, if there were hundreds to begin.
	// The runtime finishes its calls in flight with Core.StepDrain, and leaves the conversation to another one.
	Missing error
}

// sent takes an input of the flow's own. The rule of the present state that allows it is the one that applies: it is
// chosen before the input is recorded.
func (c *Core) sent(s Sent) error {
	if !c.machine.input(s.Trigger) {
		err := text.Absent("input", "known to flow "+c.machine.flow.Name, s.Trigger, c.machine.flow.Inputs...)
		if len(c.machine.flow.Inputs) == 0 {
			err = WithMend(err, "send nothing: the flow takes no input")
		}
		return &Error{Kind: provider.KindState, Op: "send", Err: err}
	}
	to, err := c.machine.fire(c.record, s.Trigger)
	if err != nil {
		return err
	}
	if err := c.admit(&s); err != nil {
		return err
	}
	if err := c.emit(Event{Body: &s}); err != nil || to == StateUnchanged {
		return err
	}
	return c.enter(to, s.Trigger, Exit{}, false)
}

// admit returns why an input that is legal now is refused all the same.
func (c *Core) admit(s *Sent) error {
	if err := ReadableJSON(s.Payload); err != nil {
		return &Error{Kind: provider.KindValidation, Op: "send", Field: "payload", Err: err}
	}
	if err := cmp.Or(checkReason("send", s.Reason), checkPerson("send", s.Person)); err != nil {
		return err
	}
	s.Payload = slices.Clone(s.Payload) // the log keeps it
	if c.machine.flow.Admit == nil {
		return nil
	}
	return refusedInput(c.machine.flow.Admit(c.record, s))
}

// refusedInput returns the error of a flow about an input as one of the operation "send". Its kind is validation if it has none.
func refusedInput(err error) error {
	if err == nil {
		return nil
	}
	all := Within("send", "", err)
	for _, one := range all {
		if e, ok := errors.AsType[*Error](one); ok && e.Kind == "" {
			e.Kind = provider.KindValidation
		}
	}
	if len(all) == 1 {
		return all[0]
	}
	return errors.Join(all...)
}
