package progress

import (
	"iter"
	"maps"
	"time"

	"github.com/agonist-dev/debate/flow"
)

// Jobs is what a conversation works on: the fold of its events, for a display. The zero value has seen no event. Jobs belong to one
// goroutine. If the fold begins in the middle, what only earlier events hold is "" or 0.
type Jobs struct {
	Round flow.Round // the latest one; N is 0 before the first
	Phase Phase      // the latest one

	pending map[string]*Job // by call
	whole   bool            // the start was seen
}

// Phase is a state in which a conversation works. It lasts while the conversation is paused, waits for a person or has failed.
type Phase struct {
	State    flow.State
	Round    int // 0 before the first
	Expected int // how many calls it is expected to make; 0: none, or the number is unknown
}

// Job is a call, over all its attempts. The use of a tool is one too, and so is a call that a person performs.
type Job struct {
	*flow.Intent // of the latest attempt; never nil

	Tries     int             // attempts so far, since the job began
	InFlight  bool            // false between two attempts
	RetryAt   time.Time       // when the next attempt starts; zero: at once
	Arguments []byte          // of the use of a tool, as its model wrote them
	Over      bool            // the job has its result, or will never have one
	Result    flow.AttemptEnd // nil: there is none

	phase flow.State // of the latest attempt
	uses  []flow.AskedTool
}

// Pending yields the jobs that are not over, in no particular order.
func (j *Jobs) Pending() iter.Seq[*Job] { return maps.Values(j.pending) }

// Fold takes the next event. It returns the job that the event begins, continues or ends; nil: none.
func (j *Jobs) Fold(e *flow.Event) *Job {
	switch body := e.Body.(type) {
	case *flow.Start:
		j.whole = true
	case *flow.Transition:
		j.turnTo(body)
	case *flow.Round:
		j.Round, j.Phase.Round = *body, body.N
	case *flow.Intent:
		return j.begin(body)
	case *flow.Chunk:
		return j.job(&flow.Intent{Call: body.Call, Attempt: body.Attempt, By: body.By})
	case *flow.Skipped:
		return j.finish(body.Call)
	case *flow.Withdrawn:
		return j.finish(body.Call)
	case *flow.RetriedNow:
		for _, job := range j.pending {
			job.RetryAt = time.Time{}
		}
	case flow.AttemptEnd:
		return j.end(body)
	}
	return nil
}

// turnTo takes a change of state. In a new phase, nobody is asked again for what was broken off in the one before.
func (j *Jobs) turnTo(t *flow.Transition) {
	if t.Round != nil {
		j.Round = *t.Round
	}
	switch t.To {
	case t.From, flow.StatePaused, flow.StateAwaitingInput, flow.StateError:
		return
	default:
	}
	switch t.On {
	case flow.TriggerResume, flow.TriggerAnswered, flow.TriggerOverdue, flow.TriggerRetry:
		return
	default:
	}
	j.Phase = Phase{State: t.To, Round: j.Round.N, Expected: t.Calls}
	for call, job := range j.pending {
		if !job.InFlight {
			j.finish(call)
		}
	}
}

// begin takes an attempt.
func (j *Jobs) begin(in *flow.Intent) *Job {
	job := j.pending[in.Call]
	if job == nil {
		job = &Job{}
		if !j.whole {
			job.Tries = in.Attempt - 1
		}
		if j.pending == nil {
			j.pending = make(map[string]*Job)
		}
		j.pending[in.Call] = job
	}
	if user := j.pending[in.For]; in.Tool != "" && user != nil {
		for i := range user.uses {
			if user.uses[i].Use == in.Call {
				job.Arguments = user.uses[i].Arguments
			}
		}
	}
	job.Intent, job.InFlight, job.RetryAt, job.phase = in, true, time.Time{}, j.Phase.State
	job.Tries++
	return job
}

// end takes the end of an attempt.
func (j *Jobs) end(body flow.AttemptEnd) *Job {
	spend := flow.SpendOf(body)
	seen := &flow.Intent{Call: spend.Call, Attempt: spend.Attempt, Model: spend.Model}
	job := j.job(seen)
	job.InFlight = false
	switch body := body.(type) {
	case *flow.ToolCalls:
		job.uses = body.Uses
		return job
	case *flow.Continued:
		return job
	case *flow.Rejection:
		if seen.By = body.By; !body.Final {
			return job
		}
	case *flow.Failure:
		seen.By, job.RetryAt = body.By, body.RetryAt
		if late := job.phase != j.Phase.State; !body.Final && (!body.Void || !late) {
			return job
		}
	case *flow.Turn:
		seen.By, seen.Kind, seen.Target, seen.Round, job.Result = body.Speaker, body.Kind, body.Target, body.Round, body
	case *flow.ToolResult:
		seen.By, seen.Tool, seen.Round, job.Result = body.By, body.Tool, body.Round, body
	case *flow.Charge: // it came after the end
	default:
		job.Result = body
	}
	job.Over = true
	delete(j.pending, spend.Call)
	return job
}

// finish ends a pending job without a result; nil: there is none, for it has failed before, or was never begun.
func (j *Jobs) finish(call string) *Job {
	job := j.pending[call]
	if job != nil {
		job.Over = true
		delete(j.pending, call)
	}
	return job
}

// job returns a pending job, or one of which no more is known than what was seen.
func (j *Jobs) job(seen *flow.Intent) *Job {
	if job := j.pending[seen.Call]; job != nil {
		return job
	}
	return &Job{Intent: seen}
}
