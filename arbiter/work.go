package arbiter

import (
	"fmt"
	"slices"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// Work is arbitrated work for reading: the [flow.Record] that every flow has, and what the arbiter and the agents have
// done. It is read only, under the rules of its Record. What its methods return belongs to the caller.
type Work struct {
	*flow.Record

	config     *Config
	decisions  []*Decision
	executions []*Execution
	batch      []*Execution // the latest ones, which were selected together
	plan       *Plan
	known      int       // how many steps the plan had when they were selected
	point      int       // how often somebody was to decide
	ruling     *Decision // of this point; nil: there is none yet
	used       bool      // the ruling has led to an execution
	undecided  string    // why the decision before this one has failed; "": it has not
	forced     string    // the agent that an input has forced; "": none
	streak     int       // failures in a row, without those of executions that are not joined
	failures   int       // all failures
	joined     bool      // the batch has ended, and counts
	done       *Decision // that the task is complete; nil: nobody has decided so
}

// Outcome is how an execution has ended.
type Outcome string

// The outcomes of executions.
const (
	Running   Outcome = "running" // it has not ended
	Success   Outcome = "success"
	Failed    Outcome = "failed"
	Cancelled Outcome = "cancelled" // the work ended before the execution did
)

// Execution is one execution of an agent.
type Execution struct {
	Call      string `json:"call"` // the ID of its call; see flow.Record.CallUsage
	Agent     string `json:"agent"`
	Iteration int    `json:"iteration"` // from 1
	Round     int    `json:"round"`     // agents that were selected together share it
	Step      int    `json:"step"`      // of the plan; -1: none
	// Reason is why the agent was selected, in the words of the arbiter. Forced means that an input has chosen the agent.
	Reason string `json:"reason,omitempty"`
	Forced bool   `json:"forced,omitempty"`
	// Retries is the error of the failed execution that this one retries; "": it retries none.
	Retries   string    `json:"retries,omitempty"`
	StartedAt time.Time `json:"startedAt"`
	EndedAt   time.Time `json:"endedAt,omitzero"`
	Result    Outcome   `json:"result"`
	Output    string    `json:"output,omitempty"`
	Error     string    `json:"error,omitempty"` // why it has failed
	// UsedUp means that the agent reached its limit of replies. Usage, Cost, Unsettled and Uses are what all its attempts have taken.
	UsedUp bool           `json:"usedUp,omitempty"`
	Usage  provider.Usage `json:"usage,omitzero"`
	Cost   flow.Money     `json:"cost,omitempty"`
	flow.Unsettled
	Uses []flow.UsedTool `json:"uses,omitempty"`

	update *PlanUpdate
	row    string // of the table that the arbiter reads; "": the execution has not ended
}

// Of returns the work of a record. It returns false if the record is of another flow, or if nothing has started.
func Of(r *flow.Record) (*Work, bool) { return flow.ProjectionOf[*Work](r) }

// of is Of for the flow itself, which is only asked about its own records.
func of(r *flow.Record) *Work {
	if w, ok := Of(r); ok {
		return w
	}
	return &Work{Record: r, config: &Config{}}
}

// open makes the projection of a record.
func open(r *flow.Record, _ *flow.Start) (flow.Projection, error) {
	return &Work{Record: r, config: r.Config().(*Config)}, nil
}

// Config returns the normalized config, with every default written out, but without an ID. It is read only.
func (w *Work) Config() *Config { return w.config }

// Plan returns the plan; nil: no agent has made one.
func (w *Work) Plan() *Plan { return w.plan.clone() }

// Decisions returns what the arbiter has decided, oldest first. A decision that came too late to count is not among them.
func (w *Work) Decisions() []*Decision { return slices.Clone(w.decisions) }

// Decision returns the arbiter's latest decision; nil: there is none.
func (w *Work) Decision() *Decision {
	if len(w.decisions) == 0 {
		return nil
	}
	return w.decisions[len(w.decisions)-1]
}

// Executions returns the executions of agents in the order of their iterations. If the conversation was canceled, executions
// that had not ended have the result Cancelled.
func (w *Work) Executions() []Execution {
	out := make([]Execution, len(w.executions))
	for i, e := range w.executions {
		out[i] = *e
		if took, ok := w.Record.CallUsage(e.Call); ok {
			out[i].UsedUp, out[i].Usage, out[i].Uses = e.UsedUp || took.UsedUp, took.Usage, took.Uses
			out[i].Cost, out[i].Unsettled = took.Cost, took.Unsettled
		}
		if e.Result == Running && w.Final() {
			out[i].Result, out[i].EndedAt = Cancelled, w.LastAt
		}
	}
	return out
}

// Current returns the agents that are executing; nil: none is.
func (w *Work) Current() []Agent {
	if w.Final() || w.Working() != StateExecuting {
		return nil
	}
	var out []Agent
	for _, e := range w.batch {
		if a := w.config.agent(e.Agent); a != nil && e.Result == Running {
			out = append(out, *a)
		}
	}
	return out
}

// Iterations returns how many executions there were.
func (w *Work) Iterations() int { return len(w.executions) }

// Progress implements [flow.Paced]. It counts the executions that have ended, whatever has come of them.
func (w *Work) Progress() string {
	ended := 0
	for _, e := range w.executions {
		if e.Result != Running {
			ended++
		}
	}
	return fmt.Sprintf("%d of %d executions", ended, w.Record.Settings().Rounds)
}

// Failures returns how many decisions and executions have failed, and how many of them in a row.
func (w *Work) Failures() (total, row int) {
	if w.joined {
		return w.failures, w.streak
	}
	failed, succeeded := w.counted()
	if succeeded {
		return w.failures, 0
	}
	return w.failures, w.streak + failed
}

// counted counts the executions of the batch that have failed, and reports whether one has succeeded.
func (w *Work) counted() (failed int, succeeded bool) {
	for _, e := range w.batch {
		switch e.Result {
		case Failed:
			failed++
		case Success:
			succeeded = true
		default:
		}
	}
	return failed, succeeded
}

// Summary returns the arbiter's summary of the complete task. It returns false if the task was not declared complete.
func (w *Work) Summary() (string, bool) {
	if w.done == nil {
		return "", false
	}
	return w.done.Summary, true
}

// names returns the agents' names in the order of the config.
func (w *Work) names() []string {
	out := make([]string, len(w.config.Agents))
	for i := range out {
		out[i] = w.config.Agents[i].Name
	}
	return out
}

// MarshalJSON writes the record's JSON, then the plan, the decisions, the executions, what Failures returns as failed and
// failedInARow, and the lines of Degraded. The JSON cannot be read back.
func (w *Work) MarshalJSON() ([]byte, error) {
	total, row := w.Failures()
	summary, complete := w.Summary()
	return w.MarshalWith(struct {
		Complete   bool        `json:"complete"`
		Summary    string      `json:"summary,omitempty"`
		Plan       *Plan       `json:"plan,omitempty"`
		Decisions  []*Decision `json:"decisions"`
		Executions []Execution `json:"executions"`
		Failed     int         `json:"failed"` // executions; the record's failures are those of calls
		InARow     int         `json:"failedInARow"`
		Degraded   []string    `json:"degraded,omitempty"`
	}{complete, summary, w.plan, w.decisions, w.Executions(), total, row, w.Degraded()})
}
