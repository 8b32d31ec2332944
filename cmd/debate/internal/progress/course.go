package progress

import (
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
)

// Course is how far a conversation has come, as somebody sees it who watches its events. It is the fold of these events and
// nothing else. It belongs to one goroutine. What it holds of models and people is cleaned for a terminal.
type Course struct {
	Flow, Topic string
	State       flow.State // the present one
	Phase       flow.State // the working state, also while the conversation pauses, waits or has failed
	Round, Of   int        // Of is 0 if the number of rounds is unknown
	Stage       string     // what the format of a debate calls the round
	// Expected is how many calls the phase is expected to make, 0 if that is unknown, and Done how many of them have ended.
	Expected, Done int
	Actors         []*Actor // those of the config in its order, then others as they come
	Plan           []Step   // of arbitrated work
	Inquiries      []flow.Inquiry
	Budget         flow.Budget
	Spent          flow.Account // see Paid
	Tokens, Calls  int
	Evidence       string // why the conversation has ended or failed
	Started, Last  time.Time

	seen bool                    // the phase has made a call
	open map[string]*flow.Intent // the calls whose cost is not recorded yet
}

// Step is a step of the plan of arbitrated work.
type Step struct {
	Text   string
	Status arbiter.Status
}

// Actor is an agent, a judge, or anybody else who is asked.
type Actor struct {
	Name    string // as it is shown
	Jobs    []*Job // what the actor is asked now, oldest first
	Turns   int
	Failed  string // why the latest call has failed for good; "": it has not
	Dropped bool

	id string
}

// Job is a call that has no result yet.
type Job struct {
	Activity string // "critiquing ada"
	Tool     string // the tool in use; "": none
	Attempt  int
	InFlight bool
	Thinking bool      // the model's thoughts are arriving, and no text has
	Trouble  string    // why the latest attempt has failed; "": it has not
	RetryAt  time.Time // when the next attempt starts; zero: at once

	call   string
	phase  flow.State // in which it was begun
	text   string     // the last part of what was streamed
	tail   string     // its end, cleaned
	offset int        // of text in the whole, in bytes
}

// Bounds of a streaming text, in bytes: how much of it is kept, and how much is shown.
const (
	longestTail = 2 << 10
	shownTail   = 1 << 10
)

// Tail returns the end of what is streaming, on one line: more than a terminal is wide.
func (j *Job) Tail() string { return j.tail }

// Settled reports whether the cost of all calls is recorded.
func (c *Course) Settled() bool { return len(c.open) == 0 }

// Over reports whether the conversation is completed or canceled.
func (c *Course) Over() bool { return c.State == flow.StateCompleted || c.State == flow.StateCanceled }

// Halted reports whether the conversation waits for somebody: it is paused, has asked, or has failed.
func (c *Course) Halted() bool {
	return c.State == flow.StatePaused || c.State == flow.StateAwaitingInput || c.State == flow.StateError
}

// Begun reports whether the phase has made a call.
func (c *Course) Begun() bool { return c.seen }

// Waits reports whether a call waits before it is made again.
func (c *Course) Waits() bool {
	for _, a := range c.Actors {
		for _, j := range a.Jobs {
			if !j.RetryAt.IsZero() {
				return true
			}
		}
	}
	return false
}

// Fold takes the next event.
func (c *Course) Fold(e *flow.Event) {
	if c.Last.Before(e.At) {
		c.Last = e.At
	}
	if spend := flow.SpendOf(e.Body); spend != nil {
		c.Spent.Add(spend)
		c.Tokens += spend.Usage.Input + spend.Usage.Output
		if spend.Model != "" {
			c.Calls++
		}
		delete(c.open, spend.Call)
	}
	switch body := e.Body.(type) {
	case *flow.Intent:
		if c.open == nil {
			c.open = make(map[string]*flow.Intent)
		}
		c.open[body.Call] = body
	case *flow.Skipped:
		delete(c.open, body.Call)
	}
	switch body := e.Body.(type) {
	case *flow.Start:
		c.start(body, e.At)
	case *flow.Transition:
		c.turnTo(body)
	case *flow.Round:
		c.Round, c.Of, c.Stage = body.N, body.Of, Clean(body.Phase)
		if c.Expected == 0 {
			c.Expected = body.Calls
		}
	case *flow.Inquiry:
		c.answered(body.ID)
		c.Inquiries = append(c.Inquiries, *body)
	case *flow.Answer:
		c.answered(body.Inquiry)
	case *flow.Amendment:
		if body.Budget != nil {
			c.Budget = *body.Budget
		}
		if body.Rounds != nil {
			c.Of = *body.Rounds
		}
	case *flow.Dropped:
		a := c.actor(body.Participant)
		a.Dropped, a.Jobs = true, nil
	case *flow.RetriedNow:
		for _, a := range c.Actors {
			for _, j := range a.Jobs {
				j.RetryAt = time.Time{}
			}
		}
	default:
		c.foldCall(body)
	}
}

// foldCall takes an event of a call.
func (c *Course) foldCall(body flow.Body) {
	switch body := body.(type) {
	case *flow.Intent:
		c.begin(body)
	case *flow.Chunk:
		c.hear(body)
	case *flow.ToolCalls:
		if _, j := c.find(body.Call); j != nil {
			j.hush()
		}
	case *flow.ToolResult:
		before, _, _ := strings.Cut(body.Call, ".tool.")
		if _, j := c.find(before); j != nil {
			j.Tool = ""
		}
	case *flow.Continued:
		if _, j := c.find(body.Call); j != nil {
			j.InFlight = false // the next attempt goes on with the text
		}
	case *flow.Rejection:
		c.reject(body)
	case *flow.Failure:
		c.fail(body)
	case *flow.Skipped:
		c.end(body.Call)
		c.Done++
	case *flow.Charge:
	case *flow.Late:
		if body.Settled > 0 {
			c.Spent.Usage, c.Spent.Cost = c.Spent.Usage.Add(body.Usage), c.Spent.Cost+body.Cost
			c.Spent.Unsettled = c.Spent.Less(flow.Unsettled{AtMost: body.Settled, BrokenOff: 1})
			c.Tokens += body.Usage.Input + body.Usage.Output
		}
	case *flow.Turn:
		if result, ok := arbiter.ResultOf(body); ok {
			c.plan(result.PlanUpdates)
		}
		if body.Speaker != person {
			c.actor(body.Speaker).Turns++
		}
		c.done(body.Call)
	default:
		if spend := flow.SpendOf(body); spend != nil {
			c.done(spend.Call)
		}
	}
}

func (c *Course) start(start *flow.Start, at time.Time) {
	c.Flow, c.Topic, c.Of, c.Started = start.Flow, Clean(start.Settings.Topic), start.Settings.Rounds, at
	if start.Settings.Budget != nil {
		c.Budget = *start.Settings.Budget
	}
	config := deliberation.ConfigIn(start)
	for _, id := range start.Settings.Participants {
		a := c.actor(id)
		if config == nil {
			continue
		}
		if name := Clean(config.NameOf(id)); name != "" {
			a.Name = name
		}
	}
}

func (c *Course) turnTo(t *flow.Transition) {
	c.State = t.To
	if t.Evidence != "" {
		c.Evidence = Clean(t.Evidence)
	}
	switch {
	case t.Failure != nil:
		c.Evidence = Cause(t.Failure)
	case t.On == flow.TriggerResume, t.On == flow.TriggerAnswered, t.On == flow.TriggerRetry:
		c.Phase = t.To // as before, with its counts
		return
	}
	switch t.To {
	case flow.StatePaused, flow.StateAwaitingInput, flow.StateError:
		return // the phase goes on afterwards
	case flow.StateCompleted, flow.StateCanceled:
		for _, a := range c.Actors {
			a.Jobs = nil
		}
		c.Inquiries = nil
	default:
	}
	if t.To == t.From {
		return // the next speakers of the same phase
	}
	c.Phase, c.Expected, c.Done, c.seen = t.To, t.Calls, 0, false
	for _, a := range c.Actors { // what has been broken off is not asked again
		a.Jobs = slices.DeleteFunc(a.Jobs, func(j *Job) bool { return !j.InFlight })
	}
}

// begin takes an attempt.
func (c *Course) begin(in *flow.Intent) {
	if in.Tool != "" {
		if _, j := c.find(in.For); j != nil {
			j.Tool = Clean(in.Tool)
		}
		return
	}
	c.seen = true
	if in.By == person {
		return // the inquiry says what is asked
	}
	a, j := c.find(in.Call)
	if j == nil {
		a, j = c.actor(in.By), &Job{}
		a.Jobs = append(a.Jobs, j)
	}
	a.Failed = ""
	*j = Job{
		Activity: Activity(in.Kind, c.Name(in.Target)), Attempt: j.Attempt + 1, InFlight: true, call: in.Call, phase: c.Phase,
	}
}

// hear takes a piece of what is streaming. Structured answers are not for reading.
func (c *Course) hear(chunk *flow.Chunk) {
	_, j := c.find(chunk.Call)
	switch {
	case j == nil || chunk.Schema != "":
	case chunk.Reasoning:
		j.Thinking = j.text == ""
	default:
		j.Thinking = false
		if at := chunk.Offset - j.offset; at < 0 || at > len(j.text) {
			j.text, j.offset = "", chunk.Offset
		} else {
			j.text = j.text[:at]
		}
		j.text += chunk.Text
		if cut := len(j.text) - longestTail; cut > longestTail {
			j.text, j.offset = strings.Clone(j.text[cut:]), j.offset+cut
		}
		j.tail = Clean(j.text[max(0, len(j.text)-shownTail):])
	}
}

// hush forgets what an attempt has streamed.
func (j *Job) hush() { j.InFlight, j.Thinking, j.text, j.tail, j.offset = false, false, "", "", 0 }

// setBack says that an attempt has failed, and that another one follows.
func (c *Course) setBack(call, trouble string, retryAt time.Time) {
	if _, j := c.find(call); j != nil {
		j.hush()
		j.Trouble, j.RetryAt, j.Tool = trouble, retryAt, ""
	}
}

// reject takes an answer that was not accepted.
func (c *Course) reject(r *flow.Rejection) {
	const trouble = "the answer was not accepted"
	if !r.Final {
		c.setBack(r.Call, trouble, time.Time{})
	} else if a := c.end(r.Call); a != nil {
		a.Failed = trouble
	}
}

func (c *Course) fail(f *flow.Failure) {
	if !f.Final {
		trouble := ""
		if !f.Void {
			trouble = Cause(f.Error)
		}
		if _, j := c.find(f.Call); j != nil && f.Void && j.phase != c.Phase {
			c.end(f.Call) // the phase that it belongs to is over
		}
		c.setBack(f.Call, trouble, f.RetryAt)
		return
	}
	if a := c.end(f.Call); a != nil {
		a.Failed = Cause(f.Error)
	}
}

func (c *Course) done(call string) {
	c.end(call)
	c.Done++
	c.Expected = max(c.Expected, min(c.Done, c.Expected*c.Done)) // unknown stays unknown
}

// end forgets a call, and returns whose it was; nil: it is unknown.
func (c *Course) end(call string) *Actor {
	a, j := c.find(call)
	if a != nil {
		a.Jobs = slices.DeleteFunc(a.Jobs, func(other *Job) bool { return other == j })
	}
	return a
}

// find returns a call and whose it is; nil: it is unknown.
func (c *Course) find(call string) (*Actor, *Job) {
	for _, a := range c.Actors {
		for _, j := range a.Jobs {
			if j.call == call {
				return a, j
			}
		}
	}
	return nil, nil
}

// actor returns the actor of an id. One that is not known yet is added.
func (c *Course) actor(id string) *Actor {
	for _, a := range c.Actors {
		if a.id == id {
			return a
		}
	}
	a := &Actor{Name: Clean(id), id: id}
	c.Actors = append(c.Actors, a)
	return a
}

// Name returns how an actor is shown.
func (c *Course) Name(id string) string {
	for _, a := range c.Actors {
		if a.id == id {
			return a.Name
		}
	}
	return Clean(id)
}

func (c *Course) answered(inquiry string) {
	c.Inquiries = slices.DeleteFunc(c.Inquiries, func(q flow.Inquiry) bool { return q.ID == inquiry })
}

// plan takes what an agent reports of the plan.
func (c *Course) plan(update *arbiter.PlanUpdate) {
	if update == nil {
		return
	}
	for _, s := range update.Steps {
		if s.Index < 0 || s.Index > len(c.Plan) {
			continue
		}
		if s.Index == len(c.Plan) {
			c.Plan = append(c.Plan, Step{Status: arbiter.Pending})
		}
		step := &c.Plan[s.Index]
		if s.Description != "" {
			step.Text = Clean(s.Description)
		}
		if s.Status != "" {
			step.Status = s.Status
		}
	}
}
