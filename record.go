package debate

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/agonist-dev/debate/detect"
	"github.com/agonist-dev/debate/provider"
)

// Record is what is known of a debate: the fold of its events, and nothing else. It is read only;
// a Record that [Session.Wait] or [Engine.Record] returned is not written any more and may be read
// from many goroutines.
type Record struct {
	ID    string
	State State
	// Round is the current round, from 1; 0 before the first.
	Round       int
	Turns       []*Turn       // in the order in which they were recorded
	Assessments []*Assessment // likewise
	// Verdict is what a judge has found; nil: nobody has. Of a panel it is the first verdict that agrees
	// with the panel's outcome, and Verdicts holds all. What counts is Outcome.
	Verdict    *Verdict
	Verdicts   []*Verdict    // in the order in which they were recorded
	Ballots    []*Ballot     // the audience's votes, likewise
	Assignment *Assignment   // the positions that a model has found; nil: none were asked for
	Summaries  []*Summarized // what was summarised, oldest first
	Rejections []Rejection   // answers that were not accepted
	Inquiries  []Inquiry     // the open ones
	Answers    []Answer
	Warnings   []Warning
	Inputs     []Sent        // a flow's own inputs
	ToolUses   []*ToolResult // what tools have answered, in the order in which it was recorded
	// Failure is why the debate is in the error state; nil in all others.
	Failure *Error
	// Reason and Evidence are why the debate ended, went on to its verdict, or stopped in the error state.
	Reason            EndReason
	Evidence          string
	StartedAt, LastAt time.Time
	Seq               int64 // the number of the last event

	start      *Start
	config     *Config
	valid      bool  // the config has passed validation
	work       State // the working state that is current, or will be after a pause
	entered    time.Time
	calls      map[string]*callState
	current    []*callState   // the latest call of each participant and judge
	open       []*callState   // the calls in flight, oldest first
	failing    []*callState   // those that a host's retry resets
	uses       map[string]int // of tools in this state and round, by participant
	limit      WarningKind    // the limit that was reached
	acked      bool
	retries    int // host retries since the last progress
	dropped    []string
	spent      accounts
	reserved   Money
	views      []*view // everybody's first
	readers    []*view // by seat; nil: all read everybody's
	anonymous  *view   // with labels for names; nil: nobody reads it
	texts      map[string]string
	systems    []string // the system prompts of the participants
	models     []namedModel
	bench      []int // the judges who are not recused, by place
	schedule   []Speech
	phase      int       // which the schedule is of
	said       []bool    // by slot of the schedule
	timed      []State   // the flow's states that a round's time covers
	part       any       // the flow's part of the config, decoded
	derived    any       // not a fact: what the flow has computed
	late       bool      // the round's time is over
	unsummed   bool      // the summarizer has failed for good
	roundAt    time.Time // when the round began, later by as long as nobody might speak
	left       time.Time // when the debate last stopped working
	formerly   [2]string // reason and evidence from before an error
	hidden     []int     // turns that wait for others of their group
	fence      string
	limits     []vendorLimit     // that calls have run into, and that still hold
	swaps      []replacement     // models that took over by a person's choice
	shrunk     []choice          // what was chosen for those whose context was too large
	windows    []modelSize       // sizes of windows that vendors' overflows have shown
	ratios     []modelRatio      // by how much counts of tokens were wrong
	keeps      bool              // what is computed may be kept: nobody else reads the record now
	shingles   []detect.Shingles // of the turns, if a detector has asked
	thresholds []threshold       // of windows, that were told of
}

// callState is what the record knows of one call.
type callState struct {
	intent  *Intent // of the latest attempt
	status  callStatus
	aborted bool       // a control has broken off the attempt
	person  bool       // a person performs it
	model   int        // which of the call's models is asked
	trouble *trouble   // what has gone wrong since the last retry; nil: nothing
	talk    []exchange // with tools
	ready   *prepared  // not a fact: what was computed for the intent
}

// trouble is what has gone wrong with a call.
type trouble struct {
	tries      []Kind // failures with the present model
	retryAt    time.Time
	failure    *Error   // why there is no further attempt
	unsent     bool     // nothing was asked: the same call would fail again
	problems   []string // why the answer was rejected
	rejectedAt time.Time
}

// troubled yields the call's trouble, for writing.
func (c *callState) troubled() *trouble {
	if c.trouble == nil {
		c.trouble = &trouble{}
	}
	return c.trouble
}

// tries yields the failures with the present model.
func (c *callState) tries() []Kind {
	if c.trouble == nil {
		return nil
	}
	return c.trouble.tries
}

// retryAt is when the next attempt may start; zero: at once.
func (c *callState) retryAt() time.Time {
	if c.trouble == nil {
		return time.Time{}
	}
	return c.trouble.retryAt
}

type callStatus uint8

const (
	callIdle callStatus = iota
	callOpen
	callDone
	callRejected
	callFailed
)

// Config yields the frozen config, defaults included. Read only.
func (r *Record) Config() *Config { return r.config }

// Format yields the frozen format. Read only.
func (r *Record) Format() *Format {
	if r.start == nil {
		return nil
	}
	return r.start.Format
}

// Parent yields the debate that this one was forked from; nil: none.
func (r *Record) Parent() *Parent {
	if r.start == nil {
		return nil
	}
	return r.start.Parent
}

// FlowConfig yields what the flow's Decode has made of Config.FlowConfig; nil: it has none. Read only.
func (r *Record) FlowConfig() any { return r.part }

// Derive yields what a flow computes from the record for itself, such as its turns by speaker. update gets what it
// has yielded before, of the same debate as it was some events ago, and brings it up to date; or nil, and begins
// anew. So what a flow asks at every step need not look at the whole debate each time. Nothing is kept where
// others may read the record at the same time: there update always gets nil.
func (r *Record) Derive(update func(former any) any) any {
	if !r.keeps {
		return update(nil)
	}
	r.derived = update(r.derived)
	return r.derived
}

// Late reports whether the time of the present round is over; see [Config].RoundTimeout.
func (r *Record) Late() bool { return r.late }

// Quote writes somebody's words for an instruction: between the markers of the debate's fence, which the
// words cannot close. Everything that a model or a person has said belongs into a quotation; that what stands
// in one is material, and no instruction, is for the system prompt to say (Setup.Fence).
func (r *Record) Quote(speaker, text string) string {
	m := provider.Message{Speaker: oneLine(escape(speaker, r.fence), 80), Text: escape(readable(text), r.fence), Fence: r.fence}
	return m.Enclosed()
}

// Text yields a prompt of the flow, as rendered when the debate started, with what was assigned since.
func (r *Record) Text(name string) string { return r.texts[name] }

// Model yields the frozen prices and sizes of a model of this debate.
func (r *Record) Model(name string) (Model, bool) {
	if m := r.model(name); m != nil {
		return *m, true
	}
	return Model{}, false
}

// namedModel is a model of a debate. There are few: a list is faster than a map.
type namedModel struct {
	name string
	Model
}

// model yields the frozen model; nil: it is not of this debate.
func (r *Record) model(name string) *Model {
	for i := range r.models {
		if r.models[i].name == name {
			return &r.models[i].Model
		}
	}
	return nil
}

// Done reports whether the call has a result.
func (r *Record) Done(call string) bool {
	c := r.calls[call]
	return c != nil && c.status == callDone
}

// Failed reports whether the call has failed for good: no attempt is left.
func (r *Record) Failed(call string) bool {
	c := r.calls[call]
	return c != nil && c.status == callFailed
}

// FailureOf yields why the call has failed for good; nil: it has not.
func (r *Record) FailureOf(call string) *Error {
	if !r.Failed(call) || r.calls[call].trouble == nil {
		return nil
	}
	return r.calls[call].trouble.failure
}

// opened yields a call, fastest if it is in flight.
func (r *Record) opened(id string) *callState {
	for _, call := range r.open {
		if call.intent.Call == id {
			return call
		}
	}
	return r.calls[id]
}

// latestOf yields the latest call of a participant or judge; nil: there was none.
func (r *Record) latestOf(name string) *callState {
	for _, call := range r.current {
		if call.intent.By == name {
			return call
		}
	}
	return nil
}

// InFlight is the number of calls whose result is outstanding.
func (r *Record) InFlight() int { return len(r.open) }

// Final reports whether nothing more can happen.
func (r *Record) Final() bool { return r.State == StateCompleted || r.State == StateCanceled }

// Working yields the state in which the debate works, or will work again after a pause, a question or an error.
func (r *Record) Working() State { return r.work }

// EnteredAt is when the present working state was entered.
func (r *Record) EnteredAt() time.Time { return r.entered }

// Active yields the participants that still take part, in order.
func (r *Record) Active() []Participant {
	if r.config == nil {
		return nil
	}
	if len(r.dropped) == 0 {
		return r.config.Participants
	}
	var active []Participant
	for _, p := range r.config.Participants {
		if !slices.Contains(r.dropped, p.Name) {
			active = append(active, p)
		}
	}
	return active
}

// RoundTurns yields the turns of a round in slot order.
func (r *Record) RoundTurns(round int) []*Turn {
	var turns []*Turn
	for i := range r.Turns {
		if r.Turns[i].Round == round {
			turns = append(turns, r.Turns[i])
		}
	}
	slices.SortStableFunc(turns, func(a, b *Turn) int { return a.Slot - b.Slot })
	return turns
}

// Canonical yields what makes two debates the same: turns in slot order, assessments, verdict and
// end state, as JSON. Attempts, spend, times and controls are left out.
func (r *Record) Canonical() ([]byte, error) {
	type turn struct {
		Round   int             `json:"round"`
		Slot    int             `json:"slot"`
		Kind    CallKind        `json:"kind"`
		Speaker string          `json:"speaker"`
		Target  string          `json:"target,omitempty"`
		Text    string          `json:"text"`
		Data    json.RawMessage `json:"data,omitempty"`
		Cut     bool            `json:"cut,omitempty"`
	}
	out := struct {
		State       State          `json:"state"`
		Turns       []turn         `json:"turns"`
		Assessments []Judgement    `json:"assessments"`
		Verdict     *FinalVerdict  `json:"verdict"`
		Verdicts    []namedVerdict `json:"verdicts,omitempty"`
		Ballots     []namedBallot  `json:"ballots,omitempty"`
	}{State: r.State}
	turns := slices.Clone(r.Turns)
	slices.SortStableFunc(turns, func(a, b *Turn) int { return cmp.Or(cmp.Compare(a.Round, b.Round), cmp.Compare(a.Slot, b.Slot)) })
	for _, t := range turns {
		out.Turns = append(out.Turns, turn{t.Round, t.Slot, t.Kind, t.Speaker, t.Target, t.Text, t.Data, t.Cut})
	}
	for _, a := range r.ordered(r.Assessments) {
		out.Assessments = append(out.Assessments, a.Judgement)
	}
	if r.Verdict != nil {
		out.Verdict = &r.Verdict.FinalVerdict
	}
	if len(r.Verdicts) > 1 {
		for _, v := range r.Verdicts {
			out.Verdicts = append(out.Verdicts, namedVerdict{v.Judge, v.Swapped, v.FinalVerdict})
		}
		slices.SortStableFunc(out.Verdicts, func(a, b namedVerdict) int {
			return cmp.Or(cmp.Compare(r.seatOfJudge(a.Judge), r.seatOfJudge(b.Judge)), order(a.Swapped, b.Swapped))
		})
	}
	for _, b := range r.Ballots {
		out.Ballots = append(out.Ballots, namedBallot{b.Voter, b.After, b.BallotPaper})
	}
	slices.SortStableFunc(out.Ballots, func(a, b namedBallot) int { return cmp.Or(order(a.After, b.After), cmp.Compare(a.Voter, b.Voter)) })
	return json.Marshal(out)
}

// namedVerdict and namedBallot are verdicts and votes as the canonical form has them.
type (
	namedVerdict struct {
		Judge   string       `json:"judge"`
		Swapped bool         `json:"swapped,omitempty"`
		Verdict FinalVerdict `json:"verdict"`
	}
	namedBallot struct {
		Voter string      `json:"voter"`
		After bool        `json:"after,omitempty"`
		Paper BallotPaper `json:"ballot"`
	}
)

// order puts false before true.
func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

// ordered yields assessments in the order of rounds and judges, whatever the one in which they came.
func (r *Record) ordered(all []*Assessment) []*Assessment {
	out := slices.Clone(all)
	slices.SortStableFunc(out, func(a, b *Assessment) int {
		return cmp.Or(cmp.Compare(a.Round, b.Round), cmp.Compare(r.seatOfJudge(a.Judge), r.seatOfJudge(b.Judge)))
	})
	return out
}
