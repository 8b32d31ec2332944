package arbiter

import (
	"errors"
	"iter"
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// Hooks are callbacks that display the progress of arbitrated work, for programs that do not read events themselves. Each
// may be nil. They run on the goroutine that ranges over [Hooks.Events], one after the other, in the order of the events,
// and a callback that blocks delays this reader only. What they get is shared with the work and read only.
type Hooks struct {
	// OnPhaseStart is called when a state of the flow begins or is resumed, and OnPhaseEnd when it is left. expected is how
	// many calls the state is expected to make; 0 if there are none, or if the number is unknown.
	OnPhaseStart func(phase flow.State, expected int)
	OnPhaseEnd   func(phase flow.State)
	// OnDecision is called when a decision of the arbiter is accepted.
	OnDecision func(*Decision)
	// OnExecutionStart is called when an agent is asked for the first time in an execution, OnText for each piece of what it
	// writes, and OnExecutionEnd when its result is accepted, or when it has failed. iteration is its Execution.Round. OnText adds up
	// to what an agent says beside its uses of tools, and then its output. If an agent that may use tools writes words before its
	// result, OnText gets these words too, and then the output from its beginning. Pieces of an attempt that fails are not taken back.
	OnExecutionStart func(agent string, iteration int)
	OnText           func(agent, text string)
	OnExecutionEnd   func(agent string, result Result)
	OnRetry          func(agent string, failure error) // another attempt at the same execution follows
	// OnPlan is called with what an agent has changed in the plan.
	OnPlan func(agent string, update PlanUpdate)
	// OnToolStart is called when a tool begins to be used for an agent, with the arguments that its model wrote, and OnToolEnd
	// when the tool has answered or failed. A use that was denied makes neither call.
	OnToolStart func(agent, tool string, arguments []byte)
	OnToolEnd   func(agent, tool string, failed bool)
	// OnQuestion is called when a person is asked, and OnAnswer when the inquiry with this ID has its answer.
	OnQuestion func(flow.Inquiry)
	OnAnswer   func(flow.Answer)
	// OnWarning is called when the work departs from its config.
	OnWarning func(flow.Warning)
}

// Events yields the events unchanged. Before it yields an event, it makes the callbacks of that event:
//
//	for event, err := range hooks.Events(engine.Run(ctx, config)) {
func (h Hooks) Events(events iter.Seq2[flow.Event, error]) iter.Seq2[flow.Event, error] {
	return func(yield func(flow.Event, error) bool) {
		begun := make(map[string]bool)  // executions
		uses := make(map[string][]byte) // their arguments
		for event, err := range events {
			if err == nil {
				h.take(&event, begun, uses)
			}
			if !yield(event, err) {
				return
			}
		}
	}
}

func (h Hooks) take(e *flow.Event, begun map[string]bool, uses map[string][]byte) {
	switch body := e.Body.(type) {
	case *flow.Transition:
		h.pass(body)
	case *Decision:
		call(h.OnDecision, body)
	case *flow.Intent:
		if body.Kind == KindExecution {
			if !begun[body.Call] && !body.Reask {
				call2(h.OnExecutionStart, body.By, body.Round)
			}
			begun[body.Call] = true
		}
		if body.Tool != "" && h.OnToolStart != nil {
			h.OnToolStart(body.By, body.Tool, uses[body.Call])
		}
	case *flow.Chunk:
		if body.Schema == "" && !body.Reasoning {
			call2(h.OnText, body.By, body.Text)
		}
	case *flow.Turn:
		h.end(body)
	case *flow.Failure:
		h.fail(body.By, body.Call, body.Error, body.Final, begun)
	case *flow.Rejection:
		failure := errors.New("the result was not accepted: " + strings.Join(body.Problems, "; "))
		h.fail(body.By, body.Call, failure, body.Final, begun)
	case *flow.ToolCalls:
		for i := range body.Uses {
			uses[body.Uses[i].Use] = body.Uses[i].Arguments
		}
	case *flow.ToolResult:
		delete(uses, body.Call)
		if h.OnToolEnd != nil {
			h.OnToolEnd(body.By, body.Tool, body.Failed)
		}
	case *flow.Inquiry:
		call(h.OnQuestion, *body)
	case *flow.Answer:
		call(h.OnAnswer, *body)
	case *flow.Warning:
		call(h.OnWarning, *body)
	}
}

// pass ends one phase and begins the next.
func (h Hooks) pass(t *flow.Transition) {
	if within(t.From) {
		call(h.OnPhaseEnd, t.From)
	}
	if within(t.To) {
		call2(h.OnPhaseStart, t.To, t.Calls)
	}
}

// end shows the result of an execution.
func (h Hooks) end(t *flow.Turn) {
	result, ok := ResultOf(t)
	if !ok {
		return
	}
	if result.PlanUpdates != nil {
		call2(h.OnPlan, t.Speaker, *result.PlanUpdates)
	}
	call2(h.OnExecutionEnd, t.Speaker, result)
}

// fail shows that an attempt at an execution has failed, or the whole execution.
func (h Hooks) fail(by, id string, failure error, final bool, begun map[string]bool) {
	if !begun[id] {
		return
	}
	if !final {
		call2(h.OnRetry, by, failure)
		return
	}
	call2(h.OnExecutionEnd, by, Result{Output: failure.Error()})
}

func call[A any](hook func(A), a A) {
	if hook != nil {
		hook(a)
	}
}

func call2[A, B any](hook func(A, B), a A, b B) {
	if hook != nil {
		hook(a, b)
	}
}
