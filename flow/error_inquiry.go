package flow

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agonist-dev/debate/internal/redact"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// AwaitingInputError is the error of a conversation that waits for a person. It wraps [ErrAwaitingInput], and the failures that
// the inquiries are about: errors.As finds the first of them as an *[Error]. So a caller that branches by the kind of an *[Error]
// tests for [ErrAwaitingInput] first.
type AwaitingInputError struct {
	// Inquiries are those without an answer, oldest first, as in Record.Inquiries. The caller may keep and change the slice, and
	// must not change what the inquiries point to.
	Inquiries []Inquiry
}

// Error returns one line: the ID of the first inquiry, its question, and how many more inquiries there are. For a call that a
// person performs, the kind of the call and the person who is asked stand for the question, which is a prompt. A question about
// a tool quotes its arguments, which a model has written. A question is cut, and what looks like a secret is left out.
func (e *AwaitingInputError) Error() string {
	if e == nil || len(e.Inquiries) == 0 {
		return ErrAwaitingInput.Error()
	}
	first := &e.Inquiries[0]
	what := first.Question
	if len(first.Options) == 0 {
		what = fmt.Sprintf("%s by %s", first.Kind, first.To)
	}
	line := fmt.Sprintf("%v to inquiry %q: %s", ErrAwaitingInput, text.OneLine(first.ID, 80), text.OneLine(redact.Foreign(what), 400))
	if more := len(e.Inquiries) - 1; more > 0 {
		line += fmt.Sprintf(" (and %d more)", more)
	}
	return line
}

// Unwrap returns [ErrAwaitingInput], and the failure of each inquiry that has one. They are no independent errors: a program that
// reports each of several joined errors reports this one as a whole.
func (e *AwaitingInputError) Unwrap() []error {
	errs := []error{ErrAwaitingInput}
	if e == nil {
		return errs
	}
	for i := range e.Inquiries {
		if failure := e.Inquiries[i].Failure; failure != nil {
			errs = append(errs, failure)
		}
	}
	return errs
}

// AnsweredError means that an inquiry was answered before: by which person, when, and how. The *[Error] around it is of kind
// state.
type AnsweredError struct {
	// Answer is the one that counts. Answer.Person names who gave it, if the host program has said so. Answer.Inquiry is the
	// inquiry that was to be answered again, also if its answer was an [OptionAlways] about another use of the tool. The caller
	// must not change what Answer points to.
	Answer Answer
	// At is the time of the answer in the log. If another process was working on the conversation, it is the time of the event
	// before.
	At time.Time
}

// Error returns one line: the inquiry, the person who answered it, the time, and the option. It leaves out the text of the answer.
func (e *AnsweredError) Error() string {
	if e == nil {
		return "the inquiry was answered"
	}
	a, who := &e.Answer, "a person"
	switch {
	case a.Rule:
		who = "a rule"
	case a.Person != "":
		who = strconv.Quote(text.OneLine(a.Person, 80))
	}
	line := fmt.Sprintf("inquiry %q was answered by %s at %s", text.OneLine(a.Inquiry, 80), who, e.At.UTC().Format(time.RFC3339))
	if a.Option != "" {
		line += " with " + text.OneLine(strings.TrimSpace(string(a.Option)+" "+a.Model), 160)
	}
	if a.By != "" {
		line += fmt.Sprintf(" for %q", text.OneLine(a.By, 80))
	}
	return line
}

// wasAnswered returns the error of an answer that comes too late: the inquiry was answered, for this actor or for all. If by is
// empty, an answer for any actor counts. nil: it was not answered since it was last asked.
func (r *Record) wasAnswered(inquiry, by string) error {
	for _, first := range slices.Backward(r.answered[inquiry]) {
		if by == "" || first.Answer.By == "" || first.Answer.By == by {
			return &Error{Kind: provider.KindState, Op: opAnswer, Err: &first}
		}
	}
	return nil
}
