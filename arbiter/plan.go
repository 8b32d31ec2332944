package arbiter

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Status is how far a step of a plan is.
type Status string

// The states of a step.
const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Complete   Status = "complete"
	StepFailed Status = "failed"
	Skipped    Status = "skipped"
)

// Plan is how the task is to be done. Agents report it, and change it, with their results.
type Plan struct {
	Steps []Step `json:"steps"`
	// CurrentStepIndex is the step that is worked on, or is next, from 0: the number of steps if none is left.
	CurrentStepIndex int `json:"currentStepIndex"`
	// IsComplete is what the agents have reported last: it is not computed from the steps, see [Plan.Left].
	IsComplete bool `json:"isComplete"`
}

// Step is one step of a plan.
type Step struct {
	Index       int    `json:"index"` // from 0
	Description string `json:"description"`
	Status      Status `json:"status"`
	// Agent is the agent that the plan names for the step. AgentsUsed lists the agents that have worked on it, without
	// duplicates.
	Agent      string   `json:"agent,omitempty"`
	AgentsUsed []string `json:"agentsUsed,omitempty"`
}

// PlanUpdate is a part of a plan, as an agent reports it. What it leaves out stays as it is.
type PlanUpdate struct {
	// Steps are changed or added. A step with the index of the plan's length is added to its end.
	Steps            []StepUpdate `json:"steps,omitempty" jsonschema:"maxItems=200"`
	CurrentStepIndex *int         `json:"currentStepIndex,omitempty"`
	IsComplete       *bool        `json:"isComplete,omitempty"`
}

// StepUpdate is a change of a step, or a new step.
type StepUpdate struct {
	Index int `json:"index"`
	// Description and Status are kept if they are left out. A new step has a description, and is pending if it has no
	// status.
	Description string `json:"description,omitempty"`
	Status      Status `json:"status,omitempty" jsonschema:"enum=pending,enum=in_progress,enum=complete,enum=failed,enum=skipped" redact:"-"`
	Agent       string `json:"agent,omitempty" redact:"-"`
}

// Bounds of a plan.
const (
	mostSteps = 200
	mostStep  = 2000 // bytes of a description
)

// left reports whether a step is still to be done.
func (s *Step) left() bool { return s.Status != Complete && s.Status != Skipped }

// Left returns how many steps are still to be done: neither complete nor skipped.
func (p *Plan) Left() int {
	n := 0
	for i := range p.Steps {
		if p.Steps[i].left() {
			n++
		}
	}
	return n
}

// clone returns a deep copy; nil of nil.
func (p *Plan) clone() *Plan {
	if p == nil {
		return nil
	}
	out := *p
	out.Steps = slices.Clone(p.Steps)
	for i := range out.Steps {
		out.Steps[i].AgentsUsed = slices.Clone(out.Steps[i].AgentsUsed)
	}
	return &out
}

// refuses returns what is wrong with an update of the plan; p may be nil.
func (p *Plan) refuses(u *PlanUpdate, agent func(name string) bool) (problems []string) {
	addf := func(format string, args ...any) {
		if len(problems) < 20 {
			problems = append(problems, "planUpdates."+fmt.Sprintf(format, args...))
		}
	}
	n := 0
	if p != nil {
		n = len(p.Steps)
	}
	for i := range u.Steps {
		s := &u.Steps[i]
		switch {
		case s.Index < 0 || s.Index > n:
			addf("steps[%d].index: is %d, and the plan has %d steps", i, s.Index, n)
			continue
		case s.Index == n && n >= mostSteps:
			addf("steps[%d].index: a plan has at most %d steps", i, mostSteps)
			continue
		case s.Index == n && strings.TrimSpace(s.Description) == "":
			addf("steps[%d].description: a new step needs one", i)
		case len(s.Description) > mostStep:
			addf("steps[%d].description: has %d bytes, at most %d are accepted", i, len(s.Description), mostStep)
		}
		if s.Agent != "" && !agent(s.Agent) {
			addf("steps[%d].agent: there is no agent %.80q", i, s.Agent)
		}
		if s.Index == n {
			n++
		}
	}
	if at := u.CurrentStepIndex; at != nil && (*at < 0 || *at > n) {
		addf("currentStepIndex: is %d, and the plan has %d steps", *at, n)
	}
	return problems
}

// With returns the plan after an update by an agent that has read a plan of known steps; p may be nil, and does not change. Steps that are
// new to that agent are added behind those that others have added at the same time. What does not fit is left out, for a log may hold
// anything.
func (p *Plan) With(u *PlanUpdate, known int) *Plan {
	out := p.clone()
	if out == nil {
		out = &Plan{}
	}
	others := max(0, len(out.Steps)-known)
	for _, s := range u.Steps {
		if s.Index < 0 || s.Index >= mostSteps {
			continue
		}
		at := s.Index
		if at >= known {
			at += others
		}
		switch {
		case at > len(out.Steps) || at >= mostSteps:
			continue
		case at == len(out.Steps):
			out.Steps = append(out.Steps, Step{Index: at, Status: Pending})
		}
		step := &out.Steps[at]
		if s.Description != "" {
			step.Description = s.Description
		}
		if s.Status != "" {
			step.Status = s.Status
		}
		if s.Agent != "" {
			step.Agent = s.Agent
		}
	}
	if at := u.CurrentStepIndex; at != nil && *at >= 0 && *at <= mostSteps {
		to := *at
		if to >= known {
			to += others
		}
		out.CurrentStepIndex = min(to, len(out.Steps))
	} else {
		out.advance()
	}
	if out.IsComplete = out.IsComplete && len(u.Steps) == 0; u.IsComplete != nil { // a changed plan is complete if it says so
		out.IsComplete = *u.IsComplete
	}
	return out
}

// outdate takes out what an update says of a step, and of the plan as a whole, because an input has changed them since.
func (u *PlanUpdate) outdate(step int) {
	if u == nil {
		return
	}
	u.CurrentStepIndex, u.IsComplete = nil, nil
	for i := range u.Steps {
		if u.Steps[i].Index == step {
			u.Steps[i].Status = ""
		}
	}
}

// advance moves on to the first step from the current one on that is still to be done.
func (p *Plan) advance() {
	for p.CurrentStepIndex < len(p.Steps) && !p.Steps[p.CurrentStepIndex].left() {
		p.CurrentStepIndex++
	}
}

// stepFor returns the step that an agent works on: the first from the current one on that names it and is still to be
// done, or else the current one. -1: there is none.
func (p *Plan) stepFor(agent string) int {
	if p == nil || p.CurrentStepIndex >= len(p.Steps) {
		return noStep
	}
	for i := p.CurrentStepIndex; i < len(p.Steps); i++ {
		if s := &p.Steps[i]; s.Agent == agent && s.left() {
			return i
		}
	}
	return p.CurrentStepIndex
}

// noStep is the step of an execution that works on none.
const noStep = -1

// leftOver lists the steps that are still to be done, counted from 0.
func (p *Plan) leftOver() string {
	var left []string
	for i := range p.Steps {
		if p.Steps[i].left() {
			left = append(left, strconv.Itoa(i))
		}
	}
	return cmp.Or(clipped(strings.Join(left, ", "), 200), "none")
}

// step returns a step of the plan; nil: there is none.
func (p *Plan) step(i int) *Step {
	if p == nil || i < 0 || i >= len(p.Steps) {
		return nil
	}
	return &p.Steps[i]
}
