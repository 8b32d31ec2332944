package flow

import (
	"fmt"
	"slices"
	"time"

	"github.com/agonist-dev/debate/provider"
)

// This file deals with calls that have failed for good. A rule decides about each, or a person whom an inquiry asks.

// giveUp deals with a call that has failed for good. again reports that the record has changed. What is to be asked about the call is
// only noted in d.questions: hundreds of calls may share one inquiry.
func (d *due) giveUp(call *Call, state *callState) (again bool, err error) {
	c, r := d.core, d.core.record
	failure, chosen := state.trouble.failure, state.trouble.chosen
	switch {
	case state.trouble.instead:
		return false, nil
	case d.asksAbout(call.ID):
		d.asked = true
		return false, nil
	}
	fires := chosen == "" && call.OnFail.Fire != "" && c.machine.allows(r, call.OnFail.Fire)
	rule, own := &FailureRule{}, c.termRule(call, state)
	switch {
	case chosen != "" || fires:
	case own != nil:
		rule = own
	default:
		rule = c.ruled(call, state)
	}
	switch {
	case rule.Do == OptionAsk, chosen == OptionSkip && call.OnFail.Skip == Nobody: // others have been left out since it was chosen
		d.ask(call, state)
		return false, nil
	case len(d.questions) > 0:
		return true, d.askAll()
	case chosen != "":
		return true, c.carryOut(call, state)
	case fires:
		return c.fireOwn(call.OnFail.Fire, Exit{Evidence: failure.Error(), call: call.ID})
	case rule.Do == OptionFail && own != nil:
		return true, c.fail(failure)
	case rule.Do == OptionFail:
		return true, c.fail(c.passedOver(call, state, rule))
	default:
		return true, c.byRule(call, state, rule)
	}
}

// asksAbout reports whether an inquiry about the call has no answer yet. It reads the inquiries once: a provider that is down may fail
// every call of a batch.
func (d *due) asksAbout(call string) bool {
	if d.about == nil {
		d.about = make(map[string]bool)
		for i := range d.core.record.Inquiries {
			addAsked(&d.core.record.Inquiries[i], d.about)
		}
	}
	return d.about[call]
}

// carryOut does what was chosen about a call, where the log was cut behind the answer.
func (c *Core) carryOut(call *Call, state *callState) error {
	reason := state.trouble.failure.Error()
	switch option := state.trouble.chosen; {
	case option == OptionSkip:
		return c.skip(call, reason, state.trouble.failure.Kind)
	case option == OptionDrop && !c.record.IsDropped(call.By):
		return c.drop(call.By, reason)
	case option == OptionEnd:
		exit := Exit{Reason: EndHost, By: state.trouble.by, Evidence: endedWord + "after a failure: " + reason}
		if c.record.State == StateCompleting {
			return c.endConclusion(state.trouble.failure, exit)
		}
		return c.fire(TriggerStop, exit, false)
	default:
		err := fmt.Errorf("the flow still returns this call after %q: its Calls must omit actors that were dropped", option)
		return c.fail(&Error{Kind: provider.KindState, Op: call.ID, Participant: call.By, Err: err})
	}
}

// byRule records what a rule chooses, as the answer to an inquiry.
func (c *Core) byRule(call *Call, state *callState, rule *FailureRule) error {
	option := call.OnFail.means(rule.Do)
	options := []Option{option}
	q := Inquiry{
		ID: inquiryAbout(state), Kind: call.Kind, To: call.By, About: []FailedCall{{call.ID, call.By, options}}, Options: options,
		Failure: state.trouble.failure,
	}
	q.Question = c.record.questionAbout(&q)
	if err := c.emit(Event{Body: &q}); err != nil {
		return err
	}
	return c.choose(&q, Answer{Inquiry: q.ID, Option: option, Model: rule.Model, Rule: true})
}

// choose records an answer, and what follows from it at once.
func (c *Core) choose(q *Inquiry, a Answer) error {
	about, reason := *q, "chosen"
	if about.Failure != nil {
		reason = about.Failure.Error()
	}
	extra := c.extra(&about, a.Option) // the flow does not want them any more once it is chosen
	if err := c.emit(Event{Body: &a}); err != nil {
		return err
	}
	switch a.Option {
	case OptionSkip, OptionDrop:
		return c.without(&about, a, extra)
	case OptionEnd:
		return c.endEarly(&about, a, reason)
	case OptionWait:
		return c.waitOn(&about)
	default:
		return nil
	}
}

// waitOn warns if calls that were chosen to be waited for wait for as long as their vendor has asked.
func (c *Core) waitOn(q *Inquiry) error {
	var last *callState
	for _, each := range q.About {
		state := c.record.calls[each.Call]
		if state.retryAt().After(c.in.At) && (last == nil || state.retryAt().After(last.retryAt())) {
			last = state
		}
	}
	if last == nil {
		return nil
	}
	in := last.intent
	return c.warn(&Warning{Kind: WarnOutage, Call: in.Call, By: in.By, Evidence: fmt.Sprintf(
		"%s: %s is waited for, until %s", q.Failure.Kind, c.record.hostOf(in), last.retryAt().UTC().Format(time.RFC3339))})
}

// extra returns the calls of an inquiry that are beside what their actors owe, if the option leaves them out.
func (c *Core) extra(q *Inquiry, option Option) []string {
	step := c.machine.flow.Steps[c.record.work]
	if option != OptionSkip || step.Calls == nil {
		return nil
	}
	var out []string
	for _, call := range step.Calls(c.record) {
		if call.OnFail.Extra && slices.ContainsFunc(q.About, func(f FailedCall) bool { return f.Call == call.ID }) {
			out = append(out, call.ID)
		}
	}
	return out
}

// without leaves out calls or their actors, each for its own failure: calls that share an inquiry need not share its words. extra are
// those beside what their actors owe.
func (c *Core) without(q *Inquiry, a Answer, extra []string) error {
	for _, each := range q.About {
		if !choosesFor(&a, &each) || !c.record.stillFailed(each) {
			continue
		}
		state, failure := c.record.calls[each.Call], q.Failure
		if state.trouble != nil && state.trouble.failure != nil {
			failure = state.trouble.failure
		}
		if a.Option == OptionDrop {
			if !c.record.IsDropped(each.By) {
				if err := c.drop(each.By, failure.Error()); err != nil {
					return err
				}
			}
			continue
		}
		if !a.Rule && !c.offers(a.Option, each.Call) {
			continue // it is asked about again
		}
		left := callOf(state.intent)
		left.OnFail.Extra = slices.Contains(extra, each.Call)
		if err := c.skip(left, failure.Error(), failure.Kind); err != nil {
			return err
		}
	}
	return nil
}

// choosesFor reports whether the answer, which leaves out calls or their actors, is for this one.
func choosesFor(a *Answer, about *FailedCall) bool {
	return (a.By == "" || a.By == about.By) && slices.Contains(about.Options, a.Option)
}

// stillFailed reports whether a call that a person was asked about is still failed.
func (r *Record) stillFailed(about FailedCall) bool {
	call := r.calls[about.Call]
	return call != nil && call.status == callFailed
}

// endedWord begins the evidence of a conversation that an answer has ended. CutShort continues its own sentence with the rest.
const endedWord = "ended "

// endEarly ends the conversation, because an answer says so.
func (c *Core) endEarly(q *Inquiry, a Answer, reason string) error {
	r := c.record
	exit := Exit{Reason: EndHost, By: EndedByPerson, Evidence: endedWord + "after a failure: " + reason}
	if a.Rule {
		exit.By = EndedByRule
	}
	if q.Kind == KindConfirm {
		exit.Evidence = endedWord + "at the cost warning: " + r.evidenceOf(WarnCost)
	}
	concluding := r.Working() == StateCompleting
	if concluding && r.State == StateError { // the conclusion has failed already
		return nil
	}
	if c.machine.allows(r, TriggerStop) { // in the conclusion: it is paused, or other questions are open
		if err := c.fire(TriggerStop, exit, false); err != nil {
			return err
		}
	}
	if !concluding {
		c.abort()
		return nil
	}
	return c.endConclusion(q.Failure, exit)
}

// endConclusion ends the conclusion. It leads to the error state, from which Retry makes the conclusion after all and Stop
// does without. If the flow says that it owes nothing more, the conversation is completed.
func (c *Core) endConclusion(failure *Error, exit Exit) error {
	if err := c.fail(failure); err != nil {
		return err
	}
	if owes := c.machine.flow.Owes; owes == nil || len(owes(c.record)) > 0 {
		return nil
	}
	if err := c.fire(TriggerStop, exit, false); err != nil {
		return err
	}
	c.abort()
	return nil
}

// evidenceOf returns the evidence of the last warning of a kind.
func (r *Record) evidenceOf(kind WarningKind) string {
	if w := r.warning(kind); w != nil {
		return w.Evidence
	}
	return ""
}

// again renews a call of which somebody has chosen that it is made again.
func (r *Record) again(id string) {
	r.limits = nil // a person has dealt with the cause
	r.renew(id)
}

// renew gives a call a new start that has failed, or whose answer was rejected.
func (r *Record) renew(id string) {
	if call := r.calls[id]; call != nil && (call.status == callFailed || call.status == callIdle && call.special.rejection != nil) {
		call.anew()
		r.failing = slices.DeleteFunc(r.failing, func(c *callState) bool { return c == call })
	}
}
