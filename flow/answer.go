package flow

import (
	"errors"
	"fmt"
	"strings"

	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// opAnswer is what errors about answers name.
const opAnswer = "answer"

// maxAnswer bounds a person's answer, in bytes. A turn is cut further, to [Terms].MaxTokens.
const maxAnswer = 1 << 20

// decider returns who has given the answer.
func (a *Answer) decider() string {
	if a.Rule {
		return EndedByRule
	}
	return EndedByPerson
}

func (c *Core) answer(s Answer) error {
	inquiry := c.record.inquiry(s.Inquiry)
	if inquiry == nil || c.record.Final() {
		return &Error{Kind: provider.KindState, Op: opAnswer, Err: fmt.Errorf("no inquiry %q is open", text.OneLine(s.Inquiry, 80))}
	}
	if len(inquiry.Options) > 0 {
		if len(s.Parts) > 0 {
			err := errors.New("the inquiry asks for one of its options, which have no files")
			return &Error{Kind: provider.KindValidation, Op: opAnswer, Field: "parts", Err: err}
		}
		if inquiry.Use != nil {
			return c.chosenUse(inquiry, s)
		}
		return c.chosen(inquiry, s)
	}
	s.Option, s.Model, s.Row, s.Accounts = "", "", nil, nil
	s.Text = text.Readable(s.Text)
	if strings.TrimSpace(s.Text) == "" || len(s.Text) > maxAnswer {
		err := fmt.Errorf("an answer holds text, of at most %d bytes", maxAnswer)
		return &Error{Kind: provider.KindValidation, Op: opAnswer, Field: "text", Err: err}
	}
	intent := c.record.calls[s.Inquiry].intent
	result := Result{Call: s.Inquiry, Attempt: intent.Attempt, Text: s.Text, Parts: s.Parts}
	if field, err := c.record.accepts(s.Parts); err != nil {
		return &Error{Kind: provider.KindValidation, Op: opAnswer, Field: field, Err: err}
	}
	if err := c.unreadable(opAnswer, s.Parts); err != nil {
		return err
	}
	if intent.Schema != "" {
		if len(s.Parts) > 0 {
			err := errors.New("an answer with a schema has no files")
			return &Error{Kind: provider.KindValidation, Op: opAnswer, Field: "parts", Err: err}
		}
		if _, problems := c.structured(intent, Spend{Call: intent.Call, Attempt: intent.Attempt}, result); len(problems) > 0 {
			err := errors.New("the answer is not accepted: " + text.OneLine(strings.Join(problems, "; "), 400))
			return &Error{Kind: provider.KindValidation, Op: opAnswer, Field: "text", Err: err}
		}
	}
	if err := c.emit(Event{Body: &s}); err != nil {
		return err
	}
	return c.result(result)
}
