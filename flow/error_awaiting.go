package flow

import (
	"fmt"
	"strings"

	"github.com/agonist-dev/debate/internal/redact"
	"github.com/agonist-dev/debate/internal/text"
)

// AwaitingInputError is the error of a conversation that waits for a person. It wraps [ErrAwaitingInput], and the failures that
// the inquiries are about: errors.As finds the first of them as an *[Error].
type AwaitingInputError struct {
	// Inquiries are those without an answer, oldest first, as in Record.Inquiries. Whoever gets the error may keep them.
	Inquiries []Inquiry
}

// Error returns one line: the ID of the first inquiry, the failure that it is about or else its question, and how many more
// inquiries there are. A question may quote what a model has written: it is cut, and what looks like a secret is left out.
func (e *AwaitingInputError) Error() string {
	if e == nil || len(e.Inquiries) == 0 {
		return ErrAwaitingInput.Error()
	}
	first := &e.Inquiries[0]
	what := first.Question
	if first.Failure != nil {
		what = strings.TrimPrefix(first.Failure.Error(), "debate: ")
	}
	line := fmt.Sprintf("%v to inquiry %q: %s", ErrAwaitingInput, text.OneLine(first.ID, 80), text.OneLine(redact.Foreign(what), 400))
	if more := len(e.Inquiries) - 1; more > 0 {
		line += fmt.Sprintf(" (and %d more)", more)
	}
	return line
}

// Unwrap returns [ErrAwaitingInput], and the failure of each inquiry that has one.
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
