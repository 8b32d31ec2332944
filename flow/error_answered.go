package flow

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// AnsweredError means that an inquiry was answered before: by whom, when, and how. The *[Error] around it is of kind state.
type AnsweredError struct {
	// Answer is the one that counts. Answer.Person names who gave it, if the host program has said so.
	Answer Answer
	// At is when it was recorded.
	At time.Time
}

// Error returns one line: the inquiry, who answered it, when, and the option. It leaves out the text of the answer.
func (e *AnsweredError) Error() string {
	if e == nil {
		return "the inquiry was answered"
	}
	a, who := &e.Answer, "a person"
	switch {
	case a.Rule:
		who = "a rule"
	case a.Person != "":
		who = strconv.Quote(a.Person)
	}
	line := fmt.Sprintf("inquiry %q was answered by %s at %s", text.OneLine(a.Inquiry, 80), who, e.At.UTC().Format(time.RFC3339))
	if a.Option != "" {
		line += strings.TrimRight(fmt.Sprintf(" with %s %s", a.Option, a.Model), " ")
	}
	if a.By != "" {
		line += fmt.Sprintf(" for %q", text.OneLine(a.By, 80))
	}
	return line
}

// notOpen returns why an inquiry takes no answer: it was answered, or it is not asked.
func (r *Record) notOpen(inquiry string) error {
	err := fmt.Errorf("no inquiry %q is open", text.OneLine(inquiry, 80))
	for i, a := range slices.Backward(r.Answers) {
		if a.Inquiry == inquiry {
			err = &AnsweredError{Answer: a, At: r.answeredAt[i]}
			break
		}
	}
	return &Error{Kind: provider.KindState, Op: opAnswer, Err: err}
}
