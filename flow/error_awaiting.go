package flow

import (
	"fmt"

	"github.com/agonist-dev/debate/internal/redact"
	"github.com/agonist-dev/debate/internal/text"
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
