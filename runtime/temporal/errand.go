package temporal

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/agonist-dev/debate/flow"
)

// call makes a call and advances the debate with its outcome.
//
//  1. It beats for as long as it works, and renews the lease.
//  2. If the call is to be aborted, it breaks the call off, and records what came of it.
//  3. If the worker stops, or the server has given it up, the call is lost: another worker makes it again at once.
func (w *activities) call(ctx context.Context, in callInput) (*plan, error) {
	calling, abort := context.WithCancel(context.WithoutCancel(ctx))
	defer abort()
	e := &errand{activities: w, in: in}
	outcome := make(chan error, 1)
	go func() { // it ends soon after abort; then nobody waits for it
		var err error
		e.next, err = w.engine.Call(calling, in.ID, in.Owner, in.Call, nil)
		outcome <- err
	}()
	beat := time.NewTicker(w.lease / 3)
	defer beat.Stop()
	activity.RecordHeartbeat(ctx)
	for done := ctx.Done(); ; {
		select {
		case err := <-outcome:
			return e.ended(err)
		case <-beat.C:
			activity.RecordHeartbeat(ctx)
			if !e.wanted(calling) {
				abort()
			}
		case <-done:
			done = nil
			if !temporal.IsCanceledError(context.Cause(ctx)) {
				return e.givenUp(ctx)
			}
			abort()
		}
	}
}

// errand is a call that is being made.
type errand struct {
	*activities
	in   callInput
	next flow.Next
}

// ended returns the plan after the call. Without what the debate needs, this worker has not begun the call, or has recorded its
// outcome; another one continues.
func (e *errand) ended(err error) (*plan, error) {
	if errors.Is(err, flow.ErrMissing) {
		return nil, temporal.NewNonRetryableApplicationError(shown{err}.Error(), string(unmade), nil)
	}
	return e.plan(e.next, err)
}

// wanted renews the lease, and reports whether the call is in flight and not to be aborted. A store that fails is no reason to
// break off what is paid for.
func (e *errand) wanted(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, e.lease/3)
	defer cancel()
	next, err := e.engine.Advance(ctx, e.in.ID, e.in.Owner, nil)
	if err != nil {
		return !errors.Is(err, flow.ErrLeased) && !errors.Is(err, flow.ErrNotFound)
	}
	return slices.Contains(next.Calls, e.in.Call) && !slices.Contains(next.Abort, e.in.Call.Call)
}

// givenUp records that nobody will know what came of the call.
func (e *errand) givenUp(ctx context.Context) (*plan, error) {
	return e.plan(e.engine.Advance(context.WithoutCancel(ctx), e.in.ID, e.in.Owner, e.in.Call))
}
