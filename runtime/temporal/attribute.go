package temporal

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/agonist-dev/debate/flow"
)

// StateAttribute is the search attribute of a debate's state: "running", or a state in which no worker is needed. It is a Keyword.
// Its flow and its labels, as "name=value", stand in FlowAttribute, a Keyword, and LabelsAttribute, a KeywordList.
//
// A namespace has to know them before a debate is started with [Client.Attributes].
const (
	StateAttribute  = "DebateState"
	FlowAttribute   = "DebateFlow"
	LabelsAttribute = "DebateLabels"
)

// stateRunning stands for all states in which something happens by itself. They change several times a round, and each change of an
// attribute is an event of the history.
const stateRunning flow.State = "running"

// show keeps the search attribute at the debate's state.
func (r *run) show() {
	state := stateRunning
	if r.plan.Idle {
		state = r.plan.State
	}
	if !r.in.Attributes || state == r.in.Shown {
		return
	}
	r.in.Shown = state
	key := temporal.NewSearchAttributeKeyKeyword(StateAttribute)
	if err := workflow.UpsertTypedSearchAttributes(r.ctx, key.ValueSet(string(state))); err != nil {
		workflow.GetLogger(r.ctx).Warn("search attribute not set", "id", r.in.ID, "error", err)
	}
}
