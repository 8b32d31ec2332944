package debate

import (
	"encoding/json"
	"time"
)

// LogVersion is the version of the event log that this release writes. Older ones can be read.
const LogVersion = 1

// Start freezes everything that could change under a running debate.
type Start struct {
	Version     int    `json:"version"` // of the log
	Flow        string `json:"flow"`
	FlowVersion int    `json:"flowVersion"`
	Config      Value  `json:"config"` // settled: with every default written out
	Terms       Terms  `json:"terms"`
	// Frozen is what else the flow has frozen.
	Frozen Value               `json:"frozen,omitzero"`
	Views  Views               `json:"views,omitzero"`
	Models map[string]Model    `json:"models,omitempty"` // prices and sizes by "provider/model"
	Texts  map[string]string   `json:"texts,omitempty"`  // the flow's prompts, rendered
	Tools  map[string]ToolInfo `json:"tools,omitempty"`  // those of Terms.Tools, by name
	// Seed is the debate's secret: fences come from it. Only stores and snapshots hold it.
	Seed string `json:"seed,omitempty"`
	// Parent is the debate that this one was forked from; nil: none.
	Parent *Parent `json:"parent,omitempty"`
}

// Transition is a change of state.
type Transition struct {
	From State   `json:"from"`
	To   State   `json:"to"`
	On   Trigger `json:"on"`
	// Reason and Evidence say why the rounds, or the debate, ended: "judge", and "judge wishes to end
	// after round 2".
	Reason   EndReason `json:"reason,omitempty"`
	Evidence string    `json:"evidence,omitempty"`
	// Drain: a pause that lets the calls in flight finish.
	Drain bool `json:"drain,omitempty"`
	// Calls is how many calls the new state is expected to make, where its flow tells.
	Calls int `json:"calls,omitempty"`
	// Failure is why the debate went to the error state.
	Failure *Error `json:"failure,omitempty"`
}

// Round is the beginning of a round.
type Round struct {
	N     int    `json:"n"`  // from 1
	Of    int    `json:"of"` // the most rounds that there may be
	Phase string `json:"phase,omitempty"`
	Calls int    `json:"calls,omitempty"` // how many turns are expected
}

// Intent says that a call is about to be made. Every attempt has its own.
type Intent struct {
	Call    string   `json:"call"`
	Attempt int      `json:"attempt"` // from 1
	Kind    CallKind `json:"kind"`
	By      string   `json:"by"`              // the participant or judge who is asked
	Model   string   `json:"model,omitempty"` // "provider/model"; "" if no model is asked
	Next    string   `json:"next,omitempty"`  // the fallback model that is asked if this one keeps failing
	Rest    []string `json:"rest,omitempty"`  // the further fallbacks, in order
	// Place is which of the call's models this is: 0 for its own, n for the nth fallback.
	Place  int    `json:"place,omitempty"`
	Round  int    `json:"round,omitempty"`
	Slot   int    `json:"slot,omitempty"` // place in the round's order, from 0
	Target string `json:"target,omitempty"`
	Schema string `json:"schema,omitempty"` // the name of the schema that the answer must match
	Hidden bool   `json:"hidden,omitempty"` // the turn is read by others only once its group has spoken
	Labels bool   `json:"labels,omitempty"` // who is asked reads neutral labels in the place of names
	Tag    string `json:"tag,omitempty"`    // the flow's own mark
	View   string `json:"view,omitempty"`   // of a summary: whose view is summarised
	Upto   int    `json:"upto,omitempty"`   // of a summary: the first message that is left as it is
	Again  string `json:"again,omitempty"`  // the call whose rejected answer this one replaces
	Tool   string `json:"tool,omitempty"`   // of the use of a tool: its name
	For    string `json:"for,omitempty"`    // of the use of a tool: the call that asks for it
	// Temperature is what is sent; nil: none is.
	Temperature *float64 `json:"temperature,omitempty"`
	// Offer is what tools the reply may ask for; nil: none.
	Offer   *ToolOffer `json:"offer,omitempty"`
	Input   int        `json:"input,omitempty"`   // tokens of input as counted; 0: there was no need to count
	Bound   int        `json:"bound,omitempty"`   // the most tokens of input and output together
	Tokens  int        `json:"tokens,omitempty"`  // most output tokens
	Reserve Money      `json:"reserve,omitempty"` // the most that this attempt can cost
}

// ToolOffer names tools, and says how often they may be used by one participant in one state and round.
type ToolOffer struct {
	Tools []string `json:"tools"`
	Uses  int      `json:"uses"`
}

// offered yields what tools the reply may ask for.
func (in *Intent) offered() ToolOffer {
	if in.Offer == nil {
		return ToolOffer{}
	}
	return *in.Offer
}

// Spend is what one attempt used and cost. Each [AttemptEnd] embeds one.
type Spend struct {
	Call    string `json:"call"`
	Attempt int    `json:"attempt"`
	Model   string `json:"model,omitempty"` // "provider/model" as asked for
	Usage   Usage  `json:"usage,omitzero"`
	Cost    Money  `json:"cost,omitempty"`
	// Estimated: the provider reported no usage, so that the reservation is charged in full.
	Estimated bool `json:"estimated,omitempty"`
	// Cached: the reply is a former one's, from a cache of the host's, and cost nothing.
	Cached bool          `json:"cached,omitempty"`
	Took   time.Duration `json:"took,omitempty"` // nanoseconds
}

// spent makes whatever embeds Spend an [AttemptEnd].
func (s *Spend) spent() *Spend { return s }

// SpendOf yields what the attempt that a body ends has used and cost; nil: the body ends none.
func SpendOf(body Body) *Spend {
	if end, ok := body.(AttemptEnd); ok {
		return end.spent()
	}
	return nil
}

// Charge is what an attempt cost whose result came after the end.
type Charge struct{ Spend }

// Turn is one contribution to the debate.
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
	// Cut: the reply ended at the limit of output tokens.
	Cut    bool `json:"cut,omitempty"`
	Hidden bool `json:"hidden,omitempty"` // see Intent
}

// Summarized is a summary of a part of the conversation. It stands for all messages of a view from the
// first after the opening to the one before Upto, those of the summary before it included.
type Summarized struct {
	Spend
	View   string `json:"view,omitempty"` // whose view; "": everybody's
	Upto   int    `json:"upto"`
	Text   string `json:"text"`
	Before int    `json:"before"` // size of what it stands for, in bytes
	After  int    `json:"after"`  // its own
	Cut    bool   `json:"cut,omitempty"`
}

// Rejection is an answer that was not accepted. The re-ask shows its problems.
type Rejection struct {
	Spend
	By       string   `json:"by"`
	Round    int      `json:"round,omitempty"`
	Text     string   `json:"text"` // the answer, cut to 2 KiB
	Problems []string `json:"problems"`
	// Next: the fallback model that is asked instead. Only of a re-ask: the first answer is asked for again.
	Next string `json:"next,omitempty"`
}

// Failure is an attempt that gave no result.
type Failure struct {
	Spend
	By    string `json:"by"`
	Error *Error `json:"error"`
	// RetryAt is when the next attempt starts; zero: at once, or never if Final.
	RetryAt time.Time `json:"retryAt,omitzero"`
	// Final: this call is not tried again, unless a host retries.
	Final bool `json:"final,omitempty"`
	// Next: the next attempt asks this fallback model.
	Next string `json:"next,omitempty"`
	// Void: the attempt was broken off by a control or lost in a crash; it does not count against the call.
	Void bool `json:"void,omitempty"`
	// Unsent: no request was made, since it could not fit; it counts in no account.
	Unsent bool `json:"unsent,omitempty"`
	// Window is the size, in tokens, that the model's window is taken to have since it overflowed.
	Window int `json:"window,omitempty"`
}

// Dropped says that a participant or a judge takes no further part.
type Dropped struct {
	Participant string `json:"participant"` // or judge
	Reason      string `json:"reason"`
}

// WarningKind says which threshold was reached.
type WarningKind string

// The kinds of warnings.
const (
	WarnCost  WarningKind = "cost"       // Budget.Warn
	WarnSoft  WarningKind = "soft-limit" // a soft limit: the rounds end
	WarnHard  WarningKind = "hard-limit" // a hard limit: the debate stops
	WarnNear  WarningKind = "context-80" // 80 % of a window are used
	WarnHigh  WarningKind = "context-90" // 90 % of a window are used
	WarnShort WarningKind = "context"    // messages no longer fit a window and are left out, or one is cut
	WarnLate  WarningKind = "round-time" // Config.RoundTimeout: the round ends

	WarnLeftOut WarningKind = "left-out" // somebody's call has failed for good, and the flow goes on without it
)

// Warning is given once per threshold; of a window once for each who is asked. A flow may give others, of
// kinds of its own.
type Warning struct {
	Kind      WarningKind `json:"kind"`
	Threshold Money       `json:"threshold,omitempty"`
	Spend     Money       `json:"spend,omitempty"`
	Call      string      `json:"call,omitempty"`
	By        string      `json:"by,omitempty"`   // whose window it is
	Left      int         `json:"left,omitempty"` // messages left out
	// Evidence says what was reached, with figures.
	Evidence string `json:"evidence,omitempty"`
}

// Sent is an input of a flow's own.
type Sent struct {
	Trigger Trigger         `json:"trigger"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// Chunk is a piece of a turn as it is spoken. The text of a turn so far is what came before Offset,
// then Text; a chunk with a smaller offset than what is known replaces from there on, and one of a
// new attempt voids the former attempt's text.
type Chunk struct {
	Call    string `json:"call"`
	Attempt int    `json:"attempt"`
	By      string `json:"by"`
	Offset  int    `json:"offset"` // in bytes
	Text    string `json:"text"`
	Parts   int    `json:"parts"` // how many chunks of the provider are merged in this one; 1 for a text that is read after its turn
}
