package temporal

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/agonist-dev/debate/flow"
)

// listen registers the query and the update, and begins to receive signals and the cancellation of the workflow.
func (r *run) listen(ctx, root workflow.Context) error {
	if err := workflow.SetQueryHandler(ctx, StatusName, func() (Status, error) { return r.status(), nil }); err != nil {
		return err
	}
	options := workflow.UpdateHandlerOptions{Validator: r.refuse, UnfinishedPolicy: workflow.HandlerUnfinishedPolicyWarnAndAbandon}
	if err := workflow.SetUpdateHandlerWithOptions(ctx, ControlName, r.update, options); err != nil {
		return err
	}
	r.control, r.look = workflow.GetSignalChannel(ctx, ControlName), workflow.GetSignalChannel(ctx, LookName)
	workflow.Go(ctx, func(ctx workflow.Context) {
		for {
			var c Control
			r.control.Receive(ctx, &c)
			r.onControl(c)
		}
	})
	workflow.Go(ctx, func(ctx workflow.Context) {
		for {
			var l Look
			r.look.Receive(ctx, &l)
			r.lookAfter(l.After)
		}
	})
	workflow.Go(ctx, func(ctx workflow.Context) {
		root.Done().Receive(ctx, nil)
		r.in.Canceled = true
		r.onControl(Control{Action: ActionCancel, Reason: "the workflow was canceled"})
	})
	return nil
}

// receive takes the signals that have come and that nobody has taken, and reports whether there were some.
func (r *run) receive() (some bool) {
	var c Control
	for r.control.ReceiveAsync(&c) {
		r.onControl(c)
		c, some = Control{}, true
	}
	var l Look
	for r.look.ReceiveAsync(&l) {
		r.lookAfter(l.After)
		l, some = Look{}, true
	}
	return some
}

// refuse returns why an update is refused without a look at the log. A refused update leaves no trace in the history.
func (r *run) refuse(c Control) error {
	if r.plan.Over {
		return temporal.NewApplicationError("the debate is over", string(refused), string(flow.StateCompleted))
	}
	_, err := c.signal()
	return report(err)
}

// update gives a control to the debate and returns the status after it.
func (r *run) update(ctx workflow.Context, c Control) (Status, error) {
	ctx, _ = workflow.NewDisconnectedContext(ctx) // a cancellation of the workflow is a control like this one
	if err := r.give(ctx, c); err != nil {
		return Status{}, err
	}
	return r.status(), nil
}

// onControl gives a control of a signal to the debate. A signal has no answer: what is wrong with it is a line in the worker's log.
func (r *run) onControl(c Control) {
	r.steps++ // until it is given, the run neither ends nor continues as new
	workflow.Go(r.ctx, func(ctx workflow.Context) {
		if err := r.give(ctx, c); err != nil {
			workflow.GetLogger(ctx).Warn("control refused", "id", r.in.ID, "action", string(c.Action), "error", err)
		}
		r.steps--
		r.changed = true
	})
}

// give lets an activity give a control to the debate.
func (r *run) give(ctx workflow.Context, c Control) error {
	if r.failed != nil {
		return r.failed
	}
	if _, err := c.signal(); err != nil {
		return report(err)
	}
	r.steps++
	defer func() {
		r.steps--
		r.changed = true
	}()
	var p *plan
	in := controlInput{ID: r.in.ID, Owner: r.in.Owner, Control: c, Seq: r.plan.Seq}
	err := workflow.ExecuteActivity(stepContext(ctx, string(c.Action), missing, refused), controlName, in).Get(ctx, &p)
	if failed, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		return failed // without the activity around it: it is the sender's
	}
	if err != nil {
		return err
	}
	if p == nil { // the log has it, and another owner acts on it
		r.foreign = true
		return nil
	}
	r.adopt(*p)
	return nil
}

// lookAfter looks at the log after a time. A run that continues as new meanwhile leaves the last of these looks to the next one.
func (r *run) lookAfter(wait time.Duration) {
	if wait <= 0 {
		r.looks, r.changed = true, true
		return
	}
	r.waiting++
	if at := workflow.Now(r.ctx).Add(wait); at.After(r.lookAt) {
		r.lookAt = at
	}
	workflow.Go(r.ctx, func(ctx workflow.Context) {
		_ = workflow.Sleep(ctx, wait) // nobody cancels it
		r.waiting--
		r.looks, r.changed = true, true
	})
}
