// Package progress shows the progress of a conversation of any flow. [Hooks] call back while its events are read. [Jobs] is what it works
// on, for programs that read the events themselves.
package progress

import (
	"errors"
	"iter"
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// Hooks are callbacks that display the progress of a conversation. Each may be nil. They run on the goroutine that ranges over
// [Hooks.Events], one after the other, in the order of the events. One that blocks delays this reader only. What they get is shared with
// the conversation and read only.
type Hooks struct {
	// OnRound is called when a round begins. OnPhase is called when a state of the flow begins, and OnPhaseEnd when it ends. A pause, a
	// question or a failure ends none.
	OnRound             func(flow.Round)
	OnPhase, OnPhaseEnd func(Phase)

	// OnCall is called when an actor is asked, or a person. OnDone is called when the job has its Result: a [flow.Turn], a
	// [flow.Summarized], or a body of the flow's own. OnRetry is called when an attempt has failed, or its answer was not accepted, and
	// another attempt follows. OnFailed is called when none follows: the job has failed for good, was left out, or is no longer wanted. If
	// it is asked for after all, OnCall is called again.
	OnCall, OnDone    func(Job)
	OnRetry, OnFailed func(Job, error)
	// OnText is called for each piece of a text that streams. Thoughts, and structured answers as their models write them, are no texts. The
	// pieces add up as [flow.Chunk] says.
	OnText func(Job, *flow.Chunk)
	// OnTool is called when a tool begins to be used for an actor, and OnToolDone when the tool has answered or failed. A use that was
	// denied makes neither call.
	OnTool     func(Job)
	OnToolDone func(Job, *flow.ToolResult)

	// OnQuestion is called when a person is asked, and OnAnswer when the inquiry with this ID has its answer. OnWarning is called when the
	// conversation departs from its config, for example when an actor was left out of a phase.
	OnQuestion func(*flow.Inquiry)
	OnAnswer   func(*flow.Answer)
	OnWarning  func(*flow.Warning)
}

// Events yields the events unchanged. Before it yields an event, it makes the callbacks of that event:
//
//	for event, err := range hooks.Events(engine.Run(ctx, config)) {
//
// A reader that begins in the middle gets the callbacks for all that begins from then on, and for the end of what began before; see
// [Jobs]. The result may be ranged over as often as events may.
func (h Hooks) Events(events iter.Seq2[flow.Event, error]) iter.Seq2[flow.Event, error] {
	return func(yield func(flow.Event, error) bool) {
		r := reader{Hooks: h}
		for event, err := range events {
			if err == nil {
				r.take(&event)
			}
			if !yield(event, err) {
				return
			}
		}
	}
}

// reader is how far one reader has come.
type reader struct {
	Hooks
	jobs Jobs

	round int // the round that was told last
}

// take makes the callbacks of one event.
func (r *reader) take(e *flow.Event) {
	former := r.jobs.Phase
	job := r.jobs.Fold(e)
	switch body := e.Body.(type) {
	case *flow.Transition:
		if r.jobs.Phase != former {
			r.move(former, body)
		}
	case *flow.Round:
		r.begin(body)
	case *flow.Inquiry:
		call(r.OnQuestion, body)
	case *flow.Answer:
		call(r.OnAnswer, body)
	case *flow.Warning:
		call(r.OnWarning, body)
	default:
		switch {
		case job == nil:
		case job.Tool != "":
			r.use(*job, body)
		default:
			r.ask(*job, body)
		}
	}
}

// move ends a phase and begins the next. The round that the transition begins comes in between, although its event follows.
func (r *reader) move(former Phase, t *flow.Transition) {
	if former.State == "" {
		former.State = t.From // it began before the reader came
	}
	if works(former.State) {
		call(r.OnPhaseEnd, former)
	}
	if t.Round != nil {
		r.begin(t.Round)
	}
	if works(t.To) {
		call(r.OnPhase, r.jobs.Phase)
	}
}

// begin tells of a round, once.
func (r *reader) begin(round *flow.Round) {
	if round.N != r.round {
		r.round = round.N
		call(r.OnRound, *round)
	}
}

// works reports whether a state is one of the flow's own, or that of the conclusion.
func works(s flow.State) bool {
	switch s {
	case "", flow.StateConfiguring, flow.StateValidating, flow.StateReady, flow.StateInitializing, flow.StatePaused,
		flow.StateAwaitingInput, flow.StateCompleted, flow.StateCanceled, flow.StateError:
		return false
	default:
		return true
	}
}

// use tells of the use of a tool.
func (r *reader) use(job Job, body flow.Body) {
	if result, ok := body.(*flow.ToolResult); ok {
		call2(r.OnToolDone, job, result)
	} else if _, ok := body.(*flow.Intent); ok && job.Tries == 1 {
		call(r.OnTool, job)
	}
}

// ask tells of any other call.
func (r *reader) ask(job Job, body flow.Body) {
	failed := r.OnRetry
	if job.Over {
		failed = r.OnFailed
	}
	switch body := body.(type) {
	case *flow.Intent:
		if job.Tries == 1 {
			call(r.OnCall, job)
		}
	case *flow.Chunk:
		if body.Schema == "" && !body.Reasoning {
			call2(r.OnText, job, body)
		}
	case *flow.Failure: // what was broken off is merely asked for again
		switch {
		case body.Void:
		case body.Error == nil:
			call2(failed, job, errors.New("the log names no error"))
		default:
			call2(failed, job, error(body.Error))
		}
	case *flow.Rejection:
		call2(failed, job, errors.New("the answer was not accepted: "+strings.Join(body.Problems, "; ")))
	case *flow.Skipped:
		call2(failed, job, errors.New("the call is left out: "+body.Reason))
	case *flow.Withdrawn:
		call2(failed, job, errors.New("the call is no longer wanted"))
	default:
		if job.Result != nil {
			call(r.OnDone, job)
		}
	}
}

// call and call2 call back, if there is anybody to be called.
func call[A any](hook func(A), a A) {
	if hook != nil {
		hook(a)
	}
}

func call2[A, B any](hook func(A, B), a A, b B) {
	if hook != nil {
		hook(a, b)
	}
}
