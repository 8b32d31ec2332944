package flow

import (
	"fmt"
	"slices"
	"time"

	"github.com/agonist-dev/debate/internal/fieldname"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// This file ends a question to a person whose time is over. The attempt then fails with the kind timeout, and what follows is decided as
// about any failed call: first by the Term of the person, then by the rules for failures. An answer that comes before that is recorded
// counts, even if its time was over.

// watchQuestions ends the first question to a person whose time is over. Where a person is awaited, the conversation goes back to work,
// whatever else is asked.
func (c *Core) watchQuestions() (again bool, err error) {
	r := c.record
	for i := range r.Inquiries {
		q := &r.Inquiries[i]
		if ends := q.ends(); ends.IsZero() || c.in.At.Before(ends) {
			continue
		}
		if err := c.notAnswered(q); err != nil {
			return false, err
		}
		if r.State != StateAwaitingInput {
			return true, nil
		}
		return true, c.fire(TriggerOverdue, Exit{}, false)
	}
	return false, nil
}

// notAnswered records that a person has not answered in time.
func (c *Core) notAnswered(q *Inquiry) error {
	state := c.record.calls[q.ID]
	in := state.intent
	late := fmt.Errorf("%s has not answered within %s", in.By, time.Duration(q.Within))
	failure := &Error{Kind: provider.KindTimeout, Field: fieldname.Within, Err: late}
	return c.emit(Event{Body: &Failure{
		Spend: Spend{Call: in.Call, Attempt: in.Attempt}, By: in.By, Error: c.locate(state, failure), Final: true,
		Instead: c.stated(c.wanted(state)) == "" && c.instead(state, failure.Kind),
	}})
}

// isOverdue reports whether a call has failed because its person has not answered in time.
func (c *callState) isOverdue() bool {
	if c == nil || !c.person || c.status != callFailed || c.trouble == nil || c.trouble.failure == nil {
		return false
	}
	return c.trouble.failure.Overdue()
}

// Overdue reports whether the error says that a person has not answered in time. That is no fault: the person's [Term] says what follows.
func (e *Error) Overdue() bool {
	return e != nil && e.Kind == provider.KindTimeout && e.Field == fieldname.Within
}

// termRule returns what the Term of a person says about a call that was not answered in time. nil: it says nothing, or what it says is
// not possible.
func (c *Core) termRule(call *Call, state *callState) *FailureRule {
	if !state.isOverdue() {
		return nil
	}
	switch do := c.stated(call); do {
	case "":
		return nil
	case OptionStandIn:
		return &FailureRule{Do: do, Model: call.Person.Term.StandIn}
	default:
		return &FailureRule{Do: do}
	}
}

// stated returns what the Term of a person says about a call that is not answered in time, if that is possible. "": nothing. No call is
// skipped that the flow does without by itself: it goes on then as after any failure.
func (c *Core) stated(call *Call) Option {
	if call == nil || call.Person == nil {
		return ""
	}
	switch do := call.Person.Term.overdue(); {
	case do == OptionStandIn && c.record.model(call.Person.Term.StandIn) != nil, do == OptionSkip && call.OnFail.Skip == RuleToo,
		do == OptionFail:
		return do
	default:
		return ""
	}
}

// standIn returns the model that stands in for those whom an inquiry is about; "": none does.
func (c *Core) standIn(q *Inquiry) string {
	for i := range q.About {
		if state := c.record.calls[q.About[i].Call]; state != nil && state.intent != nil {
			if call := c.wanted(state); call != nil && call.Person != nil && call.Person.Term.StandIn != "" {
				return call.Person.Term.StandIn
			}
		}
	}
	return ""
}

// foldStandIn folds that a model stands in for the person of a call.
func (r *Record) foldStandIn(call *callState, model string) error {
	if !call.person || r.model(model) == nil {
		return invalid("answer.model", "%q stands in for nobody, or is not known", text.OneLine(model, 80))
	}
	call.own().standIn = model
	return nil
}

// mayModel reports whether another model may take over a call: from a model, or from a person whose seat takes one.
func (r *Record) mayModel(call *Call) bool {
	if call.Performer != ByPerson {
		return call.Performer == ByModel
	}
	for s := range r.config.Seats() {
		if s.By == call.By {
			return s.takesModel()
		}
	}
	return false
}

// takesModel reports whether the actor of the seat may be given a model.
func (s Seat) takesModel() bool {
	return s.Replaceable || *s.Model != "" || value(s.Term).StandIn != ""
}

// mayReturn reports whether an actor that is no model was given one.
func (r *Record) mayReturn(by string) bool {
	for s := range r.config.Seats() {
		if s.By == by {
			return *s.Model == "" && r.Replacement(by) != ""
		}
	}
	return false
}

// prolong gives those who are asked some time after a pause or an error, in which nobody may have seen the question.
func (c *Core) prolong() error {
	for _, q := range slices.Clone(c.record.Inquiries) {
		if !q.performed() || q.Until.IsZero() {
			continue
		}
		within := time.Duration(q.Within)
		until := c.in.At.Add(min(within, max(time.Minute, within/leastLeft)))
		if !q.Until.Before(until) {
			continue
		}
		q.Until = until
		if err := c.emit(Event{Body: &q}); err != nil {
			return err
		}
	}
	return nil
}

// leastLeft is the part of a person's time that is left after a pause, one in so many.
const leastLeft = 10

// tooLate returns the error of an answer whose time was over, where nobody else has given one. nil: that is not why it is refused.
func (r *Record) tooLate(inquiry string) error {
	state := r.calls[inquiry]
	if !state.isOverdue() {
		return nil
	}
	err := fmt.Errorf("the time for an answer to inquiry %q was over at %s", text.OneLine(inquiry, 80), state.ended.UTC().Format(time.RFC3339))
	if r.Final() {
		return &Error{Kind: provider.KindState, Op: opAnswer, Err: err}
	}
	return &Error{Kind: provider.KindState, Op: opAnswer, Err: WithMend(err, "wait until you are asked again")}
}

// stands reports whether the time of the round stands still although calls can run: a person is asked, who may take longer than it.
func (r *Record) stands(m *Machine) bool {
	return len(r.Inquiries) > 0 && m.working(r.State) && r.asksPerson()
}
