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
