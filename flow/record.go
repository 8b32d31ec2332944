package flow

import (
	"slices"
	"time"

	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/internal/transcript"
	"github.com/agonist-dev/debate/provider"
)

// What is known of a conversation is one value. It is kept by the fold alone, and grouped by what it is about: what the start has
// frozen, where the conversation is, its calls, what is read, and what was learned. record_view says who reads what, record_status
// what an actor does, and record_report what a call has taken.

// Record is the state of a conversation: the fold of its events, and nothing else. It is read only. A Record that
// Session.Wait or Engine.Record returned does not change any more, and many goroutines may read it. Its JSON shows
// its state, see MarshalJSON; it cannot be read back.
type Record struct {
	ID    string
	State State
	// Round is the current round, from 1; 0 before the first.
	Round        int
	RoundStarts  []time.Time   // when each round began: the first one at index 0
	Turns        []*Turn       // in the order in which they were recorded
	Summaries    []*Summarized // oldest first
	Rejections   []Rejection   // answers that were not accepted
	Inquiries    []Inquiry     // those without an answer
	Answers      []Answer
	Warnings     []Warning
	Failures     []FailedAttempt // in the order in which they were recorded
	Inputs       []Received      // a flow's own inputs, in the order in which they were recorded
	Notes        []*Note         // what somebody has said in between, in the order in which it was recorded; see Held
	ToolUses     []*ToolResult   // in the order in which they were recorded
	SkippedCalls []Skipped       // calls that were left out
	Redactions   []Redacted      // what was removed from the log, in the order of removal
	// Failure is why the conversation is in the error state. It is nil in all other states.
	Failure *Error
	// Reason and Evidence say why the conversation ended, concluded, or stopped in the error state.
	Reason   EndReason
	Evidence string
	// EndedEarlyBy names who has decided to end the conversation before it had all that its config asks for: "host", "person" for
	// an answer, "rule" for a FailureRule, "budget", "detector", or whom the flow names. "": nobody. CutShort says it in a sentence.
	EndedEarlyBy      string
	StartedAt, LastAt time.Time
	Seq               int64 // the number of the last event

	fromStart
	course
	callTable
	readings
	learned
	projection Projection // the flow's own; nil: it has none
}

// fromStart is what the start has frozen.
type fromStart struct {
	start    *Start
	machine  *Machine // the rules of the flow; nil before there is a start
	flow     string   // the name of the flow; "" before there is a config
	config   Config   // as the flow reads it
	settings *Settings
	rules    []FailureRule // the conversation's own: those of Settings.OnFailure before Flow.Complete has added any
	frozen   any           // what the flow has frozen beside the config
	valid    bool          // the config has passed validation
	timed    []State       // the flow's states that a round's time covers
	texts    map[string]string
	fence    string
}

// course is where the conversation is, and since when.
type course struct {
	work     State // the working state, or the one that a pause, question or error interrupted
	workAt   int64 // the number of the event that led to it
	entered  time.Time
	entry    string      // the evidence of the transition to State
	errorAt  int64       // the number of the event that led to the error state
	before   ending      // why the conversation was about to end before an error
	limit    WarningKind // the limit that was reached
	softened *Budget     // in force when a soft limit was reached last
	hardened *Budget     // in force when a hard limit was reached last
	acked    bool
	raisedAt int64     // the number of the event that has raised the hard limit that was reached; 0: none has
	late     bool      // the round's time is over
	owed     *Round    // the round that begins next, by the last transition that begins one
	roundAt  time.Time // when the round began, moved forward by each time in which no call could run
	left     time.Time // when the conversation last left its working states
	dropped  []string
	droppers []string     // who has decided each of these: EndedByPerson, EndedByRule or "" for nobody
	sharing  []*callState // calls whose share of the round's time runs
	planned  int          // how many calls the round was expected to make
	done     int          // how many of them are still to come no longer
	whole    int          // how many rounds are over; see foldWhole
	// concluded means that the conversation was completed after its conclusion was made: it can be reopened.
	concluded bool
	// firstTimed is the first timed state that has made a call since the round's time began. "": none has.
	firstTimed State
	opened     opening
	relieved   bool // since the last transition, a seat was given to a model whose person was asked
	reopened   int  // how often the conversation was reopened after its conclusion
	// notedBefore is how many notes there were when it was last reopened.
	notedBefore int
	timesFrom   time.Time // from when the budget's limits of time count: the start, or the last reopening
	begunOf     int       // how many rounds there were to be when the present one began, or by a later amendment
	cuts        []string  // what CutShort said before each reopening
	shortened   int       // how many of the rounds before the last reopening were cut short
}

// callTable holds the calls, and what they have cost.
type callTable struct {
	calls      map[string]*callState
	current    []*callState   // the latest call of each actor
	inFlight   []*callState   // the calls in flight, oldest first
	failing    []*callState   // the calls that a retry by the host program resets
	toolCounts map[string]int // of tools in this state and round, by participant
	always     []string       // tools of which a person has approved all uses
	misses     []misses
	tardy      []tardy // calls of this state that were left out because the time was over, and that nothing has followed
	spent      accounts
	reserves   amount   // the worst case of the attempts in flight
	growths    increase // how much longer they make the conversation at most
	lengths    lengths
	foreseen   bool // the flow is asked what calls it would make, for a budget: those of persons are as for the models that stand in
}

// readings holds what is read of the conversation, and by whom.
type readings struct {
	views     []*transcript.View // the first is everybody's
	readers   []*transcript.View // by seat; nil: all read everybody's
	anonymous *transcript.View   // with labels for names; nil: nobody reads it
	sides     []string           // by seat; nil: the first message opens the conversation
	labelRoom int                // bytes that the label of a turn has as a rule; 0: turns have none
	hidden    []int              // indices of turns that wait for the others of their group
	papers    papers             // the documents that all read
	handed    []handout          // the turns with files, and the notes, for calls that read no view
	held      []int              // indices of notes that wait until no call is in flight and no turn is hidden
	surplus   surplus            // of all files
	unsummed  []string           // the summarizers that have failed for good, as in Intent.Only

	// anew are, by a view, those without the program's own notes, once there is such a note.
	anew map[*transcript.View]*transcript.View
}

// learned is what was found out about models and vendors, and what people have chosen for them.
type learned struct {
	models     []namedModel
	limits     []vendorLimit              // vendors' limits that still hold
	leftOut    []LeftOut                  // what models were asked without
	outages    []outage                   // of providers that may pass by themselves
	replied    map[string]bool            // the providers that have answered, if only with an error, by their hosts
	outlasted  []toldOutage               // of which a warning was given
	askedAt    map[string]time.Time       // when inquiries were asked, by their IDs
	told       Questions                  // what the log has said last of the open inquiries
	answered   map[string][]AnsweredError // the answers to an inquiry since it was last asked, by its ID
	swaps      []replacement              // models chosen as replacements, one for each actor
	shrunk     []reduction                // choices for participants whose context was too large
	sizes      []learnt                   // what vendors' answers have shown, by model
	thresholds []threshold                // thresholds of windows that were reported
}

// callState is the state of one call.
type callState struct {
	intent       *Intent   // of the latest attempt
	spend        *Spend    // of the latest attempt that has ended; nil: none has, or it is in special.earlier
	trouble      *trouble  // failures since the last retry; nil: none
	special      *special  // never nil; it is read here, and written through own
	first        int64     // the number of the event with which it was begun first; 0: it was not
	vain         int       // attempts since the last result, or since the host program has retried
	began, ended time.Time // of the first attempt, and of the latest result or failure
	status       callStatus
	unbegun      bool // the attempt waits for its turn in a queue
	aborted      bool // a control has aborted the attempt, or the flow no longer wants it
	presumed     bool // the attempt counts in the accounts as broken off, although it is in flight
	drains       bool // a limit has ended the rounds, and lets the attempt finish
	person       bool // a person performs it
	patient      bool // was chosen to be waited for, whatever the kind of its failure
	ending       bool // belongs to the conclusion
	usedUp       bool // a limit of its uses of tools was reached
	setBack      bool // the latest attempt has failed
	withdrawn    bool // the flow no longer wanted it, and it was not begun again
	counted      bool // among those that the round was expected to make, as one that is still to come no longer
}

// newCall returns the state of a call. in may be nil: the call was not begun.
func newCall(in *Intent) *callState { return &callState{intent: in, special: &plain} }

// special is what only some calls have. A record keeps the state of every call, so that it is kept small.
type special struct {
	model     int           // index of the model that is asked
	least     int           // the same of the first model of which no two answers in a row were rejected
	broken    int           // replies that ended at the cap on their tokens
	failures  int           // attempts that have failed
	ruled     []string      // models that rules have chosen for it, since the host program has retried
	standIn   string        // the model that stands in for the person; "": the person is asked
	share     time.Duration // of the round's time, from its beginning; 0: all of it
	formerly  *misses       // what its actor had missed before this call was left out; nil: it was not left out
	rejection *Rejection    // of an answer that the next attempt asks for again; nil: none
	talk      []exchange    // with tools
	spared    int           // of these, those from before the call began anew
	said      string        // the parts of its reply so far; "": there is none
	parts     int           // how many
	earlier   bill          // of the attempts before that of callState.spend
}

// plain is what a call has that is not special. All such calls share it: nothing writes to it.
var plain special //nolint:gochecknoglobals // it is never written

// own returns what only some calls have, for writing.
func (c *callState) own() *special {
	if c.special == &plain {
		c.special = &special{}
	}
	return c.special
}

// trouble holds the failures of a call.
type trouble struct {
	tries    []Kind // failures with the present model
	waits    int    // how often it was tried again since its retries were used up
	instead  bool   // the flow goes on by itself
	fired    bool   // the flow has acted on it; see OnFail.Fire
	chosen   Option // what was chosen, if that gives the call no new start
	by       string // who has chosen it: EndedByPerson or EndedByRule
	retryAt  time.Time
	failure  *Error // why there is no further attempt
	failedAt int64  // the number of the event that says so
	unsent   bool   // nothing was sent: the same call would fail again
}

// troubled returns the call's trouble for writing. It makes one if there is none.
func (c *callState) troubled() *trouble {
	if c.trouble == nil {
		c.trouble = &trouble{}
	}
	return c.trouble
}

// asksUntil returns how long the vendor wants no request after the failure. Zero: it named no time.
func (t *trouble) asksUntil() time.Time {
	if t == nil || t.failure == nil || t.failure.RetryAfter <= 0 {
		return time.Time{}
	}
	return t.failure.At.Add(t.failure.RetryAfter)
}

// tries returns the kinds of the failures with the present model.
func (c *callState) tries() []Kind {
	if c.trouble == nil {
		return nil
	}
	return c.trouble.tries
}

// retryAt returns when the next attempt may start. Zero: at once.
func (c *callState) retryAt() time.Time {
	if c.trouble == nil {
		return time.Time{}
	}
	return c.trouble.retryAt
}

// waits returns how often the call was tried again since its retries were used up.
func (c *callState) waits() int {
	if c.trouble == nil {
		return 0
	}
	return c.trouble.waits
}

type callStatus uint8

const (
	callIdle callStatus = iota
	callInFlight
	callDone
	callFailed
	callSkipped
)

// ending is the cause of the end of a conversation.
type ending struct {
	reason   EndReason
	evidence string
}

// Flow returns the name of the flow, or "" before there is a config.
func (r *Record) Flow() string { return r.flow }

// Config returns the frozen config, with every default written out. It is read only.
func (r *Record) Config() Config { return r.config }

// Frozen returns what the flow has frozen beside the config, or nil. It is read only.
func (r *Record) Frozen() any { return r.frozen }

// Settings returns the part of the config that all flows share, or nil before there is a config. It is read only.
func (r *Record) Settings() *Settings { return r.settings }

// Start returns the first event of the log, or nil before the start. It holds the secret seed. It is read only.
func (r *Record) Start() *Start { return r.start }

// Halted returns why the conversation is paused or waits for answers, as the transition to that state says. It is "" in all other states,
// and if the transition says nothing.
func (r *Record) Halted() string {
	if r.State != StatePaused && r.State != StateAwaitingInput {
		return ""
	}
	return r.entry
}

// Parent returns the conversation that this one was forked from, or nil.
func (r *Record) Parent() *Parent {
	if r.start == nil {
		return nil
	}
	return r.start.Parent
}

// Late reports whether the time of the present round is over; see [Settings].RoundTimeout.
func (r *Record) Late() bool { return r.late }

// Quote returns a text as a quotation for an instruction. The markers of the conversation's fence enclose it, and
// the text cannot close them. A flow quotes everything that a model or a person has said. Its system prompt must
// say that quoted text is material and never an instruction; see Setup.Fence.
func (r *Record) Quote(speaker, content string) string {
	m := provider.Message{
		Speaker: text.OneLine(text.Escape(speaker, r.fence), 80),
		Text:    text.Escape(text.Readable(content), r.fence), Fence: r.fence,
	}
	return m.Enclosed()
}

// Text returns a prompt of the flow as it was rendered at the start, or "" if there is none of this name.
func (r *Record) Text(name string) string { return r.texts[name] }

// Model returns the frozen prices and sizes of a model of this conversation.
func (r *Record) Model(name string) (Model, bool) {
	if m := r.model(name); m != nil {
		return *m, true
	}
	return Model{}, false
}

// namedModel is a model of a conversation. A conversation has few: a list is faster than a map.
type namedModel struct {
	name string
	Model
}

// model returns the frozen model, or nil if it is not one of this conversation.
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

// Failed reports whether the call was left out, or has failed for good, with no attempt left.
func (r *Record) Failed(call string) bool {
	if len(r.failing) == 0 && len(r.SkippedCalls) == 0 { // as a rule
		return false
	}
	c := r.calls[call]
	return c != nil && (c.status == callFailed || c.status == callSkipped)
}

// FailureOf returns why the call has failed for good, or nil if it has not.
func (r *Record) FailureOf(call string) *Error {
	if !r.Failed(call) || r.calls[call].trouble == nil {
		return nil
	}
	return r.calls[call].trouble.failure
}

// callByID returns a call. The lookup is fastest if the call is in flight.
func (r *Record) callByID(id string) *callState {
	if len(r.inFlight) > manyInFlight {
		return r.calls[id]
	}
	for _, call := range r.inFlight {
		if call.intent.Call == id {
			return call
		}
	}
	return r.calls[id]
}

// manyInFlight is how many calls in flight are too many to look through.
const manyInFlight = 8

// latestOf returns the latest call of an actor, or nil if there was none.
func (r *Record) latestOf(name string) *callState {
	for _, call := range r.current {
		if call.intent.By == name {
			return call
		}
	}
	return nil
}

// InFlight returns the number of calls in flight.
func (r *Record) InFlight() int { return len(r.inFlight) }

// Final reports whether the conversation is over: it is completed or canceled.
func (r *Record) Final() bool { return r.State.Final() }

// Working returns the present working state. After a pause, a question or an error it returns the state to which
// the conversation goes back.
func (r *Record) Working() State { return r.work }

// EnteredAt returns when the present working state was entered.
func (r *Record) EnteredAt() time.Time { return r.entered }

// Active returns the names of the participants that were not dropped, in the order of their seats. It is read only.
func (r *Record) Active() []string {
	if r.settings == nil {
		return nil
	}
	if len(r.dropped) == 0 {
		return r.settings.Participants
	}
	return slices.DeleteFunc(slices.Clone(r.settings.Participants), r.IsDropped)
}

// Dropped returns the names of the actors that were dropped, in the order in which they were. It is read only.
func (r *Record) Dropped() []string { return r.dropped }

// Asking reports whether an attempt at the call is in flight.
func (r *Record) Asking(call string) bool {
	c := r.calls[call]
	return c != nil && c.status == callInFlight
}

// Waiting returns the first turn that is hidden now, or nil if there is none; see Call.Hidden.
func (r *Record) Waiting() *Turn {
	if len(r.hidden) == 0 {
		return nil
	}
	return r.Turns[r.hidden[0]]
}

// Readable returns the turns that are not hidden, as others may read them: tools, and the functions of the host program. They come in the
// order in which they were spoken. Those that were spoken at once, and hidden until all were, come by their slots: the order in which
// simultaneous replies arrived does not show. They are copies without the model's thoughts. Of their Spend they have what [Spend.Shown]
// returns: neither the model nor the cost. The slice belongs to the caller; what the turns point to is read only.
func (r *Record) Readable() []*Turn {
	return r.readable(func(i int) *Turn { return shownTurn(r.Turns[i]) })
}

// readable returns the turns that are not hidden, as the function shows each.
func (r *Record) readable(shown func(i int) *Turn) []*Turn {
	all := make([]int, 0, len(r.Turns)-len(r.hidden))
	for i := range r.Turns {
		if !slices.Contains(r.hidden, i) {
			all = append(all, i)
		}
	}
	r.order(all)
	turns := make([]*Turn, len(all))
	for n, i := range all {
		turns[n] = shown(i)
	}
	return turns
}

// order brings indices of turns, which are those of the log, into the order in which turns are shown: round by round, and by slot what was
// spoken at once.
func (r *Record) order(all []int) {
	slices.SortStableFunc(all, func(a, b int) int { return r.Turns[a].Round - r.Turns[b].Round })
	for from := 0; from < len(all); {
		first, upto := r.Turns[all[from]], from+1
		for first.Hidden && upto < len(all) && r.Turns[all[upto]].Hidden && r.Turns[all[upto]].Round == first.Round {
			upto++
		}
		slices.SortStableFunc(all[from:upto], func(a, b int) int { return r.Turns[a].Slot - r.Turns[b].Slot })
		from = upto
	}
}

// Line returns a text for use in a prompt outside of a quotation: one line of at most limit bytes, which cannot close the
// conversation's fence.
func (r *Record) Line(content string, limit int) string {
	return text.Escape(text.OneLine(content, limit), r.fence)
}

// Hide replaces the participants' names by neutral labels, if some calls of the conversation read those. Otherwise
// it returns the text unchanged.
func (r *Record) Hide(content string) string {
	if r.anonymous == nil {
		return content
	}
	return r.anonymous.Labels.Hide(content)
}

// RoundTurns returns the turns of a round in the order of [Record.Readable]. Hidden turns are included.
func (r *Record) RoundTurns(round int) []*Turn {
	var all []int
	for i := range r.Turns {
		if r.Turns[i].Round == round {
			all = append(all, i)
		}
	}
	r.order(all)
	turns := make([]*Turn, len(all))
	for n, i := range all {
		turns[n] = r.Turns[i]
	}
	return turns
}
