package arbiter

import (
	"fmt"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// Inputs of the flow: Session.Send and Engine.Control send them. Their payloads are JSON of the types of the same names.
const (
	TriggerForceAgent flow.Trigger = "force-agent"
	TriggerSkipStep   flow.Trigger = "skip-step"
	TriggerRerunStep  flow.Trigger = "rerun-step"
)

// ForceAgent lets an agent act next, whatever the arbiter would decide. It counts for one execution. It is refused while
// an agent is executing.
type ForceAgent struct {
	Agent string `json:"agent" redact:"-"`
}

// SkipStep marks a step of the plan that is still to be done as skipped. An agent that works on it is not disturbed.
type SkipStep struct {
	Step *int `json:"step,omitempty"` // its index; nil: the current one
}

// RerunStep makes a step of the plan pending again, and makes it the current step.
type RerunStep struct {
	Step int `json:"step"`
}

// admit refuses inputs that name nothing that there is.
func admit(r *flow.Record, s *flow.Sent) error {
	_, err := of(r).reads(s)
	return err
}

// effect is what an input changes.
type effect struct {
	agent string // that acts next; "": a step is meant
	step  int
	again bool // the step is done again, and not left out
}

// reads returns what an input changes. The error says why it cannot.
func (w *Work) reads(s *flow.Sent) (effect, error) {
	switch s.Trigger {
	case TriggerForceAgent:
		var p ForceAgent
		if err := flow.DecodeStrict("send", s.Payload, &p); err != nil {
			return effect{}, err
		}
		if w.config.agent(p.Agent) == nil {
			return effect{}, refused("payload.agent", "%w", flow.Unknown("agent", p.Agent, w.names()...))
		}
		if w.exhausted() {
			return effect{}, refused("payload.agent", "no iteration is left: %d of %d are used", len(w.executions), w.Record.Settings().Rounds)
		}
		return effect{agent: p.Agent}, nil
	case TriggerSkipStep:
		var p SkipStep
		if len(s.Payload) > 0 {
			if err := flow.DecodeStrict("send", s.Payload, &p); err != nil {
				return effect{}, err
			}
		}
		at := 0
		if w.plan != nil {
			at = w.plan.CurrentStepIndex
		}
		if p.Step != nil {
			at = *p.Step
		}
		step, err := w.planned(at)
		if err == nil && !step.left() {
			err = refused("payload.step", "step %d is %s; left are: %s", at, step.Status, w.plan.leftOver())
		}
		if err != nil {
			return effect{}, err
		}
		return effect{step: at}, nil
	default:
		var p RerunStep
		if err := flow.DecodeStrict("send", s.Payload, &p); err != nil {
			return effect{}, err
		}
		if _, err := w.planned(p.Step); err != nil {
			return effect{}, err
		}
		return effect{step: p.Step, again: true}, nil
	}
}

// planned returns a step of the plan, counted from 0. The error says that there is none.
func (w *Work) planned(at int) (*Step, error) {
	if step := w.plan.step(at); step != nil {
		return step, nil
	}
	if w.plan == nil {
		return nil, refused("payload.step", "there is no plan yet")
	}
	return nil, refused("payload.step", "the plan has no step %d: it has %d, counted from 0", at, len(w.plan.Steps))
}

func refused(field, format string, args ...any) error {
	return &flow.Error{Kind: provider.KindValidation, Op: "send", Field: field, Err: fmt.Errorf(format, args...)}
}

// take takes an input. One that would have been refused changes nothing: a log may hold anything.
func (w *Work) take(s *flow.Sent) {
	e, err := w.reads(s)
	if err != nil {
		return
	}
	if e.agent != "" {
		w.forced = e.agent
		return
	}
	for _, x := range w.batch { // those who have reported did not know of it, and their reports count later
		x.update.outdate(e.step)
	}
	if step := w.plan.step(e.step); e.again {
		step.Status, w.plan.CurrentStepIndex, w.plan.IsComplete = Pending, e.step, false
	} else {
		step.Status = Skipped
		w.plan.advance()
	}
	w.doubt()
}

// doubt lets the arbiter decide anew if its decision rests on a plan that has changed: one that is being made, or one that was made
// during a pause and has led to nothing yet.
func (w *Work) doubt() {
	made := w.ruling != nil && !w.used && w.done == nil
	if made {
		w.decisions, w.ruling = w.decisions[:len(w.decisions)-1], nil
	}
	if made || w.Asking(w.decisionID()) {
		w.point++
	}
}
