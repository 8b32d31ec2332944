package arbiter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/prompt"
	"github.com/agonist-dev/debate/provider"
)

// FlowName is the name of the flow, in Engine.Flows.
const FlowName = "arbiter"

// States of the flow.
const (
	StateSelecting  flow.State = "selecting"  // the arbiter selects who acts next
	StateExecuting  flow.State = "executing"  // the selected agents work
	StateEvaluating flow.State = "evaluating" // the arbiter decides how to go on
	StateRecovering flow.State = "recovering" // after a failure the work goes on, or ends in the error state
)

// Triggers of the flow.
const (
	triggerSelected  flow.Trigger = "selected"
	triggerExecuted  flow.Trigger = "executed"
	triggerDecided   flow.Trigger = "decided"
	triggerFailed    flow.Trigger = "failed"
	triggerRecovered flow.Trigger = "recovered"
)

// Reasons for the end of the work, beside those of every flow.
const (
	EndComplete   flow.EndReason = "complete"   // the arbiter has declared the task complete
	EndIterations flow.EndReason = "iterations" // there were Config.MaxIterations executions
)

// EndedByLimit is Record.EndedEarlyBy of work that Config.MaxIterations has ended.
const EndedByLimit = flow.EndedByIterations

// Flow returns the flow of arbitrated work. Register it in Engine.Flows under [FlowName]. Each call returns a fresh value.
func Flow() *flow.Flow {
	always := flow.Guard{}
	guard := func(name string, ok func(w *Work) bool) flow.Guard {
		return flow.Guard{Name: name, OK: func(r *flow.Record) bool { return ok(of(r)) }}
	}
	isComplete := guard("isComplete", func(w *Work) bool { return w.moves(MoveComplete) })
	shouldRetry := guard("shouldRetry", func(w *Work) bool { return w.moves(MoveRetry) })
	maxIterations := guard("maxIterationsReached", (*Work).exhausted)
	maxFailures := guard("maxFailuresReached", (*Work).hopeless)
	recoverable := guard("isRecoverable", (*Work).recoverable)
	goesOn := guard("failuresLeft", func(w *Work) bool { return !w.hopeless() })
	hasSteps := guard("hasSteps", func(w *Work) bool { return w.plan != nil && len(w.plan.Steps) > 0 })
	hasAgent := guard("hasAgent", func(w *Work) bool { return len(w.next().agents) > 0 })
	return &flow.Flow{
		Name: FlowName, Version: 2, Start: StateSelecting,
		Rules: []flow.Rule{
			{From: StateSelecting, On: triggerSelected, To: flow.StateCompleting, When: isComplete},
			{From: StateSelecting, On: triggerSelected, To: flow.StateCompleting, When: maxIterations},
			{From: StateSelecting, On: triggerSelected, To: StateExecuting, When: hasAgent},
			{From: StateSelecting, On: triggerFailed, To: StateRecovering, When: recoverable},

			{From: StateExecuting, On: triggerExecuted, To: StateRecovering, When: maxFailures},
			{From: StateExecuting, On: triggerExecuted, To: StateEvaluating, When: always},
			{From: StateExecuting, On: triggerFailed, To: StateRecovering, When: recoverable},

			{From: StateEvaluating, On: triggerDecided, To: flow.StateCompleting, When: isComplete},
			{From: StateEvaluating, On: triggerDecided, To: flow.StateCompleting, When: maxIterations},
			{From: StateEvaluating, On: triggerDecided, To: StateSelecting, When: shouldRetry},
			{From: StateEvaluating, On: triggerDecided, To: StateSelecting, When: always},
			{From: StateEvaluating, On: triggerFailed, To: StateRecovering, When: recoverable},

			{From: StateRecovering, On: triggerRecovered, To: StateSelecting, When: goesOn},
			{From: flow.StateCompleting, On: flow.TriggerReopen, To: StateSelecting, When: always},

			// Inputs are recorded, and read where the work goes on. An agent that is executing is not disturbed.
			{From: StateSelecting, On: TriggerForceAgent, To: flow.StateUnchanged, When: always},
			{From: StateEvaluating, On: TriggerForceAgent, To: flow.StateUnchanged, When: always},
			{From: flow.StatePaused, On: TriggerForceAgent, To: flow.StateUnchanged, When: always},
			{From: flow.StateAwaitingInput, On: TriggerForceAgent, To: flow.StateUnchanged, When: always},
			{From: flow.StateError, On: TriggerForceAgent, To: flow.StateUnchanged, When: always},

			{From: StateSelecting, On: TriggerSkipStep, To: flow.StateUnchanged, When: hasSteps},
			{From: StateEvaluating, On: TriggerSkipStep, To: flow.StateUnchanged, When: hasSteps},
			{From: flow.StatePaused, On: TriggerSkipStep, To: flow.StateUnchanged, When: hasSteps},
			{From: flow.StateAwaitingInput, On: TriggerSkipStep, To: flow.StateUnchanged, When: hasSteps},
			{From: flow.StateError, On: TriggerSkipStep, To: flow.StateUnchanged, When: hasSteps},

			{From: StateSelecting, On: TriggerRerunStep, To: flow.StateUnchanged, When: hasSteps},
			{From: StateEvaluating, On: TriggerRerunStep, To: flow.StateUnchanged, When: hasSteps},
			{From: flow.StatePaused, On: TriggerRerunStep, To: flow.StateUnchanged, When: hasSteps},
			{From: flow.StateAwaitingInput, On: TriggerRerunStep, To: flow.StateUnchanged, When: hasSteps},
			{From: flow.StateError, On: TriggerRerunStep, To: flow.StateUnchanged, When: hasSteps},
		},
		Steps: map[flow.State]flow.Step{
			flow.StateInitializing: {Next: func(*flow.Record) (flow.Trigger, flow.Exit, bool) {
				return flow.TriggerInitialized, flow.Exit{Calls: 1}, true
			}},
			StateSelecting:  {Calls: decisionCalls, Next: selected},
			StateExecuting:  {Calls: executionCalls, Next: executed},
			StateEvaluating: {Calls: decisionCalls, Next: decided},
			StateRecovering: {Next: recovered},
		},
		Inputs: []flow.Trigger{TriggerForceAgent, TriggerSkipStep, TriggerRerunStep}, Admit: admit,
		Payloads: map[flow.Trigger]any{
			TriggerForceAgent: &ForceAgent{}, TriggerSkipStep: &SkipStep{}, TriggerRerunStep: &RerunStep{},
		},
		Schemas: schemas(), Bodies: []flow.Body{&Decision{}}, Prompts: templates(), ConfigSchema: configSchema,

		Decode: flow.DecodeTo[Config], Normalize: normalize, Check: check, Field: field, Fixed: fixed, Texts: texts,
		Open: open, Owes: owes, Result: result, Amend: amendable, Reopen: reopen, Kinds: kinds, Estimate: estimate, Last: conclusion,
	}
}

// batch is who acts next.
type batch struct {
	agents []string
	reason string
	forced bool
	retry  bool
}

// next returns who acts next: whom an input has forced, or else whom the arbiter has chosen, as far as iterations are left.
func (w *Work) next() batch {
	var out batch
	switch d := w.ruling; {
	case w.forces():
		out = batch{agents: []string{w.forced}, forced: true}
	case d == nil || w.used:
	case d.Move == MoveSelect:
		out = batch{agents: d.Agents, reason: d.Reason}
	case d.Move == MoveContinue || d.Move == MoveRetry:
		out = batch{reason: d.Reason, retry: d.Move == MoveRetry}
		for _, e := range w.batch {
			if d.Move == MoveContinue || e.Result == Failed {
				out.agents = append(out.agents, e.Agent)
			}
		}
	default:
	}
	out.agents = out.agents[:min(len(out.agents), w.left())]
	return out
}

// moves reports whether the arbiter has decided so, and nobody has forced an agent.
func (w *Work) moves(m Move) bool {
	return !w.forces() && w.ruling != nil && !w.used && w.ruling.Move == m
}

// forces reports whether an input has forced an agent that can still act.
func (w *Work) forces() bool { return w.forced != "" && !w.exhausted() }

// exhausted reports whether no execution is left.
func (w *Work) exhausted() bool { return w.left() == 0 }

// left returns how many executions there may still be.
func (w *Work) left() int { return max(0, w.Record.Settings().Rounds-len(w.executions)) }

// hopeless reports whether there were as many failures in a row as end the work.
func (w *Work) hopeless() bool {
	_, row := w.Failures()
	return row >= w.config.MaxFailures
}

// recoverable reports whether the call that is made now has failed in a way that passes, for longer than it was waited
// for.
func (w *Work) recoverable() bool {
	calls := []string{w.decisionID()}
	if w.Working() == StateExecuting {
		calls = calls[:0]
		for _, e := range w.batch {
			calls = append(calls, e.Call)
		}
	}
	return slices.ContainsFunc(calls, func(id string) bool {
		failure := w.FailureOf(id)
		return w.Failed(id) && failure != nil && (failure.Kind == provider.KindRateLimit || failure.Kind == provider.KindNetwork)
	})
}

// recovered goes on after a failure, or ends in the error state after too many.
func recovered(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
	w := of(r)
	if !w.hopeless() {
		return triggerRecovered, flow.Exit{Calls: 1}, true
	}
	_, row := w.Failures()
	failure, said := w.trouble()
	failure.Err = fmt.Errorf("%d failures in a row: %s", row, clipped(strings.Join(strings.Fields(said), " "), 300))
	return flow.TriggerFail, flow.Exit{Reason: flow.EndFailed, Evidence: failure.Error(), Failure: &failure}, true
}

// trouble returns the latest failure and its cause: that of a call, or else what an agent has reported.
func (w *Work) trouble() (flow.Error, string) {
	last, said := w.FailureOf(w.decisionID()), "no failure is recorded"
	for _, e := range slices.Backward(w.batch) {
		if last == nil && e.Result == Failed {
			last, said = w.FailureOf(e.Call), e.Agent+": "+e.Error
			break
		}
	}
	switch {
	case last == nil:
		return flow.Error{Kind: provider.KindState, Op: "flow " + FlowName, Field: "maxFailures", Round: w.Round}, said
	case last.Err != nil:
		said = last.Err.Error()
	}
	return *last, said
}

// owes returns what the work lacks: that the arbiter declares the task complete, unless somebody has ended it early.
func owes(r *flow.Record) []string {
	if _, ok := of(r).Summary(); ok || r.EndedEarlyBy != "" {
		return nil
	}
	return []string{"the arbiter's decision that the task is complete"}
}

// result names the result for lists.
func result(r *flow.Record) string {
	w := of(r)
	if summary, ok := w.Summary(); ok {
		line, _, _ := strings.Cut(strings.TrimSpace(summary), "\n")
		return clipped(line, longestResult)
	}
	return "not complete after " + prompt.Count(len(w.executions), "execution")
}

// kinds returns the kinds of the calls.
func kinds(flow.Config) []flow.CallKind { return []flow.CallKind{KindDecision, KindExecution} }

// amendable reports what of an amendment cannot be changed: fewer iterations than there were, and nobody to ask where a person decides.
func amendable(r *flow.Record, a *flow.Amendment) []error {
	w := of(r)
	var f flow.Findings
	if most := a.Rounds; most != nil && (*most < max(1, len(w.executions)) || *most > mostIterations) {
		f.Addf("rounds", "is %d: %d to %d iterations are possible", *most, max(1, len(w.executions)), mostIterations)
	}
	if a.Unattended != nil && *a.Unattended && w.config.Arbiter.seat().Waits() {
		f.Addf("unattended", "is set, but a person decides")
	}
	return f
}
