package arbiter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// How agents are asked.

// executionID is the ID of an agent's call in a round.
func executionID(round int, agent string) string { return fmt.Sprintf("r%d.%s", round, agent) }

// executionCalls returns the calls of the executions that have no result. What has failed is decided about when all others
// have ended, so that a failure does not end their work.
func executionCalls(r *flow.Record) []*flow.Call {
	w := of(r)
	var open, failed []*flow.Call
	for slot, e := range w.batch {
		if r.Done(e.Call) {
			continue
		}
		if call := w.call(e, slot); r.Failed(e.Call) {
			failed = append(failed, call)
		} else if !r.Skipped(e.Call) {
			open = append(open, call)
		}
	}
	if len(open) > 0 {
		return open
	}
	return failed
}

// call returns the call of an execution.
func (w *Work) call(e *Execution, slot int) *flow.Call {
	a := w.config.agent(e.Agent)
	if a == nil { // a log may hold anything
		return &flow.Call{ID: e.Call, Kind: KindExecution, By: e.Agent}
	}
	call := &flow.Call{
		ID: e.Call, Kind: KindExecution, Round: e.Round, Slot: slot, Hidden: true,
		Schema: schemaResult, Continues: mostContinued, System: w.Text(textAgent + a.Name),
		OnFail: flow.OnFail{Fire: triggerFailed, Skip: flow.RuleToo, Instead: []flow.Kind{provider.KindToolLimit}},
	}
	a.seat(w.config, "").Ask(call)
	if len(w.batch) > 1 { // the others' work is kept, and the arbiter sees the failure
		call.OnFail = flow.OnFail{Aid: true}
	}
	if len(a.Tools) > 0 {
		call.Tools, call.Exchanges, call.Recalls = a.Tools, a.MaxIterations, w.before(e)
	}
	call.Last = func(r *flow.Record) string { return of(r).assignment(e) + "\n\n" + r.Text(textExecute) }
	return call
}

// mostRecalled bounds the executions of which an agent is shown again how it has used its tools.
const mostRecalled = 32

// before returns the calls of the latest executions of an agent before this one, oldest first.
func (w *Work) before(e *Execution) []string {
	var out []string
	for _, x := range slices.Backward(w.executions) {
		if x.Agent == e.Agent && x.Iteration < e.Iteration && len(out) < mostRecalled {
			out = append(out, x.Call)
		}
	}
	slices.Reverse(out)
	return out
}

// executed leads on from executing.
func executed(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
	w := of(r)
	if slices.ContainsFunc(w.batch, func(e *Execution) bool { return e.Result == Running }) {
		return "", flow.Exit{}, false
	}
	return triggerExecuted, flow.Exit{Calls: 1}, true
}

// assignment tells an agent what to do: the plan, its step, what the arbiter assigns, and what has failed before.
func (w *Work) assignment(e *Execution) string {
	var out strings.Builder
	if w.plan != nil {
		out.WriteString("The plan so far:\n" + w.Quote("plan", w.planText()) + "\n")
	}
	if s := w.plan.step(e.Step); s != nil {
		fmt.Fprintf(&out, "You work on step %d.\n", e.Step)
		if len(s.Description) > w.plan.share() {
			out.WriteString("The whole of it:\n" + w.Quote("step", s.Description) + "\n")
		}
	}
	out.WriteString(w.reason(e))
	if e.Retries != "" {
		out.WriteString("Your last execution has failed. This is what went wrong:\n" + w.Quote("failure", clipped(e.Retries, mostShown)) + "\n")
	}
	return strings.TrimSpace(out.String())
}

// markAssignment marks the block that holds an agent's assignment. It is the only block whose text is an instruction, so no agent has this
// name.
const markAssignment = "assignment of the arbiter"

// reason tells an agent why it acts, and with which assignment.
func (w *Work) reason(e *Execution) string {
	const without = " has chosen you to act now, without an assignment: do what the task needs most.\n"
	switch {
	case e.Forced:
		return "The host of this work" + without
	case strings.TrimSpace(e.Reason) == "":
		return "The arbiter" + without
	default:
		return "Your assignment:\n" + w.Quote(w.Text(textAssignment), e.Reason) + "\n"
	}
}
