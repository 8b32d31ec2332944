package flow

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// A core moves a conversation on, and does nothing itself. Its files follow the way of an input:
//
//   - core_input: what can happen to a conversation, such as a result, a control, or the end of a wait
//   - core: Step turns an input into events, and the record folds each of them at once
//   - core_step: then what is due is done, one thing after the other, until nothing is
//   - core_kept: what a flow wants that need not be asked for it again
//   - core_due: what each call needs that the flow lacks: a start, a wait, a decision, or a summary first
//   - core_deadline: rounds whose time is over
//   - core_need: what an engine must have for a call
//   - core_runtime: what a runtime asks a core
//
// What is due follows from the record alone. So a core that is made from a log goes on where another one has stopped, whichever
// process that was. An attempt at a call is recorded before it is made: after a crash the log says what may have been paid for.

// Core is one conversation without any I/O. It starts no goroutine, reads no clock and draws no random number.
// [Core.Step] takes an input and returns what follows from it. A runtime around the core saves the events and
// performs the commands. The same inputs give the same events.
//
// A Core has one owner at a time: it is not safe for concurrent use. [NewCore] makes one.
type Core struct {
	machine    *Machine
	flows      map[string]*Machine // by name: before the start an Edit may choose any of them
	plans      map[string]window.Manager
	absent     func(Need) error // see Flows.Missing
	record     *Record
	in         Input
	ahead      time.Duration // by how much the times of the log are ahead of those of the inputs
	out        Output
	wires      map[string]wire              // schemas as they are sent, by name
	counts     counts                       // tokens of texts that many requests contain
	begun      []begun                      // the calls that the last Step has begun
	concluding *conclusion                  // as it was asked for last; nil: it may be another by now
	hidden     map[token.Counter]hiddenSize // what hidden turns add to the conversation; by whose tokens, nil: in bytes
	kept       *kept                        // what the flow wants in the present state; nil: it is asked
	found      []Warning                    // what the checks of the config have found
	shown      []*Turn                      // of the record, as tools read them
	broken     error                        // a Step or Fold failed half-way: the owner must drop the core
}

// Flows are the compiled flows by name. First is the flow of a conversation that has no config yet.
type Flows struct {
	Machines map[string]*Machine
	First    string
	// Missing returns why the runtime cannot give what a call needs, or nil if it can. The error wraps [ErrMissing]. It
	// must not change while a core runs. nil: the runtime lacks nothing.
	Missing func(Need) error
}

// NewCore makes the core of a stored conversation from its events. The first event names the flow. Without events
// the core is that of a conversation that is not configured yet. contexts are the context managers by the names in
// Settings.Context.
//
// The error is of kind validation if the flow is not registered, if its version cannot be continued, or if an event
// does not fit the log. In the first two cases, and if the log or the kind of an event is of a newer release, it wraps [ErrMissing].
// NewCore keeps no reference to the slice; it shares the bodies of the events, and does not change them.
func NewCore(flows Flows, contexts map[string]window.Manager, id string, events []Event) (*Core, error) {
	name, version := flows.First, 0
	if len(events) > 0 {
		if start, ok := events[0].Body.(*Start); ok {
			name, version = start.Flow, start.FlowVersion
		}
	}
	m := flows.Machines[name]
	if m == nil {
		err := fmt.Errorf("%w: %w", ErrMissing, Unregistered("flow", "Engine.Flows", name, slices.Collect(maps.Keys(flows.Machines))...))
		return nil, &Error{Kind: provider.KindValidation, Op: "open", Field: "flow", Err: err}
	}
	if least := m.flow.oldest(); version != 0 && (version > m.flow.Version || version < least) {
		return nil, &Error{Kind: provider.KindValidation, Op: "open", Field: "flowVersion", Err: fmt.Errorf(
			"%w: the conversation was started with version %d of flow %s; this program continues versions %d to %d",
			ErrMissing, version, name, least, m.flow.Version)}
	}
	c := &Core{
		machine: m, flows: flows.Machines, plans: contexts, absent: flows.Missing, record: newRecord(id),
	}
	for i := range events {
		if err := c.foldStored(events[i]); err != nil {
			return nil, fmt.Errorf("event %d: %w", i+1, err)
		}
	}
	return c, nil
}

// Flow returns the flow of the conversation. It is read only.
func (c *Core) Flow() *Flow { return c.machine.flow }

// Record returns the record. The core keeps writing to it: its owner may read it between Steps.
func (c *Core) Record() *Record { return c.record }

// Step takes one input. The caller then does what the [Output] says.
//
//   - A refused input is an *[Error] of kind state or validation, and changes nothing.
//   - A result that was stepped before, or that belongs to an outdated attempt, is ignored without an error.
//   - If a Step fails half-way, the core is unusable; see [Core.Err].
func (c *Core) Step(in Input) (Output, error) {
	if _, ok := in.Signal.(Opened); ok { // what is due depends on the Losts that follow
		return c.step(in, func() error { return nil })
	}
	return c.step(in, c.advance)
}

// StepRemote takes a control of a host program, as [Core.Step] does, but starts no call and does nothing else that is
// due. It is for a process without the lease of the conversation. The process that has the lease, or acquires it
// next, continues from there and aborts the calls in Output.Abort. A signal that is no control is an error of kind
// validation.
//
// If calls can run, the control gets the time of the last event: the clock of this process may be ahead, and would cut short the waits
// of the other process. While the time of a round stands still, since a person is asked, it gets its own: the round's time goes on then
// from the answer.
func (c *Core) StepRemote(in Input) (Output, error) {
	switch in.Signal.(type) {
	case Pause, Resume, Stop, Cancel, Retry, Answer, Sent, Note, Amendment:
		if r := c.record; c.machine.working(r.State) && !r.stands(c.machine) {
			in.At = r.LastAt.Add(-c.ahead)
		}
		return c.step(in, c.answered)
	default:
		return Output{}, &Error{Kind: provider.KindValidation, Op: "step remote", Err: text.IsNo(in.Signal, "control")}
	}
}

// StepDrain takes an input as [Core.Step] does, but starts no call and does nothing else that is due. It is for a runtime
// that only finishes its calls in flight, before it leaves the conversation to another one.
func (c *Core) StepDrain(in Input) (Output, error) { return c.step(in, c.answered) }

// Fold takes an event that another process has appended to the log. Events are folded in the order of their numbers,
// without gaps. After an error the core is unusable; see [Core.Err]. A [Redacted] gives such an error, [ErrRewritten]: the core
// holds texts that are no longer in the log, and its owner must make a new core from the whole log.
func (c *Core) Fold(e Event) error {
	if c.broken != nil {
		return c.broken
	}
	if _, rewritten := e.Body.(*Redacted); rewritten {
		c.broken = ErrRewritten
		return c.broken
	}
	if err := c.foldStored(e); err != nil {
		c.broken = fmt.Errorf("event %d: %w", c.record.Seq+1, err)
		return c.broken
	}
	return nil
}

// foldStored folds an event of a log. If only the flow has its kind, the flow decodes it.
func (c *Core) foldStored(e Event) error {
	e, err := c.machine.flow.DecodeEvent(e)
	if err != nil {
		return err
	}
	if err := c.record.fold(&e, c.machine); err != nil {
		return err
	}
	c.folded(&e)
	return nil
}

// folded brings values that are kept up to date with an event, or drops those that it has made invalid.
func (c *Core) folded(e *Event) {
	switch body := e.Body.(type) {
	case *Dropped:
		c.wires = nil // they name the participants
	case *Round:
		if len(c.record.dropped) > 0 {
			c.wires = nil
		}
	case *Transition:
		if body.To == StateCompleting {
			c.wires = nil // those of the rounds are needed no longer
		}
	}
	if c.kept != nil && !c.kept.fold(c.record, e) {
		c.kept = nil
	}
	if in, begins := e.Body.(*Intent); !begins || in.Attempt > 1 { // what has failed may be no failure any more
		c.concluding = nil
	}
}

// step takes an input, then calls after.
func (c *Core) step(in Input, after func() error) (Output, error) {
	if c.broken != nil {
		return Output{}, c.broken
	}
	in.At = c.timeOf(in.At)
	clear(c.begun)
	c.in, c.out, c.begun = in, Output{Events: c.out.Events[:0]}, c.begun[:0]
	if err := c.dispatch(in.Signal); err != nil {
		if len(c.out.Events) > 0 {
			c.broken = err
		}
		return Output{}, err
	}
	if err := after(); err != nil {
		c.broken = err
		return Output{}, err
	}
	if err := c.tellQuestions(); err != nil {
		c.broken = err
		return Output{}, err
	}
	if !c.out.Wait.IsZero() {
		c.out.Wait = c.out.Wait.Add(-c.ahead)
	}
	return c.out, nil
}

// timeOf returns the time of an input on the clock of the log. The times of facts never decrease, whatever the clocks of
// processes say: where the log is ahead, its clock goes on from its last fact as fast as that of the inputs.
func (c *Core) timeOf(at time.Time) time.Time {
	now := at.Add(c.ahead)
	if now.Before(c.record.LastAt) {
		c.ahead, now = c.record.LastAt.Sub(at), c.record.LastAt
	}
	return now
}

// answered withdraws what the flow no longer wants, and goes back to the working state once no answer is missing.
func (c *Core) answered() error {
	step := c.machine.flow.Steps[c.record.work]
	if step.Calls != nil && c.record.mayWithdraw() && !c.record.Final() && !c.kept.holds() {
		calls := step.Calls(c.record)
		again, err := c.withdraw(calls)
		if err != nil {
			return err
		}
		if !again {
			c.keep(step, calls)
		}
	}
	_, err := c.leaveAnswered(step)
	return err
}

// InFlight returns a Lost for each call in flight. A runtime that opens the log of another process steps each of them
// once, because the outcome of those calls is unknown.
func (c *Core) InFlight() []Lost {
	lost := make([]Lost, len(c.record.inFlight))
	for i, call := range c.record.inFlight {
		lost[i] = Lost{Call: call.intent.Call, Attempt: call.intent.Attempt}
	}
	return lost
}

// emit numbers a fact, folds it, and adds it to the output.
func (c *Core) emit(e Event) error {
	e.Seq, e.At = c.record.Seq+1, c.in.At
	c.out.Events = append(c.out.Events, e)
	added := &c.out.Events[len(c.out.Events)-1] // e itself would have to move to the heap
	if err := c.record.fold(added, c.machine); err != nil {
		c.out.Events = c.out.Events[:len(c.out.Events)-1]
		if _, first := e.Body.(*Start); !first { // a start is checked before it is folded; another event may be folded in part
			c.broken = err
		}
		return err
	}
	c.folded(added)
	return nil
}

// fire changes the state by the table. Nothing else changes it, but an input; see sent.
func (c *Core) fire(on Trigger, exit Exit, drain bool) error {
	to, err := c.machine.fire(c.record, on)
	if err != nil || to == StateUnchanged {
		return err
	}
	return c.enter(to, on, exit, drain)
}

// enter changes the state to the one to which the table leads.
func (c *Core) enter(to State, on Trigger, exit Exit, drain bool) error {
	from := c.record.State
	if c.record.start == nil { // nothing is logged before the start
		c.record.State = to
		return nil
	}
	for i := range exit.Warnings {
		if err := c.warn(&exit.Warnings[i]); err != nil {
			return err
		}
	}
	change := &Transition{
		From: from, To: to, On: on, Reason: exit.Reason, Evidence: exit.Evidence, By: exit.By, Drain: drain, Calls: exit.Calls,
		Person: exit.person, Call: exit.call, Whole: exit.whole, Spent: c.record.spent.total.Cost,
	}
	change.Unsettled = c.record.unsettledBy(change)
	if to == StateError {
		change.Failure = exit.Failure
	}
	if result := c.machine.flow.Result; result != nil && to == StateCompleted {
		change.Result = result(c.record)
	}
	if exit.Round != nil && exit.Round.N != c.record.Round {
		change.Round = exit.Round
	}
	if err := c.emit(Event{Body: change}); err != nil {
		return err
	}
	return c.beginOwed()
}

// beginOwed begins the round that the log owes. The transition that leads to it is in the same commit, but a log may be cut between
// the two.
func (c *Core) beginOwed() error {
	if owed := c.record.owed; owed != nil {
		return c.emit(Event{Body: owed})
	}
	return nil
}

// begin records the start of a conversation, and what there is to warn of.
func (c *Core) begin(start *Start, to State) error {
	if err := c.emit(Event{Body: start}); err != nil {
		return err
	}
	if err := c.enter(to, TriggerStart, Exit{Warnings: c.found}, false); err != nil {
		return err
	}
	return c.foresee(start)
}

// dispatch checks an input against the record and folds its facts.
func (c *Core) dispatch(signal Signal) error {
	switch s := signal.(type) {
	case Outcomes:
		return c.outcomes(s)
	case Result, Failed, Lost, GivenUp:
		return c.ended(s)
	case Tick:
		return nil
	case Opened:
		return c.onOpened(s)
	case Edit, Validate, Validated, Start:
		return c.setUp(signal)
	case Answer:
		return c.answer(s)
	case Sent:
		return c.sent(s)
	case Note:
		return c.say(s)
	case Reopened:
		return c.reopen(s)
	case Amendment:
		return c.amend(&s)
	default:
		return c.control(signal)
	}
}

// setUp takes the inputs that come before the first call.
func (c *Core) setUp(signal Signal) error {
	switch s := signal.(type) {
	case Edit:
		return c.edit(s)
	case Validate:
		return c.fire(TriggerValidate, Exit{}, false)
	case Validated:
		return c.validated(s)
	case Start:
		to, err := c.machine.fire(c.record, TriggerStart)
		if err != nil {
			return err
		}
		if s.Flow != c.machine.flow.Name {
			err := fmt.Errorf("the start is of flow %q, the config of %q", text.OneLine(s.Flow, 40), c.machine.flow.Name)
			return &Error{Kind: provider.KindValidation, Op: string(TriggerStart), Field: "flow", Err: err}
		}
		return c.begin(&s, to)
	default:
		return noStep(text.IsNo(signal, "signal"))
	}
}

// edit takes another config.
func (c *Core) edit(s Edit) error {
	if !c.machine.allows(c.record, TriggerEdit) {
		return c.machine.refusal(c.record, TriggerEdit)
	}
	config := Unnamed(s.Config)
	if config == nil {
		return &Error{Kind: provider.KindValidation, Op: string(TriggerEdit), Field: "config", Err: errors.New("is missing")}
	}
	name, settings := cmp.Or(s.Flow, s.Config.Flow()), s.Settings
	if m := c.flows[name]; m != nil { // validation reports an unknown flow
		own, err := m.typed(config, "the config")
		if err != nil {
			return err
		}
		c.machine, config = m, own
	}
	if settings == nil {
		settings = c.machine.flow.Complete(config.Settings())
	}
	c.record.flow, c.record.config, c.record.settings, c.record.valid = name, config, settings, false
	return c.fire(TriggerEdit, Exit{}, false)
}

// ended takes the outcome of an attempt.
func (c *Core) ended(outcome Signal) error {
	switch s := outcome.(type) {
	case Result:
		return c.result(s)
	case Failed:
		return c.failed(s)
	case Lost:
		return c.lost(s)
	case GivenUp:
		return c.late(s.Outcome)
	default:
		return noStep(text.IsNo(outcome, "outcome"))
	}
}

// isOutcome returns why a signal is no outcome of an attempt; nil: it is one.
func isOutcome(s Signal) error {
	wanted := "outcome"
	switch came := s.(type) {
	case Result, Failed, Lost:
		return nil
	case GivenUp:
		switch s = came.Outcome; s.(type) {
		case Result, Failed:
			return nil
		}
		wanted = "result or failure"
	}
	return noStep(text.IsNo(s, wanted))
}

// noStep refuses what a step was given.
func noStep(err error) *Error { return &Error{Kind: provider.KindValidation, Op: "step", Err: err} }

// outcomes takes those of several attempts. Each has random bits of its own, so that calls that have failed together are not made again
// at the same moment.
func (c *Core) outcomes(all Outcomes) error {
	for _, outcome := range all { // before any is recorded
		if err := isOutcome(outcome); err != nil {
			return err
		}
	}
	seed := c.in.Bits
	for i, outcome := range all {
		if c.in.Bits = seed; i > 0 {
			c.in.Bits = mixed(seed, uint64(i))
		}
		if err := c.ended(outcome); err != nil {
			return err
		}
	}
	return nil
}

// mixed returns the nth of the numbers that the generator SplitMix64 makes of a seed.
func mixed(seed, n uint64) uint64 {
	z := seed + n*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// control takes the inputs that only fire a trigger.
func (c *Core) control(signal Signal) error {
	var on Trigger
	var reason, person string
	drain := false
	switch s := signal.(type) {
	case Pause:
		on, reason, person, drain = TriggerPause, s.Reason, s.Person, s.Drain
	case Resume:
		on, reason, person = TriggerResume, s.Reason, s.Person
	case Retry:
		on, reason, person = TriggerRetry, s.Reason, s.Person
	case Stop:
		on, reason, person = TriggerStop, s.Reason, s.Person
	case Cancel:
		on, reason, person = TriggerCancel, s.Reason, s.Person
	default:
		return noStep(text.IsNo(signal, "signal"))
	}
	if err := cmp.Or(checkReason(string(on), reason), checkPerson(string(on), person)); err != nil {
		return err
	}
	if on == TriggerRetry && c.machine.working(c.record.State) && c.record.waiting() {
		return c.emit(Event{Body: &RetriedNow{Reason: reason, Person: person}})
	}
	exit := Exit{Evidence: hostEvidence(on, reason), person: person}
	if on == TriggerStop || on == TriggerCancel {
		exit.Reason, exit.By = EndHost, EndedByHost
	}
	if err := c.fire(on, exit, drain); err != nil {
		return err
	}
	if on == TriggerResume || on == TriggerRetry {
		return c.prolong()
	}
	if exit.By != "" || on == TriggerPause && !drain {
		c.abort()
	}
	return nil
}

func (c *Core) validated(s Validated) error {
	on := TriggerInvalid
	if s.OK {
		on = TriggerValid
	}
	if c.record.State != StateValidating {
		return c.machine.refusal(c.record, on)
	}
	c.record.valid, c.found = s.OK, s.Warnings
	return c.fire(on, Exit{}, false)
}

// abort asks the runtime to abort every call in flight.
func (c *Core) abort() {
	for _, call := range c.record.inFlight {
		c.out.Abort = append(c.out.Abort, call.intent.Call)
	}
}

// maxSteps bounds how often a flow may change its state without a call. Beyond it the flow is in a circle. It bounds what else is
// done one thing after the other as well: as often for each call that has failed, since hundreds may fail together.
const maxSteps = 1000

// fail goes to the error state.
func (c *Core) fail(err *Error) error {
	return c.fire(TriggerFail, Exit{Failure: err, Reason: EndFailed, Evidence: err.Error()}, false)
}
