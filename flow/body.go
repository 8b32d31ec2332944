package flow

import (
	"encoding/json"
	"time"

	"github.com/agonist-dev/debate/provider"
)

// LogVersion is the version of the event log that this release writes. Older versions can be read.
const LogVersion = 1

// Start freezes everything that could change under a running conversation.
type Start struct {
	Version     int    `json:"version"` // of the log
	Flow        string `json:"flow"`
	FlowVersion int    `json:"flowVersion"`
	Config      Value  `json:"config"` // settled: with every default written out
	Terms       Terms  `json:"terms"`
	// Frozen is the result of Flow.Freeze.
	Frozen Value               `json:"frozen,omitzero"`
	Views  Views               `json:"views,omitzero"`
	Models map[string]Model    `json:"models,omitempty"` // prices and sizes by "provider/model"
	Texts  map[string]string   `json:"texts,omitempty"`  // the flow's prompts, rendered
	Tools  map[string]ToolInfo `json:"tools,omitempty"`  // those of Terms.Tools, by name
	// Seed is the conversation's secret, from which fences and labels are drawn. Only stores and snapshots hold it.
	Seed string `json:"seed,omitempty"`
	// Parent is the conversation that this one was forked from, or nil.
	Parent *Parent `json:"parent,omitempty"`
}

// Parent names the conversation that another one was forked from, and the last event of it that was copied.
type Parent struct {
	ID  string `json:"id"`
	Seq int64  `json:"seq"`
}

// Transition is a change of state.
type Transition struct {
	From State   `json:"from"`
	To   State   `json:"to"`
	On   Trigger `json:"on"`
	// Reason and Evidence say why the rounds or the conversation ended, such as "soft-limit" and "soft-limit of the
	// budget: 12 of 12 calls".
	Reason   EndReason `json:"reason,omitempty"`
	Evidence string    `json:"evidence,omitempty"`
	// Drain marks a pause that lets the calls in flight finish.
	Drain bool `json:"drain,omitempty"`
	// Calls is how many calls the new state is expected to make. 0: none, or the number is unknown.
	Calls int `json:"calls,omitempty"`
	// Failure is why the conversation went to the error state.
	Failure *Error `json:"failure,omitempty"`
}

// Round is the beginning of a round.
type Round struct {
	N     int    `json:"n"`  // from 1
	Of    int    `json:"of"` // the maximum number of rounds
	Phase string `json:"phase,omitempty"`
	Calls int    `json:"calls,omitempty"` // expected number of turns
}

// Intent records that an attempt at a call is about to be made. Each attempt has its own.
type Intent struct {
	Call      string   `json:"call"`
	Attempt   int      `json:"attempt"` // from 1
	Kind      CallKind `json:"kind"`
	By        string   `json:"by"`                  // the actor that is asked
	Model     string   `json:"model,omitempty"`     // "provider/model"; "" if no model is asked
	Next      string   `json:"next,omitempty"`      // the fallback model that is asked if this one keeps failing
	Fallbacks []string `json:"fallbacks,omitempty"` // the fallbacks after Next, in order
	// ModelIndex is the index of the model among those of the call: 0 for its own, n for the nth fallback.
	ModelIndex int    `json:"modelIndex,omitempty"`
	Round      int    `json:"round,omitempty"`
	Slot       int    `json:"slot,omitempty"` // place in the round's order, from 0
	Target     string `json:"target,omitempty"`
	Schema     string `json:"schema,omitempty"` // the name of the schema that the answer must match
	Hidden     bool   `json:"hidden,omitempty"` // see Call.Hidden
	Labels     bool   `json:"labels,omitempty"` // the actor reads neutral labels in place of names
	Tag        string `json:"tag,omitempty"`    // the mark of Call.Tag
	View       string `json:"view,omitempty"`   // for a summary: the view that is summarised
	Upto       int    `json:"upto,omitempty"`   // for a summary: the first message that is left as it is
	Again      string `json:"again,omitempty"`  // the call whose rejected answer this one replaces
	Tool       string `json:"tool,omitempty"`   // for the use of a tool: its name
	For        string `json:"for,omitempty"`    // for the use of a tool: the call that asks for it
	// Temperature is the temperature that is sent. nil: none is sent.
	Temperature *float64 `json:"temperature,omitempty"`
	// Offer names the tools that the reply may ask for. nil: none.
	Offer   *ToolOffer `json:"offer,omitempty"`
	Input   int        `json:"input,omitempty"`   // counted tokens of input; 0: they were not counted
	Bound   int        `json:"bound,omitempty"`   // upper bound of the tokens of input and output together
	Tokens  int        `json:"tokens,omitempty"`  // upper bound of the output tokens
	Reserve Money      `json:"reserve,omitempty"` // upper bound of the attempt's cost
}

// ToolOffer names tools, and bounds how often one participant may use them in one state and round.
type ToolOffer struct {
	Tools []string `json:"tools"`
	Uses  int      `json:"uses"`
}

// offered returns the tools that the reply may ask for.
func (in *Intent) offered() ToolOffer {
	if in.Offer == nil {
		return ToolOffer{}
	}
	return *in.Offer
}

// Spend is what one attempt used and cost. Each [AttemptEnd] embeds one.
type Spend struct {
	Call    string         `json:"call"`
	Attempt int            `json:"attempt"`
	Model   string         `json:"model,omitempty"` // "provider/model" as asked for
	Usage   provider.Usage `json:"usage,omitzero"`
	Cost    Money          `json:"cost,omitempty"`
	// Estimated means that the provider reported no usage. The reserve is then charged in full.
	Estimated bool `json:"estimated,omitempty"`
	// Cached means that a cache of the host program's gave a former reply, which cost nothing.
	Cached bool          `json:"cached,omitempty"`
	Took   time.Duration `json:"took,omitempty"` // nanoseconds
}

// spent makes each type that embeds Spend an [AttemptEnd].
func (s *Spend) spent() *Spend { return s }

// SpendOf returns what the attempt that a body ends used and cost, or nil if the body ends no attempt.
func SpendOf(body Body) *Spend {
	if end, ok := body.(AttemptEnd); ok {
		return end.spent()
	}
	return nil
}

// Charge is the cost of an attempt whose result came after the end.
type Charge struct{ Spend }

// Turn is one contribution to the conversation.
type Turn struct {
	Spend
	Round   int      `json:"round"`
	Slot    int      `json:"slot"`
	Kind    CallKind `json:"kind"`
	Speaker string   `json:"speaker"`
	Target  string   `json:"target,omitempty"`
	Text    string   `json:"text"`
	// Data is the answer as JSON, where the call had a schema.
	Data json.RawMessage `json:"data,omitempty"`
	// Cut means that the reply ended at the limit of output tokens.
	Cut    bool `json:"cut,omitempty"`
	Hidden bool `json:"hidden,omitempty"` // see Intent
}

// Summarized is a summary of a part of the conversation. In its view it replaces the messages from the first one
// after the opening up to Upto, exclusive. Those include the messages that the former summary replaced.
type Summarized struct {
	Spend
	View   string `json:"view,omitempty"` // key of the view; "": everybody's
	Upto   int    `json:"upto"`
	Text   string `json:"text"`
	Before int    `json:"before"` // size of what it replaces, in bytes
	After  int    `json:"after"`  // size of Text, in bytes
	Cut    bool   `json:"cut,omitempty"`
}

// Rejection records an answer that was not accepted. The re-ask shows its problems.
type Rejection struct {
	Spend
	By       string   `json:"by"`
	Round    int      `json:"round,omitempty"`
	Text     string   `json:"text"`          // the answer: at most 2 KiB of it
	Cut      bool     `json:"cut,omitempty"` // whether the answer was longer than Text
	Problems []string `json:"problems"`
	// Next is the fallback model that is asked instead. Only the rejection of a re-ask has one, because a first
	// answer is asked for again.
	Next string `json:"next,omitempty"`
}

// Failure records an attempt that gave no result.
type Failure struct {
	Spend
	By    string `json:"by"`
	Error *Error `json:"error"`
	// Text is the reply, if there was one that could not be used, such as a refusal: at most 2 KiB of it. Cut reports
	// that it was longer.
	Text string `json:"text,omitempty"`
	Cut  bool   `json:"cut,omitempty"`
	// RetryAt is when the next attempt starts. Zero: at once, or never if Final.
	RetryAt time.Time `json:"retryAt,omitzero"`
	// Final means that the call is not retried, unless the host program asks for it.
	Final bool `json:"final,omitempty"`
	// Next is the fallback model that the next attempt asks.
	Next string `json:"next,omitempty"`
	// Void means that a control aborted the attempt, or that it was lost in a crash. It does not count as a try.
	Void bool `json:"void,omitempty"`
	// Unsent means that no request was made, because it could not fit. It counts in no account.
	Unsent bool `json:"unsent,omitempty"`
	// Window is the assumed size of the model's window after this overflow, in tokens.
	Window int `json:"window,omitempty"`
}

// Dropped records that an actor takes no further part.
type Dropped struct {
	Participant string `json:"participant"` // the name of the actor
	Reason      string `json:"reason"`
}

// WarningKind names the threshold that was reached.
type WarningKind string

// The kinds of warnings.
const (
	WarnCost  WarningKind = "cost"       // Budget.Warn
	WarnSoft  WarningKind = "soft-limit" // a soft limit: the rounds end
	WarnHard  WarningKind = "hard-limit" // a hard limit: the conversation stops
	WarnNear  WarningKind = "context-80" // 80 % of a window are used
	WarnHigh  WarningKind = "context-90" // 90 % of a window are used
	WarnShort WarningKind = "context"    // messages no longer fit a window; they are left out, or one is cut
	WarnLate  WarningKind = "round-time" // Terms.RoundTimeout: the round ends

	WarnLeftOut WarningKind = "left-out" // a call has failed for good, and the flow continues without it
)

// Warning reports a threshold that was reached. It is recorded once per threshold. For a window it is recorded once
// for each actor. A flow may add warnings of its own kinds.
type Warning struct {
	Kind      WarningKind `json:"kind"`
	Threshold Money       `json:"threshold,omitempty"`
	Spend     Money       `json:"spend,omitempty"`
	Call      string      `json:"call,omitempty"`
	By        string      `json:"by,omitempty"`   // whose window it is
	Left      int         `json:"left,omitempty"` // how many messages are left out
	// Evidence says what was reached, with figures.
	Evidence string `json:"evidence,omitempty"`
}

// Sent is an input of the flow's own; see Flow.Inputs.
type Sent struct {
	Trigger Trigger         `json:"trigger"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// Chunk is a piece of a turn as it is spoken. Readers assemble the text of a turn as follows:
//   - The text so far is the first Offset bytes of what came before, then Text. A smaller offset than expected
//     therefore replaces the rest.
//   - A chunk of a new attempt voids the text of the former attempt.
type Chunk struct {
	Call    string `json:"call"`
	Attempt int    `json:"attempt"`
	By      string `json:"by"`
	Offset  int    `json:"offset"` // in bytes
	Text    string `json:"text"`
	// Parts is how many chunks of the provider are merged in this one. It is 1 for a text that is read after its
	// turn.
	Parts int `json:"parts"`
}
