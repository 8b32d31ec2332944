package flow

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

const (
	opAnswer         = "answer"      // what errors about answers name
	fieldAttachments = "attachments" // the field of an answer that holds files
)

// maxAnswer bounds a person's answer, in bytes; see also Inquiry.Max.
const maxAnswer = 1 << 20

// deciderOf returns who has given the answer.
func deciderOf(a *Answer) string {
	if a.Rule {
		return EndedByRule
	}
	return EndedByPerson
}

func (c *Core) answer(s Answer) error {
	inquiry := c.record.inquiry(s.Inquiry)
	if inquiry == nil || c.record.Final() {
		var open []string
		for i := range c.record.Inquiries {
			open = append(open, c.record.Inquiries[i].ID)
		}
		err := text.Absent("inquiry", "open", s.Inquiry, open...)
		if len(open) == 0 {
			err = WithMend(err, "correct the id: no question of it is open, and none was answered")
		}
		return cmp.Or(c.record.wasAnswered(s.Inquiry, s.By), c.record.wasAnswered(s.Inquiry, ""), c.record.tooLate(s.Inquiry),
			error(&Error{Kind: provider.KindState, Op: opAnswer, Err: err}))
	}
	if why := notReason(s.Person); why != "" {
		return &Error{Kind: provider.KindValidation, Op: opAnswer, Field: "person", Err: errors.New("the name of the person " + why)}
	}
	s.Rule = false
	if len(inquiry.Options) > 0 {
		if len(s.Attachments) > 0 {
			err := errors.New("the inquiry asks for one of its options, without files")
			return &Error{Kind: provider.KindValidation, Op: opAnswer, Field: fieldAttachments, Err: err}
		}
		if inquiry.Use != nil {
			return c.chosenUse(inquiry, s)
		}
		return c.chosen(inquiry, s)
	}
	s.Option, s.Model, s.Row = "", "", nil
	s.Text = text.Readable(s.Text)
	if strings.TrimSpace(s.Text) == "" {
		err := WithMend(errors.New("is empty"), "write an answer")
		return &Error{Kind: provider.KindValidation, Op: opAnswer, Field: "text", Err: err}
	}
	if err := inquiry.tooLong(len(s.Text)); err != nil {
		return &Error{Kind: provider.KindValidation, Op: opAnswer, Field: "text", Err: err}
	}
	state := c.record.calls[s.Inquiry]
	intent := state.intent
	result := Result{Call: s.Inquiry, Attempt: intent.Attempt, Text: s.Text, Attachments: s.Attachments, Quotations: s.Quotations}
	s.Quotations = nil
	if field, err := c.record.accepts(s.Attachments); err != nil {
		return &Error{Kind: provider.KindValidation, Op: opAnswer, Field: field, Err: err}
	}
	if err := c.unreadable(opAnswer, s.Attachments); err != nil {
		return err
	}
	if at := c.leavesNoRoom(intent, &s); at.what != "" {
		err := fmt.Errorf("the hard limit of the budget leaves the conclusion no room for the files: %s", at.what)
		err = WithMend(err, "leave files out, or amend budget."+at.limit+" to a higher limit first")
		return &Error{Kind: provider.KindValidation, Op: opAnswer, Field: fieldAttachments, Err: err}
	}
	if intent.Schema != "" {
		if len(s.Attachments) > 0 {
			err := errors.New("an answer with a schema has no files")
			return &Error{Kind: provider.KindValidation, Op: opAnswer, Field: fieldAttachments, Err: err}
		}
		if _, problems := c.structured(state, &Spend{Call: intent.Call, Attempt: intent.Attempt}, result); len(problems) > 0 {
			err := errors.New("the answer is not accepted: " + text.OneLine(strings.Join(problems, "; "), 400))
			return &Error{Kind: provider.KindValidation, Op: opAnswer, Field: "text", Err: err}
		}
	}
	if err := c.emit(Event{Body: &s}); err != nil {
		return err
	}
	return c.result(result)
}

// This file checks what a person has chosen.

// chosen takes a person's choice. A choice that is not possible is an error of kind validation.
func (c *Core) chosen(q *Inquiry, a Answer) error {
	bad := func(field, format string, args ...any) error {
		return &Error{Kind: provider.KindValidation, Op: opAnswer, Field: field, Err: fmt.Errorf(format, args...)}
	}
	if a.By != "" && !slices.ContainsFunc(q.About, func(each FailedCall) bool { return each.By == a.By }) {
		if first := c.record.wasAnswered(q.ID, a.By); first != nil {
			return first // the inquiry is open for others only
		}
	}
	switch {
	case len(q.About) > 0 && !slices.ContainsFunc(q.About, c.record.stillFailed):
		err := fmt.Errorf("inquiry %q is about calls that are not failed any more", text.OneLine(q.ID, 80))
		err = WithMend(err, "answer another inquiry: this one needs no answer any more")
		return &Error{Kind: provider.KindState, Op: opAnswer, Err: err}
	case !slices.Contains(q.Options, a.Option):
		return bad("option", "%w", text.Absent("option", "possible", a.Option, q.Options...))
	case a.Option != OptionModel && a.Model != "":
		return bad("model", "is given, but the option is %s", a.Option)
	case a.Option == OptionModel:
		row := c.record.model(a.Model)
		if row == nil && len(c.record.models) < maxTracked {
			row = a.Row
		}
		if err := cmp.Or(takesModel(*c.record.settings, a.Model, row), c.ableFor(q, a)); err != nil {
			return bad("model", "%w", err)
		}
	}
	if err := c.chosenFor(q, a, bad); err != nil {
		return err
	}
	if a.Text = ""; a.Option == OptionStandIn {
		a.Model = c.standIn(q)
	}
	return c.choose(q, a)
}

// ableFor returns why the chosen model is known not to do what is asked of those whom an inquiry is about.
func (c *Core) ableFor(q *Inquiry, a Answer) error {
	files := c.record.Files()
	for i := range q.About {
		if err := c.record.able(a.Model, a.Row, c.record.requirementOf(q.About[i].By), files); err != nil {
			return err
		}
	}
	return nil
}

// chosenFor checks for whom a person has chosen.
func (c *Core) chosenFor(q *Inquiry, a Answer, bad func(field, format string, args ...any) error) error {
	if a.Option != OptionSkip && a.Option != OptionDrop {
		if a.By != "" {
			return bad("by", "is given, but the option is %s", a.Option)
		}
		return nil
	}
	var who []string
	offered := false
	for _, each := range q.About {
		if !choosesFor(&a, &each) || !c.record.stillFailed(each) {
			continue
		}
		offered = offered || c.offers(a.Option, each.Call)
		if !slices.Contains(who, each.By) {
			who = append(who, each.By)
		}
	}
	switch {
	case len(who) == 0:
		return bad("by", "%s is not possible for %q", a.Option, text.OneLine(a.By, 80))
	case a.Option == OptionDrop && len(who) > 1:
		return bad("by", "says whom to drop: %s", strings.Join(who, ", "))
	case !offered:
		return bad("option", "%q is no longer possible: others have been chosen since", a.Option)
	}
	return nil
}

// offers reports whether the flow still allows a person to skip a call, or to drop its actor. Another answer may have
// changed that. If the flow no longer wants the call, only skipping it changes nothing else.
func (c *Core) offers(option Option, call string) bool {
	step := c.machine.flow.Steps[c.record.work]
	if step.Calls == nil {
		return true
	}
	wanted := step.Calls(c.record)
	for i := range wanted {
		switch {
		case wanted[i].ID != call:
		case option == OptionSkip:
			return wanted[i].OnFail.Skip != Nobody
		default:
			return wanted[i].OnFail.Drop != Nobody
		}
	}
	return option == OptionSkip
}
