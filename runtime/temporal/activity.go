package temporal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// defaultLease is that of an engine without a Lease of its own.
const defaultLease = 15 * time.Second

// Register registers the workflow and its activities with a worker. The engine makes the calls; it needs the store of the debates,
// and what they name: flows, providers, judges, tools. A debate for which it lacks something waits for another worker.
//
// Set the worker's WorkerStopTimeout to as long as a call takes, so that calls in flight finish when the worker is stopped. Shut
// the engine down after the worker. The error is of kind validation: the engine has no store.
//
// Under Worker Versioning the workflow moves to the newest version of the workers by itself (AutoUpgrade): it decides nothing, so that
// each release continues what an older one has begun.
func Register(r worker.Registry, engine *debate.Engine) error {
	if engine == nil || engine.Store == nil {
		none := errors.New("the engine has no store that workers share")
		return &flow.Error{Kind: provider.KindValidation, Op: "register", Field: "store", Err: none}
	}
	w := &activities{engine: engine, lease: cmp.Or(engine.Lease, defaultLease)}
	r.RegisterWorkflowWithOptions(debateWorkflow, workflow.RegisterOptions{
		Name: WorkflowName, VersioningBehavior: workflow.VersioningBehaviorAutoUpgrade,
	})
	for name, a := range map[string]any{advanceName: w.advance, callName: w.call, controlName: w.control} {
		r.RegisterActivityWithOptions(a, activity.RegisterOptions{Name: name})
	}
	return nil
}

// activities are what a worker does with its engine.
type activities struct {
	engine *debate.Engine
	lease  time.Duration
}

// plan makes the result of an activity. If the engine lacks what comes next, the outcome is recorded all the same, and the activity
// fails: the workflow then asks another worker.
func (w *activities) plan(next flow.Next, err error) (*plan, error) {
	if err != nil {
		return nil, report(err)
	}
	return &plan{Next: next, Lease: w.lease}, nil
}

// advance steps what the workflow has seen.
func (w *activities) advance(ctx context.Context, in advanceInput) (*plan, error) {
	signal, err := w.signal(ctx, &in)
	if err != nil {
		return nil, report(err)
	}
	return w.plan(w.engine.Advance(ctx, in.ID, in.Owner, signal))
}

// signal returns what has happened.
func (w *activities) signal(ctx context.Context, in *advanceInput) (flow.Signal, error) {
	switch {
	case in.On == opening:
		return opened(ctx), nil
	case in.On == looking, in.On == waking:
		if in.Lapsed {
			if now, err := w.engine.Advance(ctx, in.ID, in.Owner, nil); err != nil || len(now.Calls) > 0 {
				return opened(ctx), err
			}
		}
		return flow.Tick{Seq: in.Seq}, nil
	case in.On == losing && in.Call != nil:
		return *in.Call, nil
	case in.On == sparing && in.Call != nil:
		canceled := &flow.Error{Kind: provider.KindCanceled, Err: errors.New("broken off before it was made")}
		return flow.Failed{Call: in.Call.Call, Attempt: in.Call.Attempt, Error: canceled, Free: true}, nil
	}
	return nil, fmt.Errorf("%w: the occasion %.40q, which workers of newer releases know", flow.ErrMissing, in.On)
}

// opened is the same at each attempt of an activity: the workflow has not learned of the calls that an attempt before has begun.
func opened(ctx context.Context) flow.Opened {
	info := activity.GetInfo(ctx)
	return flow.Opened{ID: info.WorkflowExecution.RunID + "/" + info.ActivityID}
}

// control gives a control to the debate, and then looks at what follows. The result is nil if another owner has the lease: the
// control is in the log, and that owner acts on it.
func (w *activities) control(ctx context.Context, in controlInput) (*plan, error) {
	signal, err := in.Control.signal()
	if err != nil {
		return nil, report(err)
	}
	given := false
	// An attempt before may have given it to the debate, and have died. A run that knew nothing of the log yet cannot tell it from an older
	// control: that one is given again, and refused if it does not fit. An answer is told by its inquiry.
	if activity.GetInfo(ctx).Attempt > 1 && (in.Seq > 0 || in.Control.Action == ActionAnswer) {
		given, err = w.given(ctx, &in)
	}
	if err == nil && !given {
		err = w.engine.Control(ctx, in.ID, signal)
	}
	if err != nil {
		return nil, report(err)
	}
	next, err := w.engine.Advance(ctx, in.ID, in.Owner, flow.Tick{})
	if errors.Is(err, flow.ErrLeased) {
		return nil, nil //nolint:nilnil // see above
	}
	return w.plan(next, err)
}

// given reports whether the log has the control since the workflow got it.
func (w *activities) given(ctx context.Context, in *controlInput) (bool, error) {
	for event, err := range w.engine.Store.Read(ctx, in.ID, in.Seq) {
		if err != nil {
			return false, err
		}
		if in.Control.recordedAs(event.Body) {
			return true, nil
		}
	}
	return false, nil
}
