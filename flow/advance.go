package flow

import (
	"errors"

	"github.com/agonist-dev/debate/provider"
)

// advance does what is due. It starts the missing calls, or fires what the flow returns.
func (c *Core) advance() error {
	for range maxSteps {
		again, err := c.once()
		if err != nil || !again {
			return err
		}
	}
	circle := errors.New("the flow goes in a circle without asking anybody")
	return c.fail(&Error{Kind: provider.KindState, Op: "flow " + c.machine.flow.Name, Err: circle})
}

// once does one thing that is due. again reports whether there may be more.
func (c *Core) once() (again bool, err error) {
	r := c.record
	if r.State == StateAwaitingInput {
		if !c.machine.allows(r, TriggerAnswered) {
			return false, nil
		}
		return true, c.fire(TriggerAnswered, Exit{}, false)
	}
	if r.start == nil || !c.machine.working(r.State) {
		return false, nil
	}
	if c.owed != nil {
		return true, c.emit(Event{Body: c.owed})
	}
	if next, err := c.watchBudget(); next != proceed || err != nil {
		return next == rerun, err
	}
	if again, err := c.watchRound(); again || err != nil {
		return again, err
	}
	step := c.machine.flow.Steps[r.State]
	due := due{core: c}
	if step.Calls != nil {
		if again, err := due.all(step.Calls(r)); again || err != nil {
			return again, err
		}
	}
	switch {
	case due.busy:
		c.waitUntil(due.wait)
		c.waitUntil(r.times(c.in.At))
		return false, nil
	case due.asked:
		return true, c.fire(TriggerAsk, Exit{}, false)
	case due.overBudget:
		return true, c.reach(due.limit, due.short.Call, due.what)
	}
	return c.next(step)
}

// next fires what the flow returns once no call is missing.
func (c *Core) next(step Step) (again bool, err error) {
	on, exit := passing(c.record.State), Exit{}
	if step.Next != nil {
		var ok bool
		if on, exit, ok = step.Next(c.record); !ok {
			return false, nil
		}
	}
	if err := c.fire(on, exit, false); err != nil {
		return false, c.fail(&Error{Kind: provider.KindState, Op: "flow " + c.machine.flow.Name, Err: err})
	}
	return true, nil
}

// passing returns the trigger that a lifecycle state without a step fires.
func passing(s State) Trigger {
	if s == StateInitializing {
		return TriggerInitialized
	}
	return TriggerCompleted
}
