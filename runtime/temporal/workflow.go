package temporal

import (
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/agonist-dev/debate/flow"
)

// debateWorkflow carries a debate through. It repeats decisions that activities have made by the log, and makes none: it holds
// neither a core nor a text, and no clock but that of its timers.
func debateWorkflow(root workflow.Context, in input) (Status, error) {
	ctx, _ := workflow.NewDisconnectedContext(root) // a cancellation reaches the debate as a control, and ends no activity by itself
	switch info := workflow.GetInfo(root); {
	case in.Owner == "":
		in.Owner = workflowOwner(info.WorkflowExecution)
	case info.OriginalRunID != "" && info.OriginalRunID != info.WorkflowExecution.RunID: // it was reset: the calls in flight are not its own
		in.Owner += "/" + info.WorkflowExecution.RunID
	}
	r := &run{ctx: ctx, in: in, foreign: in.Plan == nil}
	if in.Plan != nil {
		r.adopt(*in.Plan)
	}
	if err := r.listen(ctx, root); err != nil {
		return Status{}, err
	}
	if in.Look > 0 {
		r.lookAfter(in.Look)
	}
	for {
		r.changed = false
		r.find(ctx)
		r.follow()
		switch {
		case r.failed != nil:
			return r.status(), r.failed
		case !r.still(ctx):
		case r.plan.Over:
			return r.result()
		case !r.overdue && !leaving(ctx), r.foreign, r.looks, r.receive():
		case r.overdue && r.waiting == 0:
			return r.status(), r.abandoned()
		case leaving(ctx):
			return Status{}, workflow.NewContinueAsNewError(ctx, WorkflowName, r.rest(ctx))
		}
		if err := workflow.Await(ctx, func() bool { return r.changed }); err != nil {
			return r.status(), err
		}
	}
}

// workflowOwner names the holder of a debate's lease: the first run of its workflow, and those that continue it.
func workflowOwner(e workflow.Execution) string { return "temporal/" + e.ID + "/" + e.RunID }

// run is what one run of a workflow knows.
type run struct {
	ctx     workflow.Context // that of the run, for coroutines that outlast the one that begins them
	in      input
	plan    plan
	making  []making // the calls whose activities run, in the order in which they began
	steps   int      // activities under way that advance the debate
	foreign bool     // another owner may have had the lease: the debate is to be taken over
	looks   bool     // the log may have grown
	failed  error    // why the workflow cannot carry the debate on
	changed bool     // something of this was changed since the loop has looked

	timed   time.Time // when the wait of the plan is over, by the clock of the workflow; zero: none is
	stop    workflow.CancelFunc
	waiting int       // looks that wait for their time
	lookAt  time.Time // when the last of them is due

	failAt  time.Time           // when the error state will have lasted for too long; zero: the debate is in another, or there is no bound
	unbound workflow.CancelFunc // ends the timer of that; nil: there is none
	overdue bool                // the error state has lasted for too long

	control, look workflow.ReceiveChannel
}

// known reports whether the run has a plan.
func (r *run) known() bool { return r.plan.State != "" }

// still reports whether nothing is under way that this run has to see the end of.
func (r *run) still(ctx workflow.Context) bool {
	return len(r.making) == 0 && r.steps == 0 && workflow.AllHandlersFinished(ctx)
}

// adopt takes a plan. One that is older than what the run knows says nothing new: whoever has decided the newer one knew it.
func (r *run) adopt(p plan) {
	r.changed = true
	r.abort(p.Abort)
	if r.known() && p.Seq < r.plan.Seq {
		return
	}
	r.plan = p
	r.schedule()
	r.bound()
	r.show()
}

// follow does what the plan says. Before it continues as new, a run starts nothing more, so that it comes to an end.
func (r *run) follow() {
	if r.failed != nil || r.foreign || leaving(r.ctx) {
		return
	}
	for _, call := range r.plan.Calls {
		if !slices.ContainsFunc(r.making, func(m making) bool { return m.call == call }) {
			r.make(call)
		}
	}
}

// find looks at the log, if another program may have written to it. After a time in which this workflow did not have the lease, the
// debate is taken over: what other owners have left in flight is lost. While another owner has the lease, the activity is retried.
func (r *run) find(ctx workflow.Context) {
	switch {
	case r.foreign:
		r.foreign, r.looks = false, false
		r.advance(ctx, opening, nil)
	case r.looks:
		r.looks = false
		r.advance(ctx, looking, nil)
	}
}

// leaving reports whether this run is to be continued as new. It starts nothing more then.
func leaving(ctx workflow.Context) bool { return workflow.GetInfo(ctx).GetContinueAsNewSuggested() }

// advance lets an activity advance the debate, and takes its plan.
func (r *run) advance(ctx workflow.Context, on occasion, call *flow.Lost) {
	r.steps++
	var p plan
	lasting := []failure{missing}
	if on != opening {
		lasting = append(lasting, leased)
	}
	in := advanceInput{ID: r.in.ID, Owner: r.in.Owner, On: on, Call: call}
	in.Lapsed = len(r.plan.Calls) == 0 && len(r.making) == 0 && r.steps == 1
	if on == waking {
		in.Seq = r.plan.Seq
	}
	summary := string(on)
	if call != nil {
		summary += " " + summaryOf(*call)
	}
	err := workflow.ExecuteActivity(stepContext(ctx, summary, lasting...), advanceName, in).Get(ctx, &p)
	r.steps--
	r.changed = true
	switch failureOf(err) {
	case none:
		r.adopt(p)
	case leased:
		r.foreign = true
	default:
		r.failed = err
	}
}

// schedule sets the one timer of the debate.
func (r *run) schedule() {
	var at time.Time
	if r.plan.Wait > 0 {
		at = workflow.Now(r.ctx).Add(r.plan.Wait)
	}
	if r.stop != nil && !at.IsZero() && at.Sub(r.timed).Abs() < time.Second {
		return // the same wait, as another activity has computed it
	}
	if r.stop != nil {
		r.stop()
		r.stop = nil
	}
	if r.timed = at; at.IsZero() {
		return
	}
	timer, cancel := workflow.WithCancel(r.ctx)
	r.stop = cancel
	wait := r.plan.Wait
	workflow.Go(timer, func(timer workflow.Context) {
		if workflow.Sleep(timer, wait) == nil {
			r.stop, r.timed = nil, time.Time{}
			r.advance(timer, waking, nil)
		}
	})
}

// rest is what the next run has to know. The time that is left of a wait counts from now.
func (r *run) rest(ctx workflow.Context) input {
	next, p := r.in, r.plan
	p.Wait, p.Abort = left(ctx, r.timed), nil
	next.Plan, next.Look, next.Failing = &p, 0, left(ctx, r.failAt)
	if r.waiting > 0 {
		next.Look = left(ctx, r.lookAt)
	}
	return next
}

func (r *run) status() Status {
	p := r.plan
	return Status{ID: r.in.ID, State: p.State, Round: p.Round, Seq: p.Seq, Calls: len(p.Calls), Idle: p.Idle, Over: p.Over}
}

// result is how the workflow ends with its debate. Where a cancellation of the workflow has canceled the debate, the workflow is
// canceled too.
func (r *run) result() (Status, error) {
	if r.in.Canceled && r.plan.State == flow.StateCanceled {
		return r.status(), temporal.NewCanceledError(r.status())
	}
	return r.status(), nil
}
