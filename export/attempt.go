package export

import (
	"slices"
	"time"

	"github.com/agonist-dev/debate/flow"
)

// result is what became of an attempt.
type result string

// The results of attempts. Each is the class of its bar in the timeline.
const (
	resultDone     result = "done"
	resultFailed   result = "failed"
	resultRejected result = "rejected" // the answer was not accepted
	resultAborted  result = "aborted"  // by a control, or lost in a crash
	resultOpen     result = "open"     // there is none yet
)

// words returns the result as a reader knows it.
func (r result) words() string {
	switch r {
	case resultRejected:
		return "answer not accepted"
	case resultOpen:
		return "no result"
	default:
		return string(r)
	}
}

// attempt is one try at a call, or the time that a person has taken to answer.
type attempt struct {
	by, what, model string
	target          string // whom it is about, or to; "": nobody in particular
	round, number   int
	tool, person    bool
	ruled           bool          // a rule has answered, and no person was asked
	began, ended    time.Time     // ended is zero as long as there is no result
	queued          time.Duration // that it waited for its turn, from began on
	retry           time.Time     // until when the next attempt waits; zero: it does not
	result          result
}

// took returns how long the attempt took, without the time that it waited.
func (a *attempt) took() time.Duration { return max(0, a.ended.Sub(a.began)-a.queued) }

// tries finds the attempts in a log.
type tries struct {
	all   []*attempt
	open  map[attemptID]*attempt
	calls map[string]*attempt // the last attempt at each call
	asked map[string]*attempt // by inquiry
}

func newTries() *tries {
	return &tries{open: make(map[attemptID]*attempt), calls: make(map[string]*attempt), asked: make(map[string]*attempt)}
}

// read takes in an event.
func (t *tries) read(e *flow.Event) {
	switch body := e.Body.(type) {
	case *flow.Intent:
		a := &attempt{
			by: body.By, what: string(body.Kind), target: body.Target, model: body.Model, round: body.Round, number: body.Attempt,
			began: e.At, result: resultOpen,
		}
		if body.Tool != "" {
			a.tool, a.what = true, body.Tool
		}
		t.all = append(t.all, a)
		t.open[attemptID{body.Call, body.Attempt}], t.calls[body.Call] = a, a
	case *flow.Inquiry:
		switch call := t.calls[body.ID]; {
		case call != nil && call.result == resultOpen: // a person performs the call
			if !call.person {
				call.person, call.what = true, call.what+" by a person"
			}
		case t.asked[body.ID] == nil: // one that others have joined is the same question
			a := &attempt{by: body.To, what: string(body.Kind) + " by a person", person: true, began: e.At, result: resultOpen}
			if len(body.Options) > 0 {
				a.what = "decision by a person"
			}
			t.all = append(t.all, a)
			t.asked[body.ID] = a
		}
	case *flow.Answer:
		if a := t.asked[body.Inquiry]; a != nil {
			a.ended, a.result, a.ruled = e.At, resultDone, body.Rule
			delete(t.asked, body.Inquiry)
		}
	}
	if spend := flow.SpendOf(e.Body); spend != nil {
		id := attemptID{spend.Call, spend.Attempt}
		if a := t.open[id]; a != nil {
			a.end(e, spend)
			delete(t.open, id)
		}
	}
}

// found returns the attempts, in the order in which they began.
func (t *tries) found() []*attempt {
	return slices.DeleteFunc(t.all, func(a *attempt) bool { return a.ruled })
}

// end notes the result of the attempt.
func (a *attempt) end(e *flow.Event, spend *flow.Spend) {
	a.ended, a.result = e.At, resultDone
	a.queued = max(0, min(spend.Queued, e.At.Sub(a.began)))
	switch body := e.Body.(type) {
	case *flow.Failure:
		switch {
		case body.Void:
			a.result = resultAborted
		case body.Error.Overdue(): // a person who is late has not failed
			a.result = resultOpen
		default:
			a.result = resultFailed
		}
		if body.RetryAt.After(e.At) {
			a.retry = body.RetryAt
		}
	case *flow.Rejection:
		a.result = resultRejected
	case *flow.ToolResult:
		if body.Failed {
			a.result = resultFailed
		}
	}
}
