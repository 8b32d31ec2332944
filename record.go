package debate

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strconv"
	"time"

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
	Verdict     *Verdict      // nil: none was given
	Rejections  []Rejection   // answers that were not accepted
	Inquiries   []Inquiry     // the open ones
	Answers     []Answer
	Warnings    []Warning
	Inputs      []Sent // a flow's own inputs
	// Failure is why the debate is in the error state; nil in all others.
	Failure *Error
	// Evidence is why the debate ended, or went on to its verdict.
	Evidence          string
	StartedAt, LastAt time.Time
	Seq               int64 // the number of the last event

	start       *Start
	config      *Config
	valid       bool  // the config has passed validation
	work        State // the working state that is current, or will be after a pause
	entered     time.Time
	calls       map[string]*callState
	current     []*callState // the latest call of each participant and judge
	open        []*callState // the calls in flight, oldest first
	failing     []*callState // those that a host's retry resets
	limit       WarningKind  // the limit that was reached
	acked       bool
	retries     int // host retries since the last progress
	dropped     []string
	spent       accounts
	reserved    Money
	shared      view
	systems     []string // the system prompts of the participants
	models      []namedModel
	phase       Phase  // of the current round
	instruction string // of the phase
	hidden      []int  // turns that wait for the end of their phase
	fence       string
}

// callState is what the record knows of one call.
type callState struct {
	intent  *Intent // of the latest attempt
	status  callStatus
	aborted bool      // a control has broken off the attempt
	model   int       // which of the call's models is asked
	trouble *trouble  // what has gone wrong since the last retry; nil: nothing
	ready   *prepared // not a fact: what was computed for the intent
}

// trouble is what has gone wrong with a call.
type trouble struct {
	tries      []Kind // failures with the present model
	retryAt    time.Time
	failure    *Error   // why there is no further attempt
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

// Text yields a prompt of the flow, as rendered when the debate started.
func (r *Record) Text(name string) string {
	if r.start == nil {
		return ""
	}
	return r.start.Texts[name]
}

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
		State       State         `json:"state"`
		Turns       []turn        `json:"turns"`
		Assessments []Judgement   `json:"assessments"`
		Verdict     *FinalVerdict `json:"verdict"`
	}{State: r.State}
	turns := slices.Clone(r.Turns)
	slices.SortStableFunc(turns, func(a, b *Turn) int { return cmp.Or(cmp.Compare(a.Round, b.Round), cmp.Compare(a.Slot, b.Slot)) })
	for _, t := range turns {
		out.Turns = append(out.Turns, turn{t.Round, t.Slot, t.Kind, t.Speaker, t.Target, t.Text, t.Data, t.Cut})
	}
	for i := range r.Assessments {
		out.Assessments = append(out.Assessments, r.Assessments[i].Judgement)
	}
	if r.Verdict != nil {
		out.Verdict = &r.Verdict.FinalVerdict
	}
	return json.Marshal(out)
}

// view is the conversation as everybody reads it: append only, so that all requests of a debate share it.
type view struct {
	messages []provider.Message
	sizes    []int // sizes[i] is an upper bound of the tokens of messages[:i]
	rounds   []int
}

// framing bounds the tokens that a vendor adds around one message: roles, separators, names.
const framing = 24

func (v *view) add(t *Turn, fence string) {
	m := provider.Message{Speaker: t.Speaker, Text: escape(t.Text, fence), Fence: fence}
	size := 0
	if n := len(v.sizes); n > 0 {
		size = v.sizes[n-1]
	}
	v.messages = append(v.messages, m)
	v.rounds = append(v.rounds, t.Round)
	v.sizes = append(v.sizes, size+messageBound(&m))
}

// messageBound is an upper bound of a message's tokens: a token holds at least one byte.
func messageBound(m *provider.Message) int {
	return len(m.Text) + 2*len(m.Fence) + len(m.Speaker) + framing
}

// view yields the conversation as a call reads it, and where it begins.
func (r *Record) view(v View) (shared *view, from int) {
	if v.None {
		return &view{}, 0
	}
	from, _ = slices.BinarySearch(r.shared.rounds, v.From)
	return &r.shared, from
}

// reveal lets everybody read the turns whose phase is over, in slot order.
func (r *Record) reveal() {
	if len(r.hidden) == 0 {
		return
	}
	slices.SortStableFunc(r.hidden, func(a, b int) int { return r.Turns[a].Slot - r.Turns[b].Slot })
	for _, i := range r.hidden {
		r.shared.add(r.Turns[i], r.fence)
	}
	r.hidden = r.hidden[:0]
}

// fenceOf derives the secret word of the fences from the debate's seed: digits only, so that case
// cannot disguise it.
func fenceOf(seed string) string {
	sum := sha256.Sum256([]byte("fence " + seed))
	return strconv.FormatUint(1e15+binary.BigEndian.Uint64(sum[:8])%9e15, 10)
}
