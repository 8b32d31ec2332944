package flow

import (
	"errors"
	"fmt"
	"slices"

	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// sent takes an input of the flow's own. The rule of the present state that allows it is the one that applies: it is
// chosen before the input is recorded.
func (c *Core) sent(s Sent) error {
	if !c.machine.input(s.Trigger) {
		err := fmt.Errorf("flow %s has no input %q", c.machine.flow.Name, text.OneLine(string(s.Trigger), 40))
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
	if err := checkReason("send", s.Reason); err != nil {
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
