package temporal

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/agonist-dev/debate/flow"
)

// The names under which a worker registers, and by which programs without this package reach a debate.
const (
	// WorkflowName is the type of the workflow. Its id is the debate's.
	WorkflowName = "debate"
	// ControlName is an update and a signal. Each takes a [Control]. The update returns the [Status] after it.
	ControlName = "control"
	// LookName is a signal without meaning of its own: the log may have grown. It takes a [Look], or nothing.
	LookName = "look"
	// StatusName is a query. It returns a [Status].
	StatusName = "status"

	advanceName = "debate.advance"
	callName    = "debate.call"
	controlName = "debate.control"
)

// Status is what a workflow knows of its debate, as a query, an update and its result return it. It holds no text: Engine.Record
// reads the debate itself, whether or not a worker runs.
type Status struct {
	ID    string     `json:"id"`
	State flow.State `json:"state"`
	Round int        `json:"round,omitempty"` // from 1; 0: before the first
	Seq   int64      `json:"seq"`             // the number of the last event that the workflow knows of
	Calls int        `json:"calls,omitempty"` // in flight
	// Idle says that the debate is over, in the error state, paused, or waits for a person. No worker is needed meanwhile.
	Idle bool `json:"idle,omitempty"`
	Over bool `json:"over,omitempty"` // nothing more can be recorded
}

// Look is the argument of the signal LookName.
type Look struct {
	After time.Duration `json:"after,omitempty"` // how long the workflow waits before it looks, in nanoseconds
}

// input is the argument of the workflow. A run that continues as new gives the next one what it knows.
type input struct {
	ID         string        `json:"id"`
	Owner      string        `json:"owner,omitempty"`      // of the lease; "": the first run, which makes it of its own id
	Attributes bool          `json:"attributes,omitempty"` // the namespace has the search attributes
	Shown      flow.State    `json:"shown,omitempty"`      // by the search attribute
	Plan       *plan         `json:"plan,omitempty"`       // nil: the debate is to be taken over
	Look       time.Duration `json:"look,omitempty"`       // after which the last look is due; 0: none is
	Canceled   bool          `json:"canceled,omitempty"`   // the workflow was canceled, and the debate knows it
	FailAfter  time.Duration `json:"failAfter,omitempty"`  // how long the debate may be in the error state; 0: without a bound
	Failing    time.Duration `json:"failing,omitempty"`    // what is left of it; 0: the debate is not in the error state
}

// plan is what an activity has decided by the log. The workflow carries it out and decides nothing.
type plan struct {
	flow.Next
	Lease time.Duration `json:"lease"` // of the engine: how long a worker may be silent
}

// occasion is why an activity advances a debate.
type occasion string

const (
	opening occasion = "open"   // the workflow takes the debate over
	looking occasion = "look"   // the log may have grown
	waking  occasion = "tick"   // the wait is over
	losing  occasion = "lost"   // the outcome of a call is unknown
	sparing occasion = "spared" // a call was not made, since it is to be aborted
)

// advanceInput is the argument of the activity that advances a debate.
type advanceInput struct {
	ID    string     `json:"id"`
	Owner string     `json:"owner"`
	On    occasion   `json:"on"`
	Call  *flow.Lost `json:"call,omitempty"`
	Seq   int64      `json:"seq,omitempty"` // of the plan whose wait is over; see flow.Tick
	// Lapsed says that nothing has renewed the lease for a while, and that the workflow makes no call: what is in flight, another
	// owner has left.
	Lapsed bool `json:"lapsed,omitempty"`
}

// callInput is the argument of the activity that makes a call.
type callInput struct {
	ID    string    `json:"id"`
	Owner string    `json:"owner"`
	Call  flow.Lost `json:"call"`
}

// controlInput is the argument of the activity that gives a control to a debate.
type controlInput struct {
	ID      string  `json:"id"`
	Owner   string  `json:"owner"`
	Control Control `json:"control"`
	Seq     int64   `json:"seq,omitempty"` // the last event that the workflow knew of when it got the control
}

// left returns how long a deadline of the workflow's clock is away, and 0 for none.
func left(ctx workflow.Context, deadline time.Time) time.Duration {
	if deadline.IsZero() {
		return 0
	}
	return max(deadline.Sub(workflow.Now(ctx)), 1)
}
