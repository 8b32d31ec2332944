package progress

import (
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/flow/progress"
)

// Course is how far a conversation has come, as somebody sees it who watches its events. It is the fold of these events and
// nothing else. It belongs to one goroutine. What it holds of models and people is cleaned for a terminal.
type Course struct {
	Flow, Topic string
	State       flow.State // the present one
	Of          int        // the number of rounds, 0 if it is unknown
	// Expected is how many calls the phase is expected to make, 0 if that is unknown, and Done how many of them have ended.
	Expected, Done int
	Begun          bool         // the phase has made a call
	Actors         []*Actor     // those of the config in its order, then others as they come
	Plan           arbiter.Plan // of arbitrated work: its steps
	Inquiries      []flow.Inquiry
	Budget         flow.Budget
	Spent          flow.Account // see Paid
	Tokens, Calls  int
	Evidence       string // why the conversation has ended or failed
	Started, Last  time.Time
	// Said are the last speeches, the newest at the end, and Forgotten how many there were before them.
	Said      []Speech
	Forgotten int

	said     int                             // bytes of the texts of Said
	timeout  time.Duration                   // of an attempt
	timeouts map[flow.CallKind]time.Duration // of one of a kind
	failing  map[string]string               // the models that have failed for good, by their calls
	jobs     progress.Jobs
	reports  []report // of the agents that were selected together, in their order
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

// Job is a call that has no result yet, as it is shown.
type Job struct {
	*progress.Job
	Tool     string // the tool in use; "": none
	Thinking bool   // the model's thoughts are arriving, and no text has
	Trouble  string // why the latest attempt has failed; "": it has not

	text    string // the last part of what was streamed
	tail    string // its end, cleaned
	offset  int    // of text in the whole, in bytes
	gone    int    // words before text
	heard   time.Time
	stalled bool          // that it is silent was told
	limit   time.Duration // of the attempt; 0: unknown
}

// Bounds in bytes: how much of a streaming text is kept, how much of it is shown on a line, and how much of finished speeches is kept.
const (
	longestText = 16 << 10
	shownTail   = 1 << 10
	longestSaid = 1 << 20
)

// Silence is how long nothing comes of a call until that is told.
const Silence = 10 * time.Second

// Tail returns the end of what is streaming, on one line: more than a terminal is wide.
func (j *Job) Tail() string { return j.tail }

// Text returns the last part of what is streaming, as the model writes it.
func (j *Job) Text() string { return j.text }

// Words returns how many words have streamed.
func (j *Job) Words() int { return j.gone + len(strings.Fields(j.text)) }

// Since returns how long nothing has come of an attempt that is in flight; 0 between attempts.
func (j *Job) Since(now time.Time) time.Duration {
	if !j.InFlight || j.heard.IsZero() {
		return 0
	}
	return max(0, now.Sub(j.heard))
}

// Settled reports whether the cost of all calls is recorded. A person costs nothing.
func (c *Course) Settled() bool {
	for job := range c.jobs.Pending() {
		if job.InFlight && !c.Asked(job.Call) {
			return false
		}
	}
	return true
}

// Asks returns on one line what an inquiry asks, as the function [Asks] does.
func (c *Course) Asks(q *flow.Inquiry, where func(vendor string) string) string {
	model := ""
	if len(q.About) > 0 {
		model = c.failing[q.About[0].Call]
	}
	return Asks(q, c.Name, model, where)
}

// Asked reports whether a person is asked to perform a call.
func (c *Course) Asked(call string) bool {
	return slices.ContainsFunc(c.Inquiries, func(q flow.Inquiry) bool { return q.ID == call })
}

// Over reports whether the conversation is completed or canceled.
func (c *Course) Over() bool { return c.State.Final() }

// Failed reports whether a failure has stopped the conversation.
func (c *Course) Failed() bool { return c.State == flow.StateError }

// InFlight returns how many calls are shown that have no end yet. Nobody waits for a person to end one.
func (c *Course) InFlight() (n int) {
	for _, a := range c.Actors {
		for _, j := range a.Jobs {
			if j.InFlight && !c.Asked(j.Call) {
				n++
			}
		}
	}
	return n
}

// Halted reports whether the conversation waits for somebody: it is paused, has asked, or has failed.
func (c *Course) Halted() bool {
	return c.State == flow.StatePaused || c.State == flow.StateAwaitingInput || c.State == flow.StateError
}

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

// Fold takes the next event. It returns the job that the event begins, continues or ends, and whose it is; nil: none that is shown.
func (c *Course) Fold(e *flow.Event) (*Actor, *Job) {
	if c.Last.Before(e.At) {
		c.Last = e.At
	}
	if spend := flow.SpendOf(e.Body); spend != nil {
		c.Spent.Add(spend)
		c.Tokens += spend.Usage.Input + spend.Usage.Output
		if spend.Model != "" {
			c.Calls++
		}
		c.answered(spend.Call) // of a person whose time is over, for example
	}
	if speech, ok := SpeechOf(e.Body, c.Name); ok {
		c.say(speech)
	}
	former := c.jobs.Phase
	asked := c.jobs.Fold(e)
	switch body := e.Body.(type) {
	case *flow.Start:
		c.start(body, e.At)
	case *flow.Transition:
		c.turnTo(body, c.jobs.Phase != former)
	case *flow.Round:
		c.Of = body.Of
		if c.Expected == 0 {
			c.Expected = body.Calls
		}
	case *flow.Inquiry:
		c.answered(body.ID)
		c.Inquiries = append(c.Inquiries, *body)
	case *flow.Answer:
		c.answered(body.Inquiry)
	case *flow.Withdrawn:
		c.withdrawn(body.Call)
	case *flow.Amendment:
		if body.Budget != nil {
			c.Budget = *body.Budget
		}
		if body.Rounds != nil {
			c.Of = *body.Rounds
		}
		if body.TurnTimeout != nil {
			c.timeout = time.Duration(*body.TurnTimeout)
		}
		c.limit(body.Timeouts)
	case *flow.Dropped:
		a := c.actor(body.Participant)
		a.Dropped, a.Jobs = true, nil
	default:
		c.count(body)
	}
	if asked == nil {
		return nil, nil
	}
	return c.foldJob(asked, e)
}

// say keeps a speech. The oldest go first.
func (c *Course) say(s Speech) {
	c.Said = append(c.Said, s)
	for c.said += len(s.Text); c.said > longestSaid && len(c.Said) > 1; c.Forgotten++ {
		c.said -= len(c.Said[0].Text)
		c.Said = slices.Delete(c.Said, 0, 1)
	}
}

// limit takes how long attempts of some kinds may take.
func (c *Course) limit(timeouts map[flow.CallKind]flow.Duration) {
	if c.timeouts == nil {
		c.timeouts = make(map[flow.CallKind]time.Duration, len(timeouts))
	}
	for kind, d := range timeouts {
		c.timeouts[kind] = time.Duration(d)
	}
}

// count takes an event of a call that counts somewhere.
func (c *Course) count(body flow.Body) {
	switch body := body.(type) {
	case *flow.Intent:
		c.Begun = c.Begun || body.Tool == ""
		if body.Kind == arbiter.KindExecution && c.reporting(body.Call) == nil {
			c.reports = append(c.reports, report{call: body.Call})
		}
	case *flow.Skipped:
		c.Done++
		c.withdrawn(body.Call)
	case *flow.Late:
		if body.Settled > 0 {
			c.Spent.Usage, c.Spent.Cost = c.Spent.Usage.Add(body.Usage), c.Spent.Cost+body.Cost
			c.Spent.Unsettled = c.Spent.Less(flow.Unsettled{AtMost: body.Settled, BrokenOff: 1})
			c.Tokens += body.Usage.Input + body.Usage.Output
		}
	case *flow.Sent:
		c.steer(body)
	case *flow.Turn:
		c.report(body)
		if body.Speaker != person {
			c.actor(body.Speaker).Turns++
		}
	}
}

// foldJob takes an event of a job. The inquiry says what a person is asked.
func (c *Course) foldJob(asked *progress.Job, e *flow.Event) (*Actor, *Job) {
	_, begins := e.Body.(*flow.Intent)
	if asked.Tool != "" {
		if _, user := c.find(asked.For); user != nil {
			if user.Tool, user.heard = "", e.At; begins {
				user.Tool = Clean(asked.Tool)
			}
		}
		return nil, nil
	}
	if asked.Result != nil {
		c.Done++
	}
	a, j := c.find(asked.Call)
	if j == nil && begins && asked.By != person {
		a, j = c.actor(asked.By), &Job{}
		a.Jobs = append(a.Jobs, j)
	}
	if j == nil {
		return nil, nil
	}
	switch body := e.Body.(type) {
	case *flow.Intent:
		a.Failed = ""
		*j = Job{Job: asked, heard: e.At, limit: c.timeout}
		if own, ok := c.timeouts[asked.Kind]; ok {
			j.limit = own
		}
	case *flow.Chunk:
		j.heard = e.At
		j.hear(body)
	case *flow.ToolCalls:
		j.hush()
	case *flow.Rejection:
		a.setBack(j, "the answer was not accepted")
	case *flow.Failure:
		if body.Void {
			j.hush()
			j.Trouble, j.Tool = "", ""
		} else {
			a.setBack(j, Failed(body.Error, body.Model, nil))
		}
	}
	if asked.Over && asked.Result == nil {
		if c.failing == nil {
			c.failing = make(map[string]string)
		}
		c.failing[asked.Call] = asked.Model
	}
	a.tidy()
	return a, j
}

// setBack says that an attempt has failed.
func (a *Actor) setBack(j *Job, trouble string) {
	j.hush()
	if j.Trouble, j.Tool = trouble, ""; j.Over {
		a.Failed = trouble
	}
}

// tidy forgets the jobs that are over.
func (a *Actor) tidy() {
	a.Jobs = slices.DeleteFunc(a.Jobs, func(j *Job) bool { return j.Over })
}

func (c *Course) start(start *flow.Start, at time.Time) {
	c.Flow, c.Topic, c.Of, c.Started = start.Flow, Clean(start.Settings.Topic), start.Settings.Rounds, at
	if start.Settings.Budget != nil {
		c.Budget = *start.Settings.Budget
	}
	c.timeout = start.Settings.TurnTimeout
	c.limit(start.Settings.Timeouts)
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

func (c *Course) turnTo(t *flow.Transition, moved bool) {
	c.State = t.To
	if t.Evidence != "" {
		c.Evidence = Clean(t.Evidence)
	}
	if t.Failure != nil {
		c.Evidence = Cause(t.Failure)
	}
	if !moved {
		return // the phase goes on, or will
	}
	c.join()
	c.Expected, c.Done, c.Begun = c.jobs.Phase.Expected, 0, false
	for _, a := range c.Actors {
		if a.tidy(); c.Over() {
			a.Jobs = nil
		}
	}
	if c.Over() || c.State == flow.StateCompleting { // nobody waits for what was asked before
		c.Inquiries = nil
	}
}

// hear takes a piece of what is streaming. Structured answers are not for reading.
func (j *Job) hear(chunk *flow.Chunk) {
	switch {
	case chunk.Schema != "":
	case chunk.Reasoning:
		j.Thinking = j.text == ""
	default:
		j.Thinking = false
		if at := chunk.Offset - j.offset; at < 0 || at > len(j.text) {
			j.text, j.offset, j.gone = "", chunk.Offset, 0
		} else {
			j.text = j.text[:at]
		}
		j.text += chunk.Text
		if cut := len(j.text) - longestText; cut > longestText {
			cut += max(0, strings.IndexByte(j.text[cut:], ' ')) // between words
			j.gone += len(strings.Fields(j.text[:cut]))
			j.text, j.offset = strings.Clone(j.text[cut:]), j.offset+cut
		}
		j.tail = Clean(j.text[max(0, len(j.text)-shownTail):])
	}
}

// hush forgets what an attempt has streamed.
func (j *Job) hush() { j.Thinking, j.text, j.tail, j.offset, j.gone = false, "", "", 0, 0 }

// find returns a call and whose it is; nil: it is unknown.
func (c *Course) find(call string) (*Actor, *Job) {
	for _, a := range c.Actors {
		for _, j := range a.Jobs {
			if j.Call == call {
				return a, j
			}
		}
	}
	return nil, nil
}

// Vendor returns the vendor that a call asks; "": it is unknown.
func (c *Course) Vendor(call string) string {
	if _, j := c.find(call); j != nil {
		vendor, _, _ := flow.SplitModel(j.Model)
		return vendor
	}
	return ""
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

// withdrawn closes what is asked about a call that is not wanted any more.
func (c *Course) withdrawn(call string) {
	c.Inquiries = slices.DeleteFunc(c.Inquiries, func(q flow.Inquiry) bool {
		return q.ID == call || q.Use != nil && q.Use.For == call || len(q.About) == 1 && q.About[0].Call == call
	})
}
