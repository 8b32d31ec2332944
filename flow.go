package debate

import (
	"encoding/json"
	"errors"
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
	// Decode reads a config of the flow from JSON, strictly; see [DecodeStrict].
	Decode func(data []byte) (FlowConfig, error)
	// Settle yields a deep copy of a config with every default written out, and without an ID. The copy depends on
	// nothing outside, such as files; the log holds it. nil: a config is taken as it is.
	Settle func(FlowConfig) (FlowConfig, error)
	// Check finds what is wrong with a settled config, beside what its Terms say, in the order of its fields. frozen is
	// what a log holds for the config already; what is wrong with it has a field that begins with "frozen". It is nil for
	// a new config. nil: nothing is wrong.
	Check func(config FlowConfig, frozen any, known Registry) []error
	// Field names where a config says what stands in a field of its Terms, such as "tools[0]", for what is wrong with it.
	// nil: the config's fields have the same names.
	Field func(config FlowConfig, field string) string
	// Freeze yields what else must not change while a conversation of this config runs; the log holds it as JSON. nil:
	// nothing.
	Freeze func(FlowConfig) (any, error)
	// Thaw reads what Freeze has yielded from JSON, strictly.
	Thaw func(data []byte) (any, error)
	// Draw yields what is drawn for a conversation, from its secret seed alone; see [Shuffled]. nil: nothing.
	Draw func(config FlowConfig, seed string) any
	// Views says who reads what; nil: everybody reads everything.
	Views func(Setup) Views
	// Prompted yields what of a config its prompts depend on; conversations that have it in common share their prompts.
	// nil: all of it.
	Prompted func(FlowConfig) any
	// Texts renders the flow's prompts once, when a conversation starts; Record.Text yields them. Conversations of the
	// same setup share what it yields. nil: none.
	Texts func(Setup) (map[string]string, error)
	// Open makes the flow's part of a record that begins with this event. Record.Config and Record.Frozen yield what the
	// flow has read of it. nil: the flow keeps nothing.
	Open func(r *Record, start *Start) (Part, error)
	// Last yields the calls of the end, as if the conversation had come to it: their worst case is kept back. nil:
	// those of the step of StateCompleting.
	Last func(r *Record) []Call
	// Spare reports whether the conversation can go on without this participant. nil: it cannot.
	Spare func(r *Record, name string) bool
	// Fixed yields what a log refers to of a config, so that a fork cannot change it; nil: all of it.
	Fixed func(FlowConfig) any
	// Estimate walks through a conversation of a config, of so many rounds at most, and counts its calls; nil: the
	// flow's conversations cannot be estimated.
	Estimate func(e *Estimator, rounds int) error
}

// Setup is what a flow's prompts and views are made from. No prompt may speak of the config's ID, Labels, Budget or
// Retry. All of it is shared: read only.
type Setup struct {
	Config  FlowConfig // settled
	Terms   *Terms
	Frozen  any // what Freeze has yielded
	Drawn   any // what Draw has yielded
	Prompts *prompt.Set
	// Fence stands for the secret word of the markers around what others have said; each conversation gets its own in
	// its place.
	Fence string
}

// Registry says what an engine has registered, for the checks of a config.
type Registry interface {
	// Judge reports whether a judge is registered under the name.
	Judge(name string) bool
	// Model says why a model cannot be asked; nil: it can.
	Model(terms *Terms, name string) error
}

// spares is Spare.
func (f *Flow) spares(r *Record, name string) bool { return f.Spare != nil && f.Spare(r, name) }

// named puts the names of a config's fields in the place of those of its Terms.
func (f *Flow) named(config FlowConfig, found findings) findings {
	if f.Field == nil {
		return found
	}
	for i, err := range found {
		if failure, ok := errors.AsType[*Error](err); ok {
			renamed := *failure
			renamed.Field = f.Field(config, failure.Field)
			found[i] = &renamed
		}
	}
	return found
}

// readConfig yields the config that a log holds.
func (f *Flow) readConfig(v Value) (FlowConfig, error) {
	if config, ok := v.Go.(FlowConfig); ok {
		return config, nil
	}
	if f.Decode == nil {
		return nil, errors.New("the flow reads no configs")
	}
	return f.Decode(v.JSON)
}

// readFrozen yields what a log holds beside the config.
func (f *Flow) readFrozen(v Value) (any, error) {
	switch {
	case v.Go != nil || v.IsZero():
		return v.Go, nil
	case f.Thaw == nil:
		return nil, errors.New("the flow freezes nothing")
	default:
		return f.Thaw(v.JSON)
	}
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

// KindSummary is the kind of the summarizer's calls, in every flow.
const KindSummary CallKind = "summary"

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
	// Tag is the flow's own mark; the intent has it too.
	Tag string
	// Task makes what a function of the host's is asked, for ByJudge; it is given the instruction and the schema.
	Task func(r *Record, asked Asked) any

	again string     // the call whose rejected answer this one replaces
	asked *AskedTool // of the use of a tool: what was asked for
	span  *span      // what a summary covers
}

// Asked is what is known of a call when its task is made.
type Asked struct {
	Call        *Call
	ID          string // of the call, which is asked again under another
	Attempt     int
	Instruction string
	Schema      json.RawMessage
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
