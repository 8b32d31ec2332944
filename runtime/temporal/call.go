package temporal

import (
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/text"
)

const (
	// stepTime bounds one attempt at a step: a worker that was killed in its middle is waited for no longer.
	stepTime = 20 * time.Second
	// callTime bounds a call whose worker lives, with its time in queues. The engine has limits of its own for each call.
	callTime = 7 * 24 * time.Hour
	// firstPause and longestPause are between attempts at what a worker could not do.
	firstPause   = 100 * time.Millisecond
	longestPause = 30 * time.Second
	// atOnce is how many workers may leave a call to another one before there are pauses, which last a second at least: the server's
	// timers are no finer. A worker that lacks something is free all the time, and so gets more than its share of the attempts.
	atOnce = 8
	// leavesUnmade marks a history in which a call that no worker can make was left to the next run. Older ones have no such mark.
	leavesUnmade = "leaves-unmade"
	// maxSummary bounds the id of a call in the summary of its activity, in bytes. The server takes 400 of what a codec makes of it.
	maxSummary = 100
)

// making is a call whose activity runs.
type making struct {
	call   flow.Lost
	cancel workflow.CancelFunc
}

// make lets an activity make a call, once: whether a call is made again decides the core, and that is another attempt of the call.
func (r *run) make(call flow.Lost) {
	calling, cancel := workflow.WithCancel(r.ctx)
	r.making = append(r.making, making{call, cancel})
	workflow.Go(calling, func(calling workflow.Context) {
		ctx, _ := workflow.NewDisconnectedContext(calling)
		r.see(ctx, calling, call)
		r.making = slices.DeleteFunc(r.making, func(m making) bool { return m.call == call })
		r.changed = true
	})
}

// abort cancels the activities of calls.
func (r *run) abort(calls []string) {
	for _, m := range r.making {
		if slices.Contains(calls, m.call.Call) {
			m.cancel()
		}
	}
}

// see waits for the outcome of a call.
func (r *run) see(ctx, calling workflow.Context, call flow.Lost) {
	options := callOptions(r.plan.Lease, summaryOf(call))
	for tries, pause := 1, firstPause; ; tries++ {
		var p plan
		in := callInput{ID: r.in.ID, Owner: r.in.Owner, Call: call}
		err := workflow.ExecuteActivity(workflow.WithActivityOptions(calling, options), callName, in).Get(ctx, &p)
		switch failureOf(err) {
		case none:
			r.adopt(p)
			return
		case unmade: // by this worker, which would get it again if it may be first: another may be able to
			options.DisableEagerExecution = true
			if tries > atOnce {
				_ = workflow.Sleep(calling, pause)
				pause = min(2*pause, longestPause)
			}
			switch {
			case calling.Err() != nil:
				r.advance(ctx, sparing, &call)
			case !leaving(ctx) || workflow.GetVersion(ctx, leavesUnmade, workflow.DefaultVersion, 1) < 1:
				continue // else the next run offers it on
			}
		case canceled: // before a worker began
			r.advance(ctx, sparing, &call)
		case leased:
			r.foreign = true
		default: // nobody knows what became of it
			r.advance(ctx, losing, &call)
		}
		return
	}
}

// stepContext is for activities that advance a debate. They are repeated until they succeed: what they have recorded before, they
// find in the log. A lasting failure is the workflow's to deal with.
func stepContext(ctx workflow.Context, summary string, lasting ...failure) workflow.Context {
	kinds := make([]string, len(lasting))
	for i, kind := range lasting {
		kinds[i] = string(kind)
	}
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: stepTime, Summary: summary,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: firstPause, BackoffCoefficient: 2, MaximumInterval: longestPause / 3,
			NonRetryableErrorTypes: kinds,
		},
	})
}

// callOptions are for the activity that makes a call. A worker that is silent for as long as a lease lasts is given up.
func callOptions(lease time.Duration, summary string) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		StartToCloseTimeout: callTime, HeartbeatTimeout: lease, WaitForCancellation: true, Summary: summary,
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	}
}

// summaryOf is what Temporal shows beside the activity of a call: its id, and the number of an attempt after the first.
func summaryOf(call flow.Lost) string {
	summary := text.OneLine(call.Call, maxSummary)
	if call.Attempt > 1 {
		summary += fmt.Sprintf(", attempt %d", call.Attempt)
	}
	return summary
}
