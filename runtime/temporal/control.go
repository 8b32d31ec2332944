package temporal

import (
	"errors"
	"fmt"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// Action is what a [Control] asks for.
type Action string

// The actions. Each is the control of package debate with the same name.
const (
	ActionPause  Action = "pause"
	ActionResume Action = "resume"
	ActionStop   Action = "stop"
	ActionCancel Action = "cancel"
	ActionRetry  Action = "retry"
	ActionAnswer Action = "answer"
)

// maxText bounds the text of an answer that comes through Temporal, in bytes. Temporal warns of payloads beyond 256 KiB.
const maxText = 64 << 10

// Control is a control as a signal or an update brings it: for programs that have no engine of the debate's store, in any
// language. Temporal keeps it in the history, with the text of an answer and the name of the person. [Client.Control] takes all
// controls and keeps their texts out of the history.
type Control struct {
	Action Action `json:"action"`
	// Reason is one line for the log; see flow.Pause. An answer has none.
	Reason string `json:"reason,omitempty"`
	// Drain lets the calls in flight finish. Only a pause has it.
	Drain bool `json:"drain,omitempty"`
	// Person names who asks for it, as the program that sends it knows them: one line for the log.
	Person string `json:"person,omitempty"`
	// Inquiry, Option, Model and Text are those of an answer; see flow.Answer. The text has at most 64 KiB.
	Inquiry string      `json:"inquiry,omitempty"`
	Option  flow.Option `json:"option,omitempty"`
	Model   string      `json:"model,omitempty"`
	Text    string      `json:"text,omitempty"`
}

// signal returns the control of package flow. It checks what the control alone shows; the rest depends on the log.
func (c Control) signal() (flow.Signal, error) {
	answer := flow.Answer{Inquiry: c.Inquiry, Option: c.Option, Model: c.Model, Text: c.Text, Person: c.Person}
	if len(c.Person) > flow.MaxReason {
		return nil, invalid("person", fmt.Errorf("has %d bytes, at most %d are possible", len(c.Person), flow.MaxReason))
	}
	if c.Action == ActionAnswer {
		switch {
		case c.Inquiry == "":
			return nil, invalid("inquiry", errors.New("is missing"))
		case len(c.Text) > maxText:
			return nil, invalid("text", fmt.Errorf("has %d bytes; at most %d are possible here, more with Engine.Control", len(c.Text), maxText))
		case c.Reason != "" || c.Drain:
			return nil, invalid("reason", errors.New("an answer has neither a reason nor drain"))
		}
		return answer, nil
	}
	if c.Inquiry != "" || c.Option != "" || c.Model != "" || c.Text != "" {
		return nil, invalid("inquiry", errors.New("only an answer has an inquiry, an option, a model or a text"))
	}
	if c.Drain && c.Action != ActionPause {
		return nil, invalid("drain", errors.New("only a pause has it"))
	}
	if len(c.Reason) > flow.MaxReason {
		return nil, invalid("reason", fmt.Errorf("has %d bytes, at most %d are possible", len(c.Reason), flow.MaxReason))
	}
	switch c.Action {
	case ActionPause:
		return flow.Pause{Drain: c.Drain, Reason: c.Reason, Person: c.Person}, nil
	case ActionResume:
		return flow.Resume{Reason: c.Reason, Person: c.Person}, nil
	case ActionStop:
		return flow.Stop{Reason: c.Reason, Person: c.Person}, nil
	case ActionCancel:
		return flow.Cancel{Reason: c.Reason, Person: c.Person}, nil
	case ActionRetry:
		return flow.Retry{Reason: c.Reason, Person: c.Person}, nil
	default:
		known := []Action{ActionAnswer, ActionPause, ActionResume, ActionStop, ActionCancel, ActionRetry}
		return nil, invalid("action", flow.Unknown("action", c.Action, known...))
	}
}

// recordedAs reports whether an event is what the control becomes in a log. The same answer of another person is not.
func (c Control) recordedAs(body flow.Body) bool {
	switch b := body.(type) {
	case *flow.Answer:
		return c.Action == ActionAnswer && b.Inquiry == c.Inquiry && b.Option == c.Option && b.Person == c.Person &&
			(c.Option != "" && b.Model == c.Model || c.Option == "" && b.Text == c.Text)
	case *flow.RetriedNow:
		return c.Action == ActionRetry && b.Reason == c.Reason && b.Person == c.Person
	case *flow.Transition:
		return string(b.On) == string(c.Action) && strings.HasSuffix(b.Evidence, c.Reason) && b.Person == c.Person
	default:
		return false
	}
}

func invalid(field string, why error) error {
	return &flow.Error{Kind: provider.KindValidation, Op: "control", Field: field, Err: why}
}
