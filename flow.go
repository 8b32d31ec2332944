package debate

import (
	"encoding/json"
	"time"

	"github.com/agonist-dev/debate/prompt"
)

// Flow is the part of the machine that differs between kinds of debate: its own states, the rules
// between them, and what is to be done in each. A flow is data and pure functions of the [Record]:
// it starts nothing, reads no clock and keeps no state. A constructor returns a fresh value each
// time, so that composing one flow from another never changes the other.
type Flow struct {
	Name    string
	Version int // is frozen in the start event
	Accepts int // the oldest version whose logs this flow continues; 0: only Version itself
	// Start is the flow's first state.
	Start State
	// Rules lead through the flow's states. They go before those of the lifecycle. A rule to
	// StateCompleting ends the flow.
	Rules []Rule
	// Steps say what happens in each of the flow's states, and in StateInitializing and
	// StateCompleting; a lifecycle state without a step passes at once.
	Steps map[State]Step
	// Inputs are triggers that a host may send with Session.Send.
	Inputs []Trigger
	// Timed are the states whose calls Config.RoundTimeout bounds. When a round's time is over its calls in
	// flight fail for good, and Record.Late tells Calls to ask for no others; nil: the flow has no such rounds.
	Timed []State
	// Schemas are what answers of this flow's calls must match, by the name in Call.Schema.
	Schemas map[string]*Schema
	// Bodies are samples of the bodies of events that only this flow has: pointers to structs, with kinds of their own.
	// A sample's value is not used.
	Bodies []Body
	// Texts renders the flow's prompts once, when a debate starts; Record.Text yields them. It is a pure
	// function of the setup: debates of the same setup share what it yields. nil: none.
	Texts func(Setup) (map[string]string, error)
	// Check looks at a config before anything is started; nil: nothing to add. It joins *Errors that
	// name their fields.
	Check func(*Config) error
	// DecodeConfig reads the flow's part of a config, strictly (DecodeStrict); nil: it has none. It is a pure
	// function; Record.FlowConfig yields what it has made.
	DecodeConfig func(json.RawMessage) (any, error)
}

// Setup is what a flow's prompts are rendered from. No prompt may speak of the config's ID, Labels,
// Budget or Retry.
type Setup struct {
	Config  *Config
	Format  *Format
	Prompts *prompt.Set
	// Fence stands for the secret word of the markers around what others have said; each debate gets
	// its own in its place.
	Fence string
	// Orders are the orders in which each judge is shown the participants, by seat, drawn for the debate.
	Orders [][]int
	// Labels are the neutral names of the participants, by seat; nil: judges see their names.
	Labels []string
}

// Step is what happens while the machine is in one state. Both are pure functions of the record.
type Step struct {
	// Calls yields the calls that are still missing, in order; those in flight may be among them. A
	// batch may run at once. nil: none.
	Calls func(r *Record) []Call
	// Next says what to fire when no call is missing; false: nothing is due, an input is awaited.
	Next func(r *Record) (Trigger, Note, bool)
}

// Note says what a transition means.
type Note struct {
	// Round, if it differs from the record's, begins a round.
	Round *Round
	// Reason and Evidence say why, where the rule's name does not tell.
	Reason   EndReason
	Evidence string
	// Failure is what fail is fired with.
	Failure *Error
	// Calls is how many calls the new state is expected to make; 0: none, or it is not known.
	Calls int
	// Warnings are what has gone otherwise than was asked for in the state that is left, such as who was
	// left out of it. They are recorded before the transition.
	Warnings []Warning
}

// CallKind says what a call is for; it is the kind of the turn that it yields. A flow names its own.
type CallKind string

// The kinds of the calls of every flow that a judge ends.
const (
	KindAssessment CallKind = "assessment"
	KindVerdict    CallKind = "verdict"
	KindBallot     CallKind = "ballot"  // of the audience
	KindAssign     CallKind = "assign"  // of who finds positions
	KindSummary    CallKind = "summary" // of the summarizer, in every flow
)

// Performer says who performs a call.
type Performer uint8

// The performers.
const (
	ByModel  Performer = iota // a model, through its provider
	ByJudge                   // a Judge registered on the engine
	ByPerson                  // a person, through an inquiry

	byTool // a Tool registered on the engine
)

// Call is one thing to be asked of somebody. Its ID is deterministic ("r2.rebuttal.Ada"): a result
// is found under it after any restart.
type Call struct {
	ID        string
	Kind      CallKind
	By        string    // the participant or judge who is asked
	Performer Performer // ByModel if zero
	Model     string    // "provider/model", for ByModel
	Fallbacks []string  // models that take over, in order
	Judge     string    // a name in Engine.Judges, for ByJudge
	Target    string    // whom it concerns, if anybody
	Round     int
	Slot      int
	// Hidden keeps the turn from the others until the flow leaves the present state.
	Hidden bool
	// Schema is the name of the flow's schema that the answer must match; "": free text.
	Schema string
	View   View
	// System is the system prompt. It should not change over a debate: prompt caches hang on it.
	System string
	// Last makes the last message, the instruction of this call. Pure.
	Last        func(r *Record) string
	MaxTokens   int // 0: the debate's
	Temperature *float64
	Timeout     time.Duration // 0: the debate's turn timeout
	// Tools are what the model may use before it replies, by their names in Config.Tools. Uses is how often it
	// may, all calls of the same participant in this state and round taken together.
	Tools []string
	Uses  int
	// NotBefore holds the call back until then.
	NotBefore time.Time
	OnFail    OnFail

	again   string     // the call whose rejected answer this one replaces
	asked   *AskedTool // of the use of a tool: what was asked for
	span    *span      // what a summary covers
	after   bool       // of a ballot: after the debate
	swapped bool       // of a verdict: in the other order
}

// OnFail says what becomes of a debate when a call has failed for good. What is set first counts, in
// the order of the fields; without any the debate goes to the error state.
type OnFail struct {
	// Skip leaves the call out: Record.Failed tells, and Calls is asked again.
	Skip bool
	// Ask says what a person is asked; without options nobody is.
	Ask func(r *Record, failure *Error) Question
	// Fire fires a trigger of the flow.
	Fire Trigger
	// Drop lets the participant or judge who was asked take no further part.
	Drop bool
}
