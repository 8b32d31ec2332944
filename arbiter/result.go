package arbiter

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/prompt"
)

// KindExecution is the kind of the calls in which agents work.
const KindExecution flow.CallKind = "execution"

const (
	schemaResult = "result"
	fieldOutput  = "output"
)

// Result is what an agent reports at the end of an execution.
type Result struct {
	// Success is whether the agent has done what it was selected for.
	Success bool `json:"success"`
	// Output is its work, what it has done with its tools, or why it has failed. It is the text of the turn, which the arbiter and all
	// agents read.
	Output string `json:"output"`
	// PlanUpdates are changes of the plan. An agent that makes a plan reports all of it here.
	PlanUpdates *PlanUpdate `json:"planUpdates,omitempty"`
}

// resultSchema says how the result of an execution is read.
func resultSchema() *flow.Schema {
	return flow.AnswerSchema[Result](schemaResult, flow.AnswerOf[Result]{
		Fields: func(r *flow.Record, _ *flow.Call) prompt.Fields { return resultFields(of(r).names()) },
		Check: func(r *flow.Record, result *Result) []string {
			w := of(r)
			var problems []string
			if strings.TrimSpace(result.Output) == "" {
				problems = append(problems, "output: is blank")
			}
			if most := w.mostOutput(); len(result.Output) > most {
				problems = append(problems, fmt.Sprintf("output: has %d bytes, at most %d are accepted", len(result.Output), most))
			}
			if u := result.PlanUpdates; u != nil {
				problems = append(problems, w.plan.refuses(u, func(name string) bool { return w.config.agent(name) != nil })...)
			}
			return problems
		},
		Spoken: fieldOutput,
	})
}

// mostContinued is how often a reply of an execution that ends at its cap is continued.
const mostContinued = 3

// mostOutput bounds the output of an execution, in bytes: what the largest number of tokens of a reply can hold, with all its parts.
func (w *Work) mostOutput() int {
	const bytesPerToken = 8
	most := w.Settings().MaxTokens
	for i := range w.config.Agents {
		most = max(most, w.config.Agents[i].MaxTokens)
	}
	const each = bytesPerToken * (1 + mostContinued)
	return min(most, math.MaxInt/each) * each
}

// ResultOf returns the result that a turn of an execution reports. It returns false if the turn has none.
func ResultOf(t *flow.Turn) (Result, bool) {
	var out Result
	if t == nil || t.Kind != KindExecution || json.Unmarshal(t.Data, &out) != nil {
		return Result{}, false
	}
	return out, true
}
