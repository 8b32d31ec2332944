package flow

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// owing returns why the conversation cannot be completed yet, if the trigger would complete it. nil: nothing is owed.
func (c *Core) owing(on Trigger) *Error {
	r, f := c.record, c.machine.flow
	rules := c.machine.rules[ruleKey{r.State, on}]
	if !slices.ContainsFunc(rules, func(rule Rule) bool { return rule.To == StateCompleted }) {
		return nil // without asking the guards, which the firing asks
	}
	if rule := match(rules, r); rule == nil || rule.To != StateCompleted {
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

// undecided returns a call that has failed without anybody's decision, be it the flow's. nil: there is none. Once somebody
// has ended the conversation early, only the calls of its conclusion are owed.
func (r *Record) undecided() *callState {
	for _, call := range r.failing {
		if r.undecidedAbout(call) && (r.EndedBy == "" || call.ending) {
			return call
		}
	}
	return nil
}

// undecidedAbout reports whether a call has failed and nobody has decided about that, be it the flow. The flow does without
// summaries, and without those who were dropped.
func (r *Record) undecidedAbout(call *callState) bool {
	t := call.trouble
	return call.status == callFailed && call.intent.Upto == 0 && t != nil && t.failure != nil && !t.instead && !t.fired && t.chosen == "" &&
		!r.IsDropped(call.intent.By)
}

// stops returns the failure of a call as that of the conversation, with why it stops that.
func (c *callState) stops(why string) *Error {
	failure := *c.trouble.failure
	if failure.Err = errors.New(why); c.trouble.failure.Err != nil {
		failure.Err = fmt.Errorf("%s: %w", why, c.trouble.failure.Err)
	}
	return &failure
}
