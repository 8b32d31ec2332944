package flow

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/agonist-dev/debate/prompt"
)

// Flow is what differs between kinds of conversation: the states, the rules between them, and the work of each
// state. A flow is data and pure functions of the [Record]. It starts nothing, reads no clock and keeps no state. A
// constructor returns a fresh value each time, so that a flow composed from another one never changes the other.
//
// Name, Version, Start, Steps and Decode are required. Once the flow is registered it is read only, and its functions
// are called from many goroutines at once.
type Flow struct {
	Name string // as logs and configs name the flow
	// Version is at least 1, and frozen in the start event. Accepts is the oldest version whose logs this flow
	// continues; 0: only Version. A change after which an old log would ask for other calls raises Version.
	Version int
	Accepts int
	// Start is the flow's first state. No round begins with it: Exit.Round begins one, the first often in a step
	// of StateInitializing.
	Start State
	// Rules lead through the flow's states. They are tried before the rules of the lifecycle. A rule to
	// StateCompleting ends the flow.
	Rules []Rule
	// Steps hold the work of each state. Every state of the flow has one. StateInitializing and StateCompleting may
	// have one; without it the machine passes through them at once.
	Steps map[State]Step
	// Inputs are the triggers that a host program may send with Session.Send. An input has a name of its own, which
	// no trigger of the lifecycle has. Record.Inputs holds each input that was accepted, and what it then does
	// depends on the state:
	//   - If the state has a rule for it, the rule must allow it, or it is refused. The rule's change of state aborts no
	//     call: a call in flight runs on, and its result is recorded.
	//   - If the state has no rule for it, it is only recorded, and fires nothing later either. Paused, awaitingInput and
	//     error never have one. What must not be missed is read from Record.Inputs, by a Next, a guard or a Last.
	Inputs []Trigger
	// Timed names the states whose calls Terms.RoundTimeout bounds. When the time of a round is over, its calls in
	// flight fail for good. Unless OnFail.Skip is set, their participants are dropped if Spare allows it. Where it does
	// not, round 1 ends in the error state, and a later round continues without them. Record.Late then reports true, and
	// Calls must return no further calls. nil: the flow has no such states.
	Timed []State
	// Schemas are the schemas that answers must match, by the name in Call.Schema.
	Schemas map[string]*Schema
	// Bodies are samples of the event bodies that only this flow has. Each is a pointer to a struct that embeds
	// [Spend], with a kind of its own. The value of a sample is not used. Only AnswerOf.Body puts one into a log: an
	// own event is always the result of a call with a schema.
	Bodies []Body
	// Decode reads a config of the flow from JSON, strictly; see [DecodeTo]. Every flow has it.
	Decode func(data []byte) (Config, error)
	// Settle returns a deep copy of a config with every default written out, and without an ID. The log holds the
	// copy, so it must depend on nothing outside, such as files. nil: the copy is what Decode reads of the config's JSON.
	// Settle returns the type that Decode returns, a pointer with [DecodeTo]: Record.Config has the one where the
	// conversation was started, and the other where it was opened. [ConfigAs] reads both.
	Settle func(Config) (Config, error)
	// Check reports what is wrong with a settled config, in the order of its fields. The engine checks the terms
	// itself. frozen is what the log holds for the config already, or nil for a new config. An error about frozen
	// has a field that begins with "frozen". nil: nothing is checked.
	Check func(config Config, frozen any, known Registry) []error
	// Field returns the name that a field of Terms, such as "tools[0]", has in the config. Errors about the terms
	// name the field so. nil: the names are the same.
	Field func(config Config, field string) string
	// Readable says that Decode reads the JSON of every settled config in which Check finds nothing wrong. If it is
	// false, the engine writes and reads a config once before it starts a conversation with it.
	Readable bool
	// Freeze returns whatever else must not change while a conversation of this config runs. The log holds it as
	// JSON. nil: nothing.
	Freeze func(Config) (any, error)
	// Thaw reads the result of Freeze from JSON, strictly.
	Thaw func(data []byte) (any, error)
	// Draw returns what is drawn at random for a conversation. It depends on the secret seed and the config alone;
	// see [Shuffled]. nil: nothing is drawn.
	Draw func(config Config, seed string) any
	// Views says which participants read which turns. nil: everybody reads everything.
	Views func(Setup) Views
	// Prompted returns the part of a config that its prompts and views depend on. Conversations for which this part is equal
	// share their prompts. nil: the whole config.
	Prompted func(Config) any
	// Texts renders the flow's prompts once, when a conversation starts. Record.Text returns them. Conversations of
	// the same setup share the result. The names "again", "summary", "summary.former", "system.summarizer", "tools" and
	// "tools.none" are those of the texts that every flow has. nil: the flow has no prompts of its own.
	Texts func(Setup) (map[string]string, error)
	// Open makes the flow's part of a record that begins with this event. Record.Config and Record.Frozen already
	// return what the flow has read from it. nil: the flow keeps no part.
	Open func(r *Record, start *Start) (Part, error)
	// Last returns the calls of the conclusion, as if the conversation had come to it. The budget keeps their worst
	// case back. nil: the calls of the step of StateCompleting.
	Last func(r *Record) []Call
	// Spare reports whether the conversation can continue without this participant. nil: it never can.
	Spare func(r *Record, name string) bool
	// Fixed returns the part of a config that a log refers to, so that a fork cannot change it. nil: the whole
	// config.
	Fixed func(Config) any
	// Estimate walks through a conversation of at most this many rounds and counts its calls. nil: conversations of
	// this flow cannot be estimated.
	Estimate func(e *Estimator, rounds int) error
}

// Setup is what a flow makes prompts and views from. No prompt may depend on the config's ID, Labels, Budget or
// Retry. Conversations share a Setup: it is read only.
type Setup struct {
	Config  Config // settled
	Terms   *Terms
	Frozen  any // the result of Freeze
	Drawn   any // the result of Draw
	Prompts *prompt.Set
	// Fence stands for the secret word in the markers around what others have said. Each conversation puts its own
	// word in its place.
	Fence string
}

// Registry reports what an engine has registered. Flow.Check uses it.
type Registry interface {
	// Function reports whether a function is registered under the name, in Engine.Judges.
	Function(name string) bool
	// Model returns why a model cannot be asked, or nil if it can.
	Model(terms *Terms, name string) error
}

// spares calls Spare, if the flow has one.
func (f *Flow) spares(r *Record, name string) bool { return f.Spare != nil && f.Spare(r, name) }

// ReadConfig returns the config that a log holds, from its Go value or else by Decode.
func (f *Flow) ReadConfig(v Value) (Config, error) {
	if config, ok := v.Go.(Config); ok {
		return config, nil
	}
	return f.DecodeConfig(v.JSON)
}

// Settled returns a deep copy of a config, as a log holds it; see Settle.
func (f *Flow) Settled(config Config) (Config, error) {
	if f.Settle != nil {
		return f.given(f.Settle(config))
	}
	data, err := json.Marshal(config)
	if err != nil {
		return nil, configError("", err)
	}
	return f.DecodeConfig(data)
}

// DecodeConfig reads a config from JSON. Other than Decode, it never returns nil without an error.
func (f *Flow) DecodeConfig(data []byte) (Config, error) { return f.given(f.Decode(data)) }

// given refuses a config that is nil.
func (f *Flow) given(config Config, err error) (Config, error) {
	if err == nil && Unnamed(config) == nil {
		err = configError("", fmt.Errorf("the flow %s gave none", f.Name))
	}
	return config, err
}

// ReadFrozen returns what a log holds as the result of Freeze, from its Go value or else by Thaw.
func (f *Flow) ReadFrozen(v Value) (any, error) {
	switch {
	case v.Go != nil || v.IsZero():
		return v.Go, nil
	case f.Thaw == nil:
		return nil, errors.New("the flow freezes nothing")
	default:
		return f.Thaw(v.JSON)
	}
}

// Step is the work of one state: what the record still lacks. Both functions are pure functions of the record. A
// panic in one ends the process, as a panic in any other function of a flow does.
type Step struct {
	// Calls returns the calls whose result is missing, in order: those that have not begun, those in flight, and those
	// that have failed for good. A flow leaves out a call only if Record.Done reports true for it, or if the participant
	// or judge was dropped. If it leaves out one that has failed, its OnFail is never read, and the conversation
	// continues as if nothing were missing.
	//
	// The calls of one batch may run at the same time. An answer that is not accepted is asked for again as a call of
	// its own, whose ID ends in ".again". Record.Done then reports true for the ID that Calls gave. nil: there are none.
	Calls func(r *Record) []Call
	// Next returns the trigger to fire when no call is missing. false: nothing is due, and the flow waits for an
	// input.
	Next func(r *Record) (Trigger, Exit, bool)
}

// Exit describes a transition.
type Exit struct {
	// Round begins a round, if its number differs from the record's.
	Round *Round
	// Reason and Evidence say why, where the name of the rule does not.
	Reason   EndReason
	Evidence string
	// Failure is the cause of TriggerFail.
	Failure *Error
	// Calls is how many calls the new state is expected to make. 0: none, or the number is unknown.
	Calls int
	// Warnings report what differed from the config in the state that is left, such as a participant that was left
	// out of it. They are recorded before the transition.
	Warnings []Warning
}

// CallKind is the purpose of a call, and the kind of the turn that it results in. A flow names its own kinds.
type CallKind string

// KindSummary is the kind of the summarizer's calls, in every flow.
const KindSummary CallKind = "summary"

// Performer says what performs a call.
type Performer uint8

// The performers.
const (
	ByModel    Performer = iota // a model, through its provider
	ByFunction                  // a function that the host program has registered, in Engine.Judges
	ByPerson                    // a person, through an inquiry

	byTool // a Tool registered on the engine
)

// Call is one thing to be asked of a model, a function of the host program, or a person. Its ID is deterministic
// ("r2.rebuttal.Ada"), so that its result is found after any restart.
type Call struct {
	ID        string
	Kind      CallKind
	By        string    // the actor that is asked: a participant, or another name of the flow's
	Performer Performer // ByModel if zero
	Model     string    // "provider/model", for ByModel
	Fallbacks []string  // models that take over, in order
	Function  string    // the function's name in Engine.Judges, for ByFunction
	Target    string    // the participant that the call is about, if any
	Round     int       // from 1; 0: outside the rounds
	Slot      int       // place in the round's order, from 0
	// Hidden keeps the turn from all views until the next transition between states that make calls. A pause, a
	// question and an error are no such transition.
	Hidden bool
	// Schema is the name of the flow's schema that the answer must match; "": free text.
	Schema string
	View   View
	// System is the system prompt. It should not change during a conversation, because prompt caches depend on it.
	System string
	// Last makes the last message, which is the instruction of this call. It must be pure.
	Last        func(r *Record) string
	MaxTokens   int           // output tokens; 0: Terms.MaxTokens
	Temperature *float64      // nil: the vendor's default
	Timeout     time.Duration // 0: Terms.TurnTimeout
	// Tools are the tools that the model may use before it replies, by their names in Terms.Tools. Uses bounds how
	// often the participant may use tools, over all its calls in this state and round.
	Tools []string
	Uses  int
	// NotBefore is the earliest time at which the call may start. Zero: at once.
	NotBefore time.Time
	OnFail    OnFail
	// Tag is a mark for the flow's own use. The intent records it.
	Tag string
	// Task makes the argument of a function that the host program has registered, for ByFunction. The engine of package
	// debate expects a *debate.JudgeTask.
	Task func(r *Record, asked Asked) any

	again string     // the call whose rejected answer this one replaces
	asked *AskedTool // for the use of a tool: the request of the model
	span  *span      // for a summary: the messages that it covers
}

// Asked is what Call.Task is given about its call. It is read only.
type Asked struct {
	Call        *Call
	ID          string          // of the call; a re-ask has an ID of its own
	Attempt     int             // from 1
	Instruction string          // what Call.Last has returned
	Schema      json.RawMessage // with the names of this conversation; nil: the answer is free text
}

// OnFail says what happens when a call has failed for good: after its retries, its fallback models and, if its answer
// was not accepted, after asking again. The first field that is set and can be applied decides, in the order of the
// fields. If there is none, the conversation goes to the error state.
//
// OnFail is read only while Step.Calls returns the call. So Calls returns a call that has failed until the flow has
// acted on it.
type OnFail struct {
	// Skip leaves the call without a result, and the step continues once no other call is missing. Calls may still
	// return it. Next learns from Record.Failed that it has failed; Exit.Warnings can report it.
	Skip bool
	// Ask returns the question to a person. If it has no options, nobody is asked, and the next field decides.
	Ask func(r *Record, failure *Error) Question
	// Fire fires a trigger of the flow. If no rule of the present state allows the trigger, the next field decides.
	Fire Trigger
	// Drop drops the actor that was asked. Calls must then leave out whatever Record.IsDropped reports:
	// if it still returns the call that has failed, the conversation goes to the error state.
	Drop bool
}
