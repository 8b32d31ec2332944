package flow

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// advance does what is due. It starts the missing calls, or fires what the flow returns.
func (c *Core) advance() error {
	changes, others := 0, 0
	most := maxSteps * (1 + len(c.record.failing))
	for others < most && (changes < maxSteps || !c.machine.allows(c.record, TriggerFail)) { // while a person is awaited, nothing fails
		known := len(c.out.Events)
		again, err := c.once()
		if err != nil || !again {
			return err
		}
		if slices.ContainsFunc(c.out.Events[known:], changesState) {
			changes++
		} else {
			others++
		}
	}
	circle := errors.New("the flow changes states in a loop without making a call")
	return c.fail(&Error{Kind: provider.KindState, Op: "flow " + c.machine.flow.Name, Err: circle})
}

// changesState reports whether an event changes the state, and not because of a call that has failed: there are only so many of these.
func changesState(e Event) bool {
	change, ok := e.Body.(*Transition)
	return ok && change.Call == ""
}

// once does one thing that is due. again reports whether there may be more.
func (c *Core) once() (again bool, err error) {
	r := c.record
	if r.start == nil || r.Final() {
		return false, nil
	}
	working := c.machine.working(r.State)
	if working && r.owed != nil {
		return true, c.beginOwed()
	}
	step := c.machine.flow.Steps[r.work]
	due := due{core: c, kept: c.kept.holds()}
	calls, again, err := c.wants(step, working)
	if again || err != nil {
		return again, err
	}
	if again, err := c.leaveAnswered(step); again || err != nil {
		return again, err
	}
	if !working {
		return c.awaits(step)
	}
	if again, err := c.watchQuestions(); again || err != nil {
		return again, err
	}
	if next, err := c.watchBudget(step, calls); next != proceed || err != nil {
		return next == rerun, err
	}
	if again, err := c.watchRound(); again || err != nil {
		return again, err
	}
	if due.kept && !c.kept.holds() {
		return true, nil
	}
	if again, err := due.all(calls); again || err != nil {
		return again, err
	}
	switch {
	case due.busy:
		c.waitUntil(due.wait)
		c.waitUntil(r.times(c.in.At))
		return false, nil
	case due.asked:
		return true, c.fire(TriggerAsk, Exit{}, false)
	case due.overBudget:
		return true, c.reach(due.limit, due.short.Call, due.at)
	}
	return c.next(step)
}

// wants returns what the flow wants: nil while it is kept, for then calls are in flight. It takes back what is no longer wanted.
func (c *Core) wants(step Step, working bool) (calls []*Call, again bool, err error) {
	if c.kept.holds() {
		return nil, false, nil
	}
	if step.Calls != nil && (working || c.record.mayWithdraw()) {
		calls = step.Calls(c.record)
	}
	if again, err := c.withdraw(calls); again || err != nil {
		return nil, again, err
	}
	c.keep(step, calls)
	return calls, false, nil
}

// leaveAnswered goes back to the working state once no answer is missing, or a model is to be asked in the place of a person. After a hard
// limit it does so only if the answer was the last thing that the conclusion lacked: no call follows.
func (c *Core) leaveAnswered(step Step) (again bool, err error) {
	r := c.record
	switch r.State {
	case StateAwaitingInput:
	case StateError:
		if _, answer := c.in.Signal.(Answer); !answer {
			return false, nil
		}
	default:
		return false, nil
	}
	if !c.machine.allows(r, TriggerAnswered) || r.State == StateError && step.Calls != nil && r.lacks(step.Calls(r)) {
		return false, nil
	}
	return true, c.fire(TriggerAnswered, Exit{}, false)
}

// awaits watches the times of a conversation that waits for a person.
func (c *Core) awaits(step Step) (again bool, err error) {
	if c.record.State != StateAwaitingInput {
		return false, nil
	}
	if again, err := c.watchQuestions(); again || err != nil {
		return again, err
	}
	if next, err := c.watchTime(step, nil); next != proceed || err != nil {
		return next == rerun, err
	}
	c.waitUntil(c.record.times(c.in.At))
	return false, nil
}

// lacks reports whether a result of one of these calls is missing, and nobody has decided to do without it.
func (r *Record) lacks(calls []*Call) bool {
	return slices.ContainsFunc(calls, func(call *Call) bool { return !r.Settled(call.ID) })
}

// Settled reports whether a call has its result, was left out, or has failed and somebody has decided what follows. Nothing more comes of
// it then.
func (r *Record) Settled(call string) bool { return r.Done(call) || r.Skipped(call) || r.decided(call) }

// next fires what the flow returns once no call is missing.
func (c *Core) next(step Step) (again bool, err error) {
	on, exit := passing(c.record.State), Exit{}
	if step.Next != nil {
		var ok bool
		if on, exit, ok = step.Next(c.record); !ok {
			return c.stand()
		}
	}
	return c.fireOwn(on, exit)
}

// fireOwn fires a trigger of the flow, unless it would complete a conversation that still owes something.
func (c *Core) fireOwn(on Trigger, exit Exit) (again bool, err error) {
	if on == TriggerReopen {
		err := fmt.Errorf("flow %s fires %s, which only a host program does", c.machine.flow.Name, on)
		return true, c.fail(&Error{Kind: provider.KindState, Op: "flow " + c.machine.flow.Name, Err: err})
	}
	if failure := c.owing(on); failure != nil {
		return true, c.fail(failure)
	}
	if round := exit.Round; round != nil && round.N != c.record.Round && !c.record.follows(round) {
		gap := fmt.Errorf("flow %s begins round %d after round %d", c.machine.flow.Name, round.N, c.record.Round)
		return true, c.fail(&Error{Kind: provider.KindState, Op: "flow " + c.machine.flow.Name, Err: gap})
	}
	if err := c.fire(on, exit, false); err != nil {
		return false, c.fail(&Error{Kind: provider.KindState, Op: "flow " + c.machine.flow.Name, Err: err})
	}
	return true, nil
}

// stand waits where nothing is due. Something must be left that can happen: the result of a call, the end of the round's
// time, an input, an answer. Otherwise the conversation goes to the error state. So it does if a call has failed about
// which nobody has decided: no input is a decision.
func (c *Core) stand() (again bool, err error) {
	r := c.record
	undecided := r.undecided()
	switch {
	case len(r.inFlight) > 0 || undecided == nil && (!r.deadline().IsZero() || c.takesInput()):
		c.waitUntil(r.times(c.in.At))
		return false, nil
	case undecided != nil:
		return true, c.fail(undecided.stops(fmt.Sprintf("flow %s waits in state %s, but its Calls leaves out this call, which has failed, "+
			"or its Next does not go on without it", c.machine.flow.Name, r.State)))
	}
	stuck := fmt.Errorf("flow %s waits in state %s, but no call is in flight, nothing is due, and no input is possible",
		c.machine.flow.Name, r.State)
	return true, c.fail(&Error{Kind: provider.KindState, Op: "flow " + c.machine.flow.Name, Round: r.Round, Err: stuck})
}

// takesInput reports whether an input of the flow would be accepted now.
func (c *Core) takesInput() bool {
	return slices.ContainsFunc(c.machine.flow.Inputs, func(on Trigger) bool { return c.machine.allows(c.record, on) })
}

// passing returns the trigger that a lifecycle state without a step fires.
func passing(s State) Trigger {
	if s == StateInitializing {
		return TriggerInitialized
	}
	return TriggerCompleted
}

// owing returns why the conversation cannot be completed yet, if the trigger would complete it. nil: nothing is owed.
func (c *Core) owing(on Trigger) *Error {
	r, f := c.record, c.machine.flow
	rules := c.machine.rules[ruleKey{r.State, on}]
	if !slices.ContainsFunc(rules, func(rule Rule) bool { return rule.To == StateCompleted }) {
		return nil // without asking the guards, which the firing asks
	}
	if c.machine.leads(r, on) != StateCompleted {
		return nil
	}
	if call := r.undecided(); call != nil {
		return call.stops("the conversation cannot be completed: nobody has decided to do without this call")
	}
	if f.Owes == nil {
		return nil
	}
	owed := f.Owes(r)
	if len(owed) == 0 {
		return nil
	}
	err := errors.New("the conversation cannot be completed: it still lacks " + text.OneLine(strings.Join(owed, "; "), 400))
	return &Error{Kind: provider.KindState, Op: "flow " + f.Name, Round: r.Round, Err: err}
}

// undecided returns a call that has failed without a decision of a person, a rule or the flow. nil: there is none. Once somebody
// has ended the conversation early, only the calls of its conclusion are owed.
func (r *Record) undecided() *callState {
	for _, call := range r.failing {
		if r.undecidedAbout(call) && (r.EndedEarlyBy == "" || call.ending) {
			return call
		}
	}
	return nil
}

// undecidedAbout reports whether a call has failed and neither a person, a rule nor the flow has decided what follows. Failed
// summaries, and calls of dropped actors, need no decision.
func (r *Record) undecidedAbout(call *callState) bool {
	t := call.trouble
	return call.status == callFailed && call.intent.Upto == 0 && t != nil && t.failure != nil && !t.instead && !t.fired && t.chosen == "" &&
		!r.IsDropped(call.intent.By)
}

// stops returns the call's failure as the reason why the conversation stopped, prefixed with why.
func (c *callState) stops(why string) *Error {
	failure := *c.trouble.failure
	if failure.Err = errors.New(why); c.trouble.failure.Err != nil {
		failure.Err = fmt.Errorf("%s: %w", why, c.trouble.failure.Err)
	}
	return &failure
}
