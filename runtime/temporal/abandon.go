package temporal

import (
	"cmp"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/agonist-dev/debate/flow"
)

// FailedType is the type of the application error with which a workflow ends whose debate was in the error state for longer than
// [Client].FailAfter. Its details are a [Status].
const FailedType = "error"

// bound keeps the timer of a debate in the error state. A change of state ends it.
func (r *run) bound() {
	if r.plan.State != flow.StateError {
		if r.unbound != nil {
			r.unbound()
		}
		r.unbound, r.failAt, r.overdue = nil, time.Time{}, false
		return
	}
	if r.in.FailAfter <= 0 || r.unbound != nil {
		return
	}
	wait := cmp.Or(r.in.Failing, r.in.FailAfter)
	r.in.Failing = 0
	at := workflow.Now(r.ctx).Add(wait)
	timer, cancel := workflow.WithCancel(r.ctx)
	r.unbound, r.failAt = cancel, at
	workflow.Go(timer, func(timer workflow.Context) {
		if workflow.Sleep(timer, wait) == nil && r.failAt.Equal(at) {
			r.overdue, r.changed = true, true
		}
	})
}

// abandoned is how the workflow of a debate ends that nobody has retried.
func (r *run) abandoned() error {
	why := fmt.Sprintf("the debate has failed, and was neither retried nor ended within %s: retry or cancel it", r.in.FailAfter)
	return temporal.NewNonRetryableApplicationError(why, FailedType, nil, r.status())
}
