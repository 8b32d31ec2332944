package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/agonist-dev/debate/prompt"
	"github.com/agonist-dev/debate/provider"
)

// Flow is what differs between kinds of conversation: the states, the rules between them, and the work of each
// state. A flow is data and pure functions of the [Record]. It starts nothing, reads no clock and keeps no state. A
// constructor returns a fresh value each time, so that a flow composed from another one never changes the other.
//
// The fields stand in groups. The first is required, but for Accepts and Rules. Most authors need the second too, and each of the
// others only for what it names. Once the flow is registered it is read only, and its functions are called from many goroutines at
// once.
type Flow struct {
	// Every flow has these.

	Name string // as logs and configs name the flow
	// Version is at least 1, and frozen in the start event. Accepts is the oldest version whose logs this flow
	// continues; 0: only Version. Raise Version with each change after which an old log would yield other calls.
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
	// Decode reads a config of the flow from JSON, strictly; see [DecodeTo]. Every flow has it. The type that it returns, a
	// pointer with [DecodeTo], is the type of all configs of the flow: every other function of the flow, Normalize included, gets
	// that type, and Record.Config returns it, wherever the conversation was started or opened. If that is a *T, a host program
	// may also give a T. A config of any other type is refused. Decode must accept {}: Check reports what a config lacks.
	Decode func(data []byte) (Config, error)

	// Most flows have these: what a config means, what models are told, what becomes of their answers, and what the conversation owes.

	// Normalize returns a deep copy of a config with every default written out, and without an ID. The log holds the
	// copy, so it must depend on nothing outside, such as files. nil: the copy is what Decode reads of the config's JSON.
	// Normalize returns the type that Decode returns.
	Normalize func(Config) (Config, error)
	// Check reports what is wrong with a normalized config, in the order of its fields. The engine checks the settings
	// itself. frozen is what the log holds for the config already, or nil for a new config. An error about frozen
	// has a field that begins with "frozen". Like every function of a flow it is pure: a config that is equal to one in which an engine
	// has found nothing wrong is not checked again. nil: nothing is checked.
	Check func(config Config, frozen any, known Registry) []error
	// Texts renders the flow's prompts once, when a conversation starts. Record.Text returns them. Conversations of
	// equal configs share the result. The names "again", "summary", "summary.former", "system.summarizer", "tools" and
	// "tools.none" are those of the texts that every flow has. nil: the flow has no prompts of its own.
	Texts func(Setup) (map[string]string, error)
	// Schemas are the schemas that answers must match, by the name in Call.Schema.
	Schemas map[string]*Schema
	// Bodies are samples of the event bodies that only this flow has. Each is a pointer to a struct that embeds
	// [Spend], with a kind of its own, which is not "open", "error" or "end". The value of a sample is not used.
	// Only AnswerOf.Body puts one into a log: such an event is always the result of a call with a schema.
	//
	// Engine.Redact removes a text from all strings of a body, except those whose field has the tag redact:"-". These are
	// identifiers, by which the log refers to something: an actor, a model, a state. The tag redact:"keys" of a map says so of its
	// keys alone. Configs, what Freeze returns, answers that a turn holds and Payloads have the same tags.
	Bodies []Body
	// Open makes the flow's [Projection] for a record that begins with this event. Record.Config and Record.Frozen already
	// return what the flow has read from it. nil: the flow has no projection.
	Open func(r *Record, start *Start) (Projection, error)
	// Owes is called before the conversation completes. It returns what the conversation still lacks of its config, one line
	// each. If it returns anything, the conversation goes to the error state instead. Record.EndedEarlyBy shows whether somebody
	// has decided to end it early. In any flow, failed calls about which nobody has decided are owed too. nil: only those.
	Owes func(r *Record) []string

	// For budgets and estimates.

	// Last returns the missing calls of the conclusion, as if the conversation had come to it, including those that the step of
	// StateCompleting makes one after the other. The budget reserves their usual case. The first attempt at a call changes nothing
	// about them as it begins. nil: the calls of that step.
	Last func(r *Record) []*Call
	// Estimate walks through a conversation of at most this many rounds and counts its calls. nil: conversations of
	// this flow cannot be estimated.
	Estimate func(e *Estimator, rounds int) error

	// For flows that a host program steers.

	// Inputs are the triggers that a host program may send with Session.Send. An input has a name of its own, which
	// no trigger of the lifecycle has, and at least one rule. The rules say where it is legal: in any other state, or if no
	// guard holds, it is refused and not recorded. Guards are evaluated before it is recorded.
	//   - A rule to another state records the input and changes the state. A call in flight that the new state's Step does not
	//     return is aborted; see Withdrawn.
	//   - A rule to StateUnchanged only records it. Such a rule may also begin in StatePaused, StateAwaitingInput and
	//     StateError. The conversation stays there, and nothing is fired later: a Next, a guard or a Last reads
	//     Record.Inputs.
	Inputs []Trigger
	// Payloads are samples of the payloads of Inputs, by trigger. The value of a sample is not used: the tags of its type say which
	// strings of a payload are identifiers; see Bodies. An input that is not here may have any JSON, and all its strings are texts.
	Payloads map[Trigger]any
	// Admit may refuse an input that a rule allows, before it is recorded, and returns why: its payload, what it names, or
	// anything else about it. The payload is valid JSON or empty. An error without a kind is of kind validation; its Field may
	// be a path in the payload, such as "payload.agent". Both arguments are read only. A log that was written elsewhere may
	// hold inputs that Admit would refuse. nil: everything is admitted.
	Admit func(r *Record, s *Sent) error
	// Aside returns why the participant whom a note asks cannot answer out of turn, or nil. It is called before the note is recorded; what
	// the flow makes of it, Calls says. nil: nobody answers out of turn.
	Aside func(r *Record, n *Note) error
	// Reopen returns the config with which a conversation whose conclusion is made goes on, and the note that tells its participants what
	// was concluded and, at its end, what is asked now. The number of rounds of that config holds, whatever amendments have made of it
	// before. The record is that of the whole conversation. An error without a kind is of kind validation; its Field is that of the
	// [Reopening] in small letters. The rules need one for [TriggerReopen]. nil: conversations of this flow are not reopened.
	Reopen func(r *Record, o Reopening) (Config, Note, error)
	// Round returns how the nth round begins under the settings of the record. A fork of another number of rounds asks for it, if the round
	// that is present at the end of its copy has begun and nothing was done in it. nil: that round stays as it was.
	Round func(r *Record, n int) *Round
	// Amend reports what of an amendment the flow cannot change. The kernel has checked the rest: models can be given to those who have
	// a [Seat] for one. The flow's functions read the number of rounds from Record.Settings. nil: rounds cannot be changed.
	Amend func(r *Record, a *Amendment) []error

	// For lists of conversations.

	// Shape names the shape of a conversation of this config; a debate's is its format. Lists show it. nil: there is none.
	Shape func(Config) string
	// Result names the result of a conversation that is about to be completed, in a few words; a debate's is who has won.
	// Lists show it. It is a text: Engine.Redact changes it. nil: there is none.
	Result func(r *Record) string

	// For flows in which not everybody reads everything, or that draw or freeze something beside the config.

	// Views says which participants read which turns. nil: everybody reads everything.
	Views func(Setup) Views
	// Draw returns what is drawn at random for a conversation. It depends on the secret seed and the config alone;
	// see [Shuffled]. nil: nothing is drawn.
	Draw func(config Config, seed string) any
	// Freeze returns whatever else must not change while a conversation of this config runs. The log holds it as
	// JSON. nil: nothing.
	Freeze func(Config) (any, error)
	// Thaw reads the result of Freeze from JSON, strictly.
	Thaw func(data []byte) (any, error)

	// For failures, and rounds whose time is bounded.

	// OnFailure are the rules for failures in unattended conversations of this flow. They apply after those of the config.
	OnFailure []FailureRule
	// Kinds returns the kinds of the calls of a conversation of this config. Rules for failures and amended time-outs may name
	// these, and those that every flow has: KindConfirm, KindSummary and KindTool. A flow that is composed from another one
	// adds the kinds of its own steps. nil: any kind may be named.
	Kinds func(Config) []CallKind
	// Timed names the states whose calls Settings.RoundTimeout bounds, in the order of a round. A round has one state, whose calls
	// are steps that share the time, or several states, which are the steps. Of one state, Round.Calls says how many calls there
	// are; those that are made at once are one step. Of several, the calls of each are taken to be made at once, and the first
	// step is the first state that makes a call. A step may use what is left of the time, less half of an equal part of the whole
	// for each step that is still to come. A person's call has no such bound, and while one is asked the time stands still. A call whose
	// time is over is skipped; see Record.Skipped. An actor who would be skipped in a second round in a row leads to the error state, unless
	// the call is optional (OnFail.Aid). When the time of the whole round is over, Record.Late reports true, and Calls must return no further
	// calls. nil: the flow has no such states.
	Timed []State

	// For prompts that a host program replaces.

	// Prompts are the templates that Texts renders with Setup.Prompts. A host program replaces them in Engine.Prompts, or in
	// Settings.Prompts for one conversation, by their names, so a name begins with a word of the flow's, such as "review.ask". If the
	// flow is not made of that of debates, and renders a template of debates too, that one stands here with the text of prompt.Default:
	// otherwise no config replaces it. nil: Texts needs none.
	Prompts map[string]prompt.Template

	// For configs: how they are described, how their fields are named, what a fork must not change, and whether they are read once more.

	// ConfigSchema is the JSON schema of the configs that Decode reads, for editors and forms. It may allow more than Check does. "": the
	// flow has none.
	ConfigSchema string
	// Field returns the name that a field of Settings, such as "tools[0]", has in the config. Errors about the settings
	// name the field so. nil: the names are the same.
	Field func(config Config, field string) string
	// Fixed returns the part of a config that a log refers to, so that a fork cannot change it. nil: the whole
	// config.
	Fixed func(Config) any
	// Readable says that Decode reads the JSON of every normalized config in which Check finds nothing wrong. If it is
	// false, the engine writes and reads a config once before it starts a conversation with it.
	Readable bool

	// For engines that lack what the conversation needs.

	// Asks returns one call for each actor that the rest of the conversation may ask. Only By, Performer, Model,
	// Fallbacks, Function and Person are read. An engine that lacks a provider or a function of these does not continue the
	// conversation. nil: whoever has a [Seat] is asked.
	Asks func(r *Record) []*Call
	// Missing reports what the program lacks, among what the rest of the conversation needs and only this flow knows by name. Its
	// errors wrap [ErrMissing]. nil: it lacks nothing.
	Missing func(r *Record) error
}

// Setup is what a flow makes prompts and views from. It is read only. Prompts and views depend on nothing else: conversations that have
// equal values here share them.
type Setup struct {
	Config   Config    // normalized
	Settings *Settings // without the ID
	Frozen   any       // the result of Freeze
	Drawn    any       // the result of Draw
	Prompts  *prompt.Set
	// Fence is a placeholder for the secret word in the markers around what others have said. Each conversation replaces it by
	// its own word.
	Fence string
}

// FenceRule returns what tells a model what the markers mean: the part "fence" of package prompt, or what the host program has put in its
// place. Every system prompt needs it. A template of Flow.Prompts contains it as {{template "fence" .}}, if its data have a field Fence.
func (s Setup) FenceRule() string { return s.Prompts.FenceRule(s.Fence) }

// Registry reports what an engine has registered. Flow.Check uses it.
type Registry interface {
	// Function returns why a function cannot be called, or nil if it can.
	Function(name string) error
	// Model returns why a model cannot be asked in this conversation, or nil if it can. Ask it about models of the config's Seats and
	// Settings: what a provider tells later of another model has no effect on a config that was found right.
	Model(name string) error
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
	// or another actor was dropped. If it leaves out one that has failed, its OnFail is never read, and Next decides as if
	// nothing were missing.
	//
	// The calls of one batch may run at the same time. An answer that is not accepted is asked for once more, as another
	// attempt of the call. The core changes none of them. nil: there are none.
	Calls func(r *Record) []*Call
	// Steady are the kinds of those calls whose results change none of the others. It is for states that make many calls at once: while
	// calls are in flight, the core does not ask Calls again after each of them. As long as Calls returns a person's call, the state has
	// no gain from it.
	//
	// A state with such kinds keeps this rule: results of these kinds, attempts at the calls (also those that fail and are made again,
	// uses of tools, and summaries that the engine makes before them) and warnings about attempts change nothing about what Calls
	// returns, except that a call with a result is missing from then on. After anything else, and before Next, Calls is asked again. nil:
	// it is asked in each step.
	Steady []CallKind
	// Next returns the trigger to fire when no call is missing. false: nothing is due, and the flow waits for an
	// input, for the answer to an inquiry, for a call in flight or for the end of the round's time. If there is nothing to wait
	// for, the conversation goes to the error state.
	Next func(r *Record) (Trigger, Exit, bool)
}

// Exit describes a transition.
type Exit struct {
	// Round begins a round, if its number differs from the record's. Rounds are numbered from 1 without gaps.
	Round *Round
	// Reason and Evidence say why, where the name of the rule does not. Setting Reason means that the rounds end, even if
	// another state comes before StateCompleting.
	Reason   EndReason
	Evidence string
	// By names who has decided to end the conversation before it has all that its config asks for, such as [EndedByDetector], or
	// "judges". It is a word of the library's or of the flow's, and no name that a config chooses. "": nobody has.
	By string
	// Failure is the cause of TriggerFail.
	Failure *Error
	// Calls is how many calls the new state is expected to make. 0: none, or the number is unknown.
	Calls int
	// Warnings report deviations from the config in the state that ends, such as a participant that was left out. They are
	// recorded before the transition.
	Warnings []Warning

	call   string // the failed call whose OnFail.Fire this is
	person string // see Transition.Person
	whole  bool   // see Transition.Whole
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
	ByFunction                  // a function that the host program has registered on its engine
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
	// Hidden keeps the turn from all views until the next transition between states that make calls. A pause, a
	// question and an error are no such transition.
	Hidden bool
	// Needed means that the conversation cannot continue without the result. If the round's time is over first, the call is not
	// skipped: the conversation goes to the error state, from which Retry makes the call again.
	Needed    bool
	standsIn  bool     // a model is asked in the place of the person whose seat it is; see Seat.AskIn
	Model     string   // "provider/model", for ByModel
	Fallbacks []string // models that take over, in order
	Function  string   // the name under which the engine has the function, for ByFunction
	Target    string   // the participant that the call is about, if any
	Round     int      // from 1; 0: outside the rounds
	Slot      int      // place in the round's order, from 0
	// Schema is the name of the flow's schema that the answer must match; "": free text.
	Schema string
	View   View
	// System is the system prompt. It should not change during a conversation, because prompt caches depend on it.
	System string
	// Last makes the last message, which is the instruction of this call. It must be pure.
	Last func(r *Record) string
	// Person is how the call is put to a person, for ByPerson; see Seat.Ask. nil: as Last words it, without a time.
	Person *ForPerson
	// Longer is how many bytes longer the instruction will be because of replies that are not there yet. It is used where calls
	// are predicted, in Flow.Last and Flow.Estimate; see [Record.Longest].
	Longer      int
	MaxTokens   int      // output tokens; 0: Settings.MaxTokens
	Usual       int      // output tokens of a usual reply, for budgets and estimates; 0: TypicalReply
	Temperature *float64 // nil: the vendor's default
	// Options are what the request asks for beyond text. nil: the vendor's defaults. They are read only.
	Options *provider.Options
	Timeout time.Duration // 0: Settings.TurnTimeout
	// Tools are the tools that the model may use before it replies, by their names in Settings.Tools. Uses bounds how
	// often the participant may use tools, over all its calls in this state and round.
	Tools []string
	Uses  int
	// Exchanges is how many replies of the model the call may take. In the last one the model may use no tool, and is told so.
	// If it asks for one all the same, the call has failed for good, with a failure of kind tool_limit. Where Exchanges is set,
	// Uses of 0 is no bound. 0: Uses alone bounds the replies. See [Record.UsedUp].
	Exchanges int
	// Recalls are the IDs of earlier calls of the same actor, oldest first. The model is shown again how it has used tools in them, and
	// what these have answered, up to 64 KiB: the newest if there are more, and the oldest of these cut. A call without Tools recalls
	// none.
	Recalls []string
	// Continues is how often a reply of a model that ends at its cap is continued, at most 16 times. The model gets what it has
	// said so far as its own message, and the joined text is the reply. Each part may have MaxTokens, and has an event of its
	// own; see [Continued]. 0, or once that is used up: a free reply stays cut, and a structured answer is asked for again.
	Continues int
	// SkipWith names a skipped call that makes this one pointless, such as the question that it would answer. This call is then
	// recorded as skipped too, without any attempt, and its actor has not missed a turn. "": it is not pointless.
	SkipWith string
	// NotBefore is the earliest time at which the call may start. Zero: at once.
	NotBefore time.Time
	OnFail    OnFail
	// Tag is a mark for the flow's own use. The intent records it.
	Tag string
	// Task makes what a [Function] is asked, for ByFunction.
	Task func(r *Record, asked Asked) any

	asked *AskedTool // for the use of a tool: the request of the model
	span  *span      // for a summary: the messages that it covers
}

// Asked is what Call.Task is given about its call. It is read only.
type Asked struct {
	Call        *Call
	Attempt     int             // from 1
	Instruction string          // what Call.Last has returned, with the problems of an answer that was rejected
	Schema      json.RawMessage // with the names of this conversation; nil: the answer is free text
}

// OnFail says what the conversation can do without if a call has failed for good. Settings.OnFailure or a person chooses among
// that.
//
// OnFail is read only while Step.Calls returns the call. So Calls returns a call that has failed until the flow has
// acted on it, or until Record.Skipped or Record.IsDropped reports true for it or its actor.
type OnFail struct {
	// Skip says who may decide that the flow continues without the result. Calls may still return such a call. Next learns
	// from Record.Skipped that it was left out.
	Skip Allowance
	// Drop says who may decide that it continues without the actor. Calls must then omit every actor for which Record.IsDropped
	// is true.
	Drop Allowance
	// DropEnds means that dropping the actor is all that an end could mean, such as for a judge of whom nothing but the verdict is left to
	// come. Where Drop allows it, a person is offered OptionDrop alone, and a rule to end drops the actor.
	DropEnds bool
	// Extra means that the result is beside what the actor owes in the round: if it is left out, the actor has missed nothing. Unlike with
	// Aid, somebody decides about a failure.
	Extra bool
	// Aid means that the result is optional: the flow continues without it. Instead are the kinds of failures after which the
	// flow makes another call. In both cases nobody is asked. The call first waits for an outage to pass, unless Instead names
	// its kind.
	Aid     bool
	Instead []Kind
	// Fire fires a trigger of the flow's own, or TriggerComplete. The flow then acts on the failure itself: nobody else
	// decides about it. If no rule of the present state allows the trigger, Settings.OnFailure decides. A call with any other
	// trigger of the lifecycle is not made: the conversation goes to the error state.
	Fire Trigger
}

// spares reports whether the actor of a call that is left out has missed nothing.
func (o *OnFail) spares() bool { return o.Aid || o.Extra }

// instead reports whether the flow goes on by itself after a failure of this kind.
func (o *OnFail) instead(kind Kind) bool { return o.Aid || slices.Contains(o.Instead, kind) }

// means returns what an option means for a call that has failed.
func (o *OnFail) means(option Option) Option {
	if option == OptionEnd && o.DropEnds && o.Drop != Nobody {
		return OptionDrop
	}
	return option
}

// What most steps do. None of it is needed: a step is any function of the record.

// Missing makes a [Step].Calls from a function that returns all calls of a state. That Calls returns those that have no result,
// and whose actor was not dropped. A call that has failed stays, so that its OnFail is read. The calls that are returned
// together run at the same time.
func Missing(calls func(r *Record) []*Call) func(r *Record) []*Call {
	return func(r *Record) []*Call {
		return slices.DeleteFunc(slices.Clone(calls(r)), func(c *Call) bool { return r.Done(c.ID) || r.IsDropped(c.By) })
	}
}

// Then makes a [Step].Next that always fires the same trigger.
func Then(on Trigger) func(r *Record) (Trigger, Exit, bool) {
	return func(*Record) (Trigger, Exit, bool) { return on, Exit{}, true }
}

// NextRound returns the round after the present one, of at most Settings.Rounds, with this expected number of turns. It is for
// Exit.Round.
func (r *Record) NextRound(calls int) *Round {
	return &Round{N: r.Round + 1, Of: r.settings.Rounds, Calls: calls}
}

// AnswerTo returns the structured answer that the turn of a call holds, as a T. ok is false if there is no such turn, or if
// what an imported log holds is no T.
func AnswerTo[T any](r *Record, call string) (answer T, ok bool) {
	for _, t := range slices.Backward(r.Turns) {
		if t.Call == call {
			ok = len(t.Data) > 0 && json.Unmarshal(t.Data, &answer) == nil
			break
		}
	}
	return answer, ok
}

// Function is code of the host program that answers calls in place of a model. The engine has it under a name, which the config of
// a conversation uses.
//
// Each flow says which task it gives to its functions, and has a type of function that takes it; see [TaskOf]. The answer is checked
// like that of a model: it must be one JSON value that matches the schema of the call, and if it is not accepted, the function is
// asked once more.
//
// Call must return soon after ctx is done. It is called concurrently if several conversations use it. Errors that are
// *provider.Error or *[Error] are retried by their kind; all others by what [Classify] says, so most are not retried. A panic ends
// the process.
type Function interface {
	Call(ctx context.Context, task any) (json.RawMessage, error)
}

// TaskOf returns the task of a function that takes a *T. A config may name a function that is made for another flow: that is an
// error of kind validation, which is not retried.
func TaskOf[T any](task any) (*T, error) {
	own, ok := task.(*T)
	if !ok {
		err := fmt.Errorf("the function takes a %T, and the flow of this conversation gives it a %T", own, task)
		return nil, &Error{Kind: provider.KindValidation, Op: "function", Err: err}
	}
	return own, nil
}
