package flow

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// This file deals with calls that have failed for good. Such a call is left out, or an inquiry is made about it, which
// a person or Terms.Unattended answers, or its actor is dropped.

// replacement is a model that a person has chosen for an actor in place of the configured one.
type replacement struct{ by, model string }

// Shrinking is the option that was chosen to make the context of an actor smaller, and how often it
// was chosen.
type Shrinking struct {
	By     string
	Option Option
	Times  int
}

// giveUp deals with a call that has failed for good. again reports that the record has changed.
func (d *due) giveUp(call *Call, state *callState) (again bool, err error) {
	c, r := d.core, d.core.record
	failure := state.trouble.failure
	if call.OnFail.Ask != nil {
		if r.asked(call.ID) {
			d.asked = true
			return false, nil
		}
		if question := call.OnFail.Ask(r, failure); len(question.Options) > 0 {
			if option := r.chosenOption(inquiryAbout(state)); option != "" {
				err := fmt.Errorf("the flow still wants this call after the answer %q: its Calls leave out who was dropped, "+
					"and OptionEnd drops only with Question.EndDrops", option)
				return true, c.fail(&Error{Kind: provider.KindState, Op: call.ID, Participant: call.By, Err: err})
			}
			return true, c.ask(call, state, question)
		}
	}
	switch {
	case call.OnFail.Fire != "" && c.machine.allows(r, call.OnFail.Fire):
		return true, c.fire(call.OnFail.Fire, Exit{Evidence: failure.Error()}, false)
	case call.OnFail.Drop && !r.IsDropped(call.By):
		return true, c.drop(call.By, failure.Error())
	default:
		return true, c.fail(failure)
	}
}

// asked reports whether an inquiry about the call has no answer yet.
func (r *Record) asked(call string) bool {
	return slices.ContainsFunc(r.Inquiries, func(q Inquiry) bool { return q.About == call })
}

// inquiryAbout returns the ID of the inquiry about a call that has failed with its present attempt.
func inquiryAbout(state *callState) string {
	return "ask." + state.intent.Call + "." + strconv.Itoa(state.intent.Attempt)
}

// chosenOption returns the option that answered an inquiry, or "" if none did.
func (r *Record) chosenOption(inquiry string) Option {
	for i := range r.Answers {
		if r.Answers[i].Inquiry == inquiry {
			return r.Answers[i].Option
		}
	}
	return ""
}

// ask records an inquiry about a call that has failed. In an unattended conversation it answers at once.
func (c *Core) ask(call *Call, state *callState, question Question) error {
	q := Inquiry{
		ID: inquiryAbout(state), Kind: call.Kind, To: call.By,
		Question: question.Text, About: call.ID, Options: question.Options, EndDrops: question.EndDrops, Failure: state.trouble.failure,
	}
	unattended := c.record.terms.Unattended != nil
	if unattended && (question.Default == OptionModel || !slices.Contains(question.Options, question.Default)) {
		err := fmt.Errorf("the default %q of the question is none of its options, or needs a person to name the model", question.Default)
		return c.fail(&Error{Kind: provider.KindState, Op: call.ID, Participant: call.By, Err: err})
	}
	if err := c.emit(Event{Body: &q}); err != nil || !unattended {
		return err
	}
	return c.choose(&q, Answer{Inquiry: q.ID, Option: question.Default, Unattended: true})
}

// choose records an answer, and what follows from it at once.
func (c *Core) choose(q *Inquiry, a Answer) error {
	r := c.record
	about := *q
	if err := c.emit(Event{Body: &a}); err != nil {
		return err
	}
	reason := "chosen"
	if about.Failure != nil {
		reason = about.Failure.Error()
	}
	ends := a.Option == OptionEnd
	drops := a.Option == OptionWithout || a.Option == OptionDrop || ends && about.EndDrops
	if drops && !r.IsDropped(about.To) {
		if err := c.drop(about.To, reason); err != nil {
			return err
		}
	}
	if !ends {
		return nil
	}
	exit := Exit{Reason: EndHost, Evidence: "ended after a failure: " + reason}
	if r.State == StateCompleting || !c.machine.allows(r, TriggerStop) {
		return nil // the conversation ends anyway
	}
	if err := c.fire(TriggerStop, exit, false); err != nil {
		return err
	}
	c.abort()
	return nil
}

// chosen takes a person's choice. A choice that is not possible is an error of kind validation.
func (c *Core) chosen(q *Inquiry, a Answer) error {
	bad := func(field, format string, args ...any) error {
		return &Error{Kind: provider.KindValidation, Op: "answer", Field: field, Err: fmt.Errorf(format, args...)}
	}
	switch {
	case !slices.Contains(q.Options, a.Option):
		return bad("option", "%q is none of the options %v", text.OneLine(string(a.Option), 40), q.Options)
	case !c.offers(q, a.Option), a.Option == OptionDrop && c.record.isActive(q.To) && !c.machine.flow.spares(c.record, q.To):
		return bad("option", "%q is no longer possible: others have been chosen since", a.Option)
	case a.Option != OptionModel && a.Model != "":
		return bad("model", "is given, but the option is %s", a.Option)
	case a.Option == OptionModel:
		if _, _, ok := SplitModel(a.Model); !ok || !Registrable(a.Model) {
			return bad("model", "%q is not \"provider/model\"", text.OneLine(a.Model, 80))
		}
		if a.Row == nil && c.record.model(a.Model) == nil {
			return bad("model", "nothing is known of %q", text.OneLine(a.Model, 80))
		}
		row := a.Row
		if row == nil {
			row = c.record.model(a.Model)
		}
		if c.record.terms.Limited() && !row.Priced {
			return bad("model", "%q has no known price, which a budget needs", text.OneLine(a.Model, 80))
		}
	}
	a.Text = ""
	return c.choose(q, a)
}

// offers reports whether the flow would still offer an option. Another answer may have changed that.
func (c *Core) offers(q *Inquiry, option Option) bool {
	step := c.machine.flow.Steps[c.record.work]
	if step.Calls == nil {
		return true
	}
	calls := step.Calls(c.record)
	for i := range calls {
		if calls[i].ID == q.About && calls[i].OnFail.Ask != nil {
			return slices.Contains(calls[i].OnFail.Ask(c.record, q.Failure).Options, option)
		}
	}
	return true
}

// foldQuestion folds an inquiry about a call that has failed.
func (r *Record) foldQuestion(q *Inquiry) error {
	call := r.calls[q.About]
	if call == nil || call.status != callFailed || r.asked(q.About) || r.inquiry(q.ID) != nil || len(q.Options) == 0 {
		return invalid("inquiry.about", "%q is no call that has failed, or was asked about already", text.OneLine(q.About, 80))
	}
	if q.Failure == nil {
		return invalid("inquiry.failure", "is missing")
	}
	r.Inquiries = append(r.Inquiries, *q)
	return nil
}

// foldAnswer folds an answer. If a person performs a call, the result of that call follows as an event of its own.
func (r *Record) foldAnswer(a *Answer) error {
	r.Answers = append(r.Answers, *a)
	if a.Option == "" {
		return nil
	}
	q := r.inquiry(a.Inquiry)
	if q == nil || !slices.Contains(q.Options, a.Option) {
		return invalid("answer.option", "%q was not offered", text.OneLine(string(a.Option), 40))
	}
	about, to := q.About, q.To
	r.Inquiries = slices.DeleteFunc(r.Inquiries, func(q Inquiry) bool { return q.ID == a.Inquiry })
	switch a.Option {
	case OptionRetry:
	case OptionModel:
		if a.Row != nil && r.model(a.Model) == nil {
			r.models = append(r.models, namedModel{a.Model, *a.Row})
		}
		if r.model(a.Model) == nil || len(r.swaps) >= maxTracked {
			return invalid("answer.model", "%q is not known", text.OneLine(a.Model, 80))
		}
		r.swaps = append(r.swaps, replacement{to, a.Model})
	case OptionSummarize, OptionTruncate:
		r.shrink(to, a.Option)
	default:
		return nil // the call stays failed: its actor is dropped, or the conversation ends
	}
	r.again(about)
	return nil
}

// again resets a call and its re-ask, so that the call is made again.
func (r *Record) again(id string) {
	r.limits = nil // a person has dealt with the cause
	for _, name := range []string{id, id + againSuffix} {
		if call := r.calls[name]; call != nil && (call.status == callFailed || call.status == callRejected) {
			call.status, call.model, call.trouble = callIdle, 0, nil
			r.failing = slices.DeleteFunc(r.failing, func(c *callState) bool { return c == call })
		}
	}
}

// shrink records the option that was chosen for a context that was too large.
func (r *Record) shrink(by string, option Option) {
	for i := range r.shrunk {
		if r.shrunk[i].By == by {
			r.shrunk[i].Option = option
			r.shrunk[i].Times++
			return
		}
	}
	if len(r.shrunk) < maxTracked {
		r.shrunk = append(r.shrunk, Shrinking{by, option, 1})
	}
}

// Shrinking returns how the context of an actor is made smaller. false: that was not chosen.
func (r *Record) Shrinking(by string) (Shrinking, bool) {
	for _, c := range r.shrunk {
		if c.By == by {
			return c, true
		}
	}
	return Shrinking{}, false
}

// Replacement returns the model that a person has chosen for an actor, or "" if there is none.
func (r *Record) Replacement(by string) string {
	for _, swap := range slices.Backward(r.swaps) {
		if swap.by == by {
			return swap.model
		}
	}
	return ""
}
