package arbiter

import (
	"fmt"
	"slices"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// Fold implements [flow.Projection].
func (w *Work) Fold(e *flow.Event) error {
	switch body := e.Body.(type) {
	case *Decision:
		if _, known := meaning[body.Move]; !known {
			return misplaced("decision.move", "%.40q is no move", body.Move)
		}
		w.decide(body)
	case *flow.Round:
		if state := w.Working(); state != StateExecuting && state != "" { // an estimate has no states
			return misplaced("round", "begins in state %s", state)
		}
		w.begin(body.N, e.At)
	case *flow.Intent:
		if x := w.execution(body.Call); x != nil && x.Result == Failed { // it is made again
			x.Result, x.Error, x.UsedUp, x.EndedAt = Running, "", false, time.Time{}
		}
	case *flow.Turn:
		w.end(body, e.At)
		w.settle()
	case *flow.Failure:
		w.lose(body.Call, e.At)
	case *flow.Rejection:
		w.lose(body.Call, e.At)
	case *flow.Skipped:
		if x := w.execution(body.Call); x != nil {
			x.Result, x.Error, x.EndedAt = Failed, body.Reason, e.At
			w.settle()
		}
	case *flow.Sent:
		w.take(body)
	case *flow.Transition:
		w.pass(body)
	}
	return nil
}

// misplaced refuses a log: the work would wait for ever for what cannot come.
func misplaced(field, format string, args ...any) error {
	return &flow.Error{Kind: provider.KindValidation, Field: field, Err: fmt.Errorf(format, args...)}
}

// pass follows the work from state to state.
func (w *Work) pass(t *flow.Transition) {
	switch t.To { // also where a limit, the host program or a person ends the work in the middle of an execution
	case StateEvaluating, StateRecovering, flow.StateCompleting, flow.StateCompleted, flow.StateCanceled:
		w.join()
	default:
	}
	if t.To == flow.StateCompleting && w.moves(MoveComplete) {
		w.done = w.ruling
	}
	switch t.On {
	case flow.TriggerRetry:
		w.streak = 0
	case flow.TriggerReopen:
		w.foldReopened()
	default:
	}
	if (t.To == StateSelecting || t.To == StateEvaluating) && within(t.From) {
		w.point++
		if t.To == StateEvaluating || t.From == StateRecovering || t.From == flow.StateInitializing {
			w.ruling, w.used = nil, false
		}
	}
}

// within reports whether a state is one from which the work goes on to another: none in which it merely rests.
func within(s flow.State) bool {
	switch s {
	case flow.StateInitializing, StateSelecting, StateExecuting, StateEvaluating, StateRecovering:
		return true
	default:
		return false
	}
}

// decide takes a decision. One that nobody waits for any more does not count.
func (w *Work) decide(d *Decision) {
	if d.Call == w.decisionID() && !w.used {
		w.ruling, w.decisions, w.undecided = d, append(w.decisions, d), ""
	}
}

// fieldWithin is the field of the failure that a person has not answered in time.
const fieldWithin = "within"

// lose notes that an execution or a decision has failed, if its call has failed for good. A person who has not answered in time has not
// decided badly: whoever stands in is told of no failure.
func (w *Work) lose(call string, at time.Time) {
	if call == w.decisionID() && w.Failed(call) {
		failure := w.FailureOf(call)
		if failure != nil && failure.Field == fieldWithin {
			return
		}
		w.failures++
		w.streak++
		if failure != nil {
			w.undecided = failure.Error()
		}
		return
	}
	x := w.execution(call)
	if x == nil || !w.Failed(x.Call) {
		return
	}
	w.failures++
	x.Result, x.EndedAt = Failed, at
	if failure := w.FailureOf(x.Call); failure != nil {
		x.Error, x.UsedUp = failure.Error(), failure.Kind == provider.KindToolLimit
	}
}

// begin begins the executions that were selected together.
func (w *Work) begin(round int, at time.Time) {
	next := w.next()
	failed := w.batch
	w.batch, w.known = nil, 0
	if w.plan != nil {
		w.known = len(w.plan.Steps)
	}
	for _, name := range next.agents {
		e := &Execution{
			Call: executionID(round, name), Agent: name, Iteration: len(w.executions) + 1, Round: round, Step: w.plan.stepFor(name),
			Reason: next.reason, Forced: next.forced, StartedAt: at, Result: Running,
		}
		for _, f := range failed {
			if !next.retry || f.Agent != name {
				continue
			}
			if e.Retries = f.Error; w.plan.step(f.Step) != nil && w.plan.step(f.Step).left() {
				e.Step = f.Step
			}
		}
		if s := w.plan.step(e.Step); s != nil {
			s.Status = InProgress
			s.use(name)
		}
		w.executions, w.batch = append(w.executions, e), append(w.batch, e)
	}
	w.used, w.forced, w.joined = true, "", false
}

// end takes the result of an execution.
func (w *Work) end(t *flow.Turn, at time.Time) {
	e := w.execution(t.Call)
	if e == nil {
		return
	}
	e.EndedAt, e.Output = at, t.Text
	result, ok := ResultOf(t)
	if e.Result, e.update = Success, result.PlanUpdates; !ok || !result.Success {
		e.Result, e.Error = Failed, t.Text
		w.failures++
	}
}

// settle joins the executions that were selected together once each has a result, or is left out: none of them is made again. So what
// they report of the plan counts also if the work is paused then, and an input finds it.
func (w *Work) settle() {
	if !slices.ContainsFunc(w.batch, func(e *Execution) bool { return !w.Done(e.Call) && !w.Record.Skipped(e.Call) }) {
		w.join()
	}
}

// join ends the executions that were selected together: what they report of the plan counts in their order, whoever was
// faster. Of several that have worked on one step a success counts.
func (w *Work) join() {
	if w.joined {
		return
	}
	w.joined = true
	if failed, succeeded := w.counted(); succeeded {
		w.streak = 0
	} else {
		w.streak += failed
	}
	for _, result := range []Outcome{Success, Failed} {
		for _, e := range w.batch {
			told := e.update != nil && changes(e.update, e.Step)
			if s := w.plan.step(e.Step); e.Result == result && s != nil && !told && s.Status == InProgress {
				if s.Status = Complete; result == Failed {
					s.Status = StepFailed
				}
			}
		}
	}
	for _, e := range w.batch {
		e.UsedUp = e.UsedUp || w.UsedUp(e.Call)
		e.row = e.line()
		if e.update != nil {
			w.plan = w.plan.With(e.update, w.known)
		}
	}
	if w.plan != nil {
		w.plan.advance()
	}
}

// changes reports whether an update says how far a step is.
func changes(u *PlanUpdate, step int) bool {
	for _, s := range u.Steps {
		if s.Index == step && s.Status != "" {
			return true
		}
	}
	return false
}

// use notes that an agent works on the step.
func (s *Step) use(agent string) {
	if !slices.Contains(s.AgentsUsed, agent) {
		s.AgentsUsed = append(s.AgentsUsed, agent)
	}
}

// execution returns the latest execution with this call; nil: there is none.
func (w *Work) execution(call string) *Execution {
	for _, e := range w.batch {
		if e.Call == call {
			return e
		}
	}
	return nil
}
