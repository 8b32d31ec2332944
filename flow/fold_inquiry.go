package flow

import (
	"slices"
	"time"

	"github.com/agonist-dev/debate/internal/text"
)

// foldQuestion folds an inquiry about calls that have failed, or about a cost warning.
func (r *Record) foldQuestion(q *Inquiry) error {
	if len(q.Options) == 0 || len(q.About) > maxTracked {
		return invalid("inquiry.options", "are missing")
	}
	open := r.inquiry(q.ID)
	known, seen := make(map[string]bool), make(map[string]bool, len(q.About))
	if open != nil {
		addAsked(open, known)
	}
	for _, each := range q.About {
		call := r.calls[each.Call]
		if call == nil || call.status != callFailed || call.trouble == nil || each.By != call.intent.By || seen[each.Call] ||
			!known[each.Call] && r.asked(each.Call) {
			return invalid("inquiry.about", "%q is no call that has failed, or was asked about already", text.OneLine(each.Call, 80))
		}
		seen[each.Call] = true
	}
	if len(q.About) > 0 && q.Failure == nil {
		return invalid("inquiry.failure", "is missing")
	}
	if open != nil {
		if len(open.Options) == 0 {
			return invalid("inquiry.id", "%q is open already", text.OneLine(q.ID, 80))
		}
		*open = *q
		return nil
	}
	r.addInquiry(q)
	return nil
}

// addInquiry opens an inquiry. Answers to a former one with its ID are not its own: the cost warning is asked about again after
// an amendment of the budget.
func (r *Record) addInquiry(q *Inquiry) {
	r.Inquiries = append(r.Inquiries, *q)
	delete(r.answered, q.ID)
}

// addAnswer keeps an answer for later ones to the same inquiry, which are refused with it.
func (r *Record) addAnswer(inquiry string, a Answer, at time.Time) {
	if r.answered == nil {
		r.answered = make(map[string][]AnsweredError)
	}
	a.Inquiry = inquiry
	r.answered[inquiry] = append(r.answered[inquiry], AnsweredError{Answer: a, At: at})
}

// foldAnswer folds an answer. If a person performs a call, the result of that call follows as an event of its own.
func (r *Record) foldAnswer(a *Answer, at time.Time) error {
	if field, err := r.accepts(a.Attachments); err != nil {
		return invalid("answer."+field, "%s", err.Error())
	}
	if why := notReason(a.Person); why != "" {
		return invalid("answer.person", "%s", why)
	}
	r.Answers = append(r.Answers, *a)
	r.addAnswer(a.Inquiry, *a, at)
	if a.Option == "" {
		return nil
	}
	q := r.inquiry(a.Inquiry)
	if q == nil || !slices.Contains(q.Options, a.Option) {
		return invalid("answer.option", "%q was not offered", text.OneLine(string(a.Option), 40))
	}
	if q.Use != nil {
		return r.foldUseAnswer(*q, a, at)
	}
	about := slices.DeleteFunc(slices.Clone(q.About), func(each FailedCall) bool {
		return (a.Option == OptionSkip || a.Option == OptionDrop) && !choosesFor(a, &each)
	})
	for _, each := range about {
		r.closeInquiries(each.Call)
		if call := r.calls[each.Call]; call.isOverdue() {
			r.addAnswer(each.Call, *a, at) // who answers later learns what has taken the place of the answer
		}
	}
	if len(about) == 0 { // about a warning
		r.Inquiries = slices.DeleteFunc(r.Inquiries, func(q Inquiry) bool { return q.ID == a.Inquiry })
		r.acked = r.acked || a.Option == OptionContinue
		return nil
	}
	if a.Option == OptionModel && a.Row != nil && len(r.models) < maxTracked {
		r.knows(a.Model, *a.Row)
	}
	for _, each := range about {
		if err := r.foldChoice(a, &each); err != nil {
			return err
		}
	}
	return nil
}

// foldChoice folds what was chosen for one call.
func (r *Record) foldChoice(a *Answer, about *FailedCall) error {
	call := r.calls[about.Call]
	if !r.stillFailed(*about) {
		return nil
	}
	switch a.Option {
	case OptionRetry:
		r.widen(call)
		if !r.replied[r.hostOf(call.intent)] { // somebody has changed what keeps it from being reached: it is tried as at first
			r.recovered(call.intent)
		}
	case OptionWait:
		r.widen(call)
		until := call.trouble.asksUntil()
		call.patient = true
		r.recovered(call.intent) // the next failure begins another outage
		r.again(about.Call)
		if !until.IsZero() {
			call.trouble = &trouble{retryAt: until, waits: 1}
		}
		return nil
	case OptionModel:
		if r.model(a.Model) == nil || len(r.swaps) >= maxTracked {
			return invalid("answer.model", "%q is not known", text.OneLine(a.Model, 80))
		}
		r.replace(replacement{by: about.By, model: a.Model})
		if ruled := call.special.ruled; a.Rule && !slices.Contains(ruled, a.Model) && len(ruled) < mostRules {
			own := call.own()
			own.ruled = append(own.ruled, a.Model)
		}
	case OptionStandIn:
		if err := r.foldStandIn(call, a.Model); err != nil {
			return err
		}
	case OptionSummarize, OptionTruncate:
		r.shrink(about.By, a.Option)
	default: // the call stays as it is
		call.troubled().chosen, call.trouble.by = a.Option, deciderOf(a)
		return nil
	}
	r.again(about.Call)
	return nil
}

// closeInquiries takes a call out of the inquiries about it.
func (r *Record) closeInquiries(call string) {
	r.Inquiries = slices.DeleteFunc(r.Inquiries, func(q Inquiry) bool {
		return asksAbout(&q, call) && len(q.About) == 1
	})
	for i := range r.Inquiries {
		if q := &r.Inquiries[i]; asksAbout(q, call) {
			q.About = slices.DeleteFunc(slices.Clone(q.About), func(each FailedCall) bool { return each.Call == call })
			r.reword(q)
		}
	}
}

// reword makes an inquiry ask about nothing but the calls that are left in it.
func (r *Record) reword(q *Inquiry) {
	q.To, q.Options = q.About[0].By, q.About[0].Options
	for _, each := range q.About[1:] {
		q.Options = union(q.Options, each.Options)
	}
	if first := r.calls[q.About[0].Call]; first != nil && first.trouble != nil && first.trouble.failure != nil {
		q.Failure = first.trouble.failure
	}
	q.Question = r.questionAbout(q)
}
