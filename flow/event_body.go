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
	Version     int      `json:"version"` // of the log
	Flow        string   `json:"flow" redact:"-"`
	FlowVersion int      `json:"flowVersion"`
	Shape       string   `json:"shape,omitempty" redact:"-"` // what Flow.Shape returned
	Config      Value    `json:"config"`                     // normalized: with every default written out
	Settings    Settings `json:"settings"`
	// Frozen is the result of Flow.Freeze.
	Frozen Value               `json:"frozen,omitzero"`
	Views  Views               `json:"views,omitzero"`
	Models map[string]Model    `json:"models,omitempty" redact:"keys"` // prices and sizes by "provider/model"
	Texts  map[string]string   `json:"texts,omitempty" redact:"keys"`  // the flow's prompts, rendered
	Tools  map[string]ToolInfo `json:"tools,omitempty" redact:"keys"`  // those of Settings.Tools, by name
	// Seed is the conversation's secret, from which fences and labels are drawn. Only stores and snapshots hold it.
	Seed string `json:"seed,omitempty" redact:"-"`
	// Elsewhere is the last event that an import has brought from elsewhere. Approvals of uses of tools up to it do not count: whoever
	// wrote the log may have written them. Only stores and snapshots hold it.
	Elsewhere int64 `json:"elsewhere,omitempty"`
	// Parent is the conversation that this one was forked from, or nil.
	Parent *Parent `json:"parent,omitempty"`
}

// Parent names the conversation that another one was forked from, and the last event of it that was copied.
type Parent struct {
	ID  string `json:"id" redact:"-"`
	Seq int64  `json:"seq"`
	// Spent is what the copied events have used. It counts against the limits of this conversation, and is part of Record.Spent, as it
	// is of the parent's. The zero value: nothing, or a log that does not say, of an older release or from elsewhere.
	Spent Account `json:"spent,omitzero"`
	// KeepsOf means that each round has the number of rounds that it began with. false: the log of an older release, in which copied rounds
	// have the number of the settings.
	KeepsOf bool `json:"keepsOf,omitempty"`
}

// Transition is a change of state.
type Transition struct {
	From State   `json:"from" redact:"-"`
	To   State   `json:"to" redact:"-"`
	On   Trigger `json:"on" redact:"-"`
	// Reason and Evidence say why the rounds or the conversation ended, such as "soft-limit" and "soft-limit of the
	// budget: 12 of 12 calls". The evidence of a control includes the reason that the host program gave.
	Reason   EndReason `json:"reason,omitempty" redact:"-"`
	Evidence string    `json:"evidence,omitempty"`
	// By names who has decided to end the conversation early; see Record.EndedEarlyBy.
	By string `json:"by,omitempty" redact:"-"`
	// Person names the person who has asked for a control, as the host program knows them. "": it has not said so.
	Person string `json:"person,omitempty"`
	// Whole means that the present round was over when a limit ended the rounds: the flow was about to begin the next one.
	Whole bool `json:"whole,omitempty"`
	// Drain marks a pause, or a limit, that lets the calls in flight finish.
	Drain bool `json:"drain,omitempty"`
	// Calls is how many calls the new state is expected to make. 0: none, or the number is unknown.
	Calls int `json:"calls,omitempty"`
	// Call is the failed call whose OnFail.Fire has fired the trigger.
	Call string `json:"call,omitempty" redact:"-"`
	// Round is the round that the new state begins. Its event follows. nil: none begins.
	Round *Round `json:"round,omitempty"`
	// Failure is why the conversation went to the error state.
	Failure *Error `json:"failure,omitempty"`
	// Spent is what the conversation has cost so far, as far as it is known, and Unsettled what it may have cost beyond that; for lists.
	Spent Money `json:"spent,omitempty"`
	Unsettled
	// Result is what Flow.Result returned when the conversation was completed.
	Result string `json:"result,omitempty"`
}

// Round is the beginning of a round.
type Round struct {
	N     int    `json:"n"`  // from 1
	Of    int    `json:"of"` // the maximum number of rounds
	Phase string `json:"phase,omitempty" redact:"-"`
	Calls int    `json:"calls,omitempty"` // expected number of calls
}

// Intent records that an attempt at a call is about to be made. Each attempt has its own.
type Intent struct {
	Call      string   `json:"call" redact:"-"`
	Attempt   int      `json:"attempt"` // from 1
	Kind      CallKind `json:"kind" redact:"-"`
	By        string   `json:"by" redact:"-"`                  // the actor that is asked
	Model     string   `json:"model,omitempty" redact:"-"`     // "provider/model"; "" if no model is asked
	Next      string   `json:"next,omitempty" redact:"-"`      // the fallback model that is asked if this one keeps failing
	Fallbacks []string `json:"fallbacks,omitempty" redact:"-"` // the fallbacks after Next, in order
	// ModelIndex is the index of the model among those of the call: 0 for its own, n for the nth fallback.
	ModelIndex int    `json:"modelIndex,omitempty"`
	Round      int    `json:"round,omitempty"`
	Slot       int    `json:"slot,omitempty"` // place in the round's order, from 0
	Target     string `json:"target,omitempty" redact:"-"`
	Schema     string `json:"schema,omitempty" redact:"-"` // the name of the schema that the answer must match
	Hidden     bool   `json:"hidden,omitempty"`            // see Call.Hidden
	Labels     bool   `json:"labels,omitempty"`            // the actor reads neutral labels in place of names
	StandIn    bool   `json:"standIn,omitempty"`           // a model is asked in the place of the person whose seat it is
	Tag        string `json:"tag,omitempty" redact:"-"`    // the mark of Call.Tag
	View       string `json:"view,omitempty" redact:"-"`   // for a summary: the view that is summarised; with Unread: the view that is read
	Upto       int    `json:"upto,omitempty"`              // for a summary: the first message that is left as it is
	// Only is for a summary: only calls with this View.Summarizer read it. "": all calls of the view read it.
	Only  string `json:"only,omitempty" redact:"-"`
	Reask bool   `json:"reask,omitempty"`           // an answer was rejected: the request shows its problems
	Tool  string `json:"tool,omitempty" redact:"-"` // for the use of a tool: its name
	For   string `json:"for,omitempty" redact:"-"`  // for the use of a tool: the call that asks for it
	// Temperature is the temperature that is sent. nil: none is sent.
	Temperature *float64 `json:"temperature,omitempty"`
	// Options are what the request asks for beyond text, as they are sent. nil: the vendor's defaults.
	Options *provider.Options `json:"options,omitempty"`
	// Left are what the config asks for and the request omits: abilities that this model is known to lack, and "extra" and
	// "header" if the provider is not the seat's.
	Left []provider.Ability `json:"left,omitempty" redact:"-"`
	// Offer names the tools that the reply may ask for. nil: none.
	Offer *ToolOffer `json:"offer,omitempty"`
	// Unread are the messages of the view that are sent neither whole nor in a summary, although View.All claims them.
	Unread []Gap `json:"unread,omitempty"`
	Input  int   `json:"input,omitempty"`  // counted tokens of input, to fit the window or to compare them; 0: they were not counted
	Bound  int   `json:"bound,omitempty"`  // upper bound of the tokens of input and output together
	Tokens int   `json:"tokens,omitempty"` // upper bound of the output tokens
	// Lowered is the former bound of the output, which the budget has lowered to Tokens because little was left. 0: it was not lowered.
	Lowered int `json:"lowered,omitempty"`
	// Thinking is the part of Tokens that is kept for the thoughts of a model that reasons.
	Thinking int `json:"thinking,omitempty"`
	// Continues is how often the reply may still be continued if it ends at its cap; see Call.Continues.
	Continues int   `json:"continues,omitempty"`
	Reserve   Money `json:"reserve,omitempty"` // upper bound of the attempt's cost
	// Share is the deadline of the call, in nanoseconds from the start of the round's time. 0: that of the round. Only the
	// first attempt has it, and no call of a person.
	Share time.Duration `json:"share,omitempty"`
}

// Gap are the messages of a view from index From up to To, exclusive. They are counted from 0, in the order in which
// they were revealed.
type Gap struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// ToolOffer names tools, and bounds how often one participant may use them in one state and round.
type ToolOffer struct {
	Tools     []string `json:"tools" redact:"-"`
	Uses      int      `json:"uses"`
	Exchanges int      `json:"exchanges,omitempty"` // see Call.Exchanges
	// Last means that the reply may ask for no tool: it is the last of Exchanges.
	Last bool `json:"last,omitempty"`
}

// boundedUses reports whether the number of uses is bounded.
func boundedUses(o *ToolOffer) bool { return o.Exchanges == 0 || o.Uses > 0 }

// offeredTools returns the tools that the reply may ask for.
func offeredTools(in *Intent) ToolOffer {
	if in.Offer == nil {
		return ToolOffer{}
	}
	return *in.Offer
}

// Spend is what one attempt used and cost. Each [AttemptEnd] embeds one.
type Spend struct {
	Call    string `json:"call" redact:"-"`
	Attempt int    `json:"attempt"`
	Model   string `json:"model,omitempty" redact:"-"` // "provider/model" as asked for
	// Usage and Cost are what is known: what the provider reports, or the vendor.
	Usage provider.Usage `json:"usage,omitzero"`
	Cost  Money          `json:"cost,omitempty"`
	// AtMost is the most that the attempt may have cost beyond Cost; see [Unsettled]. 0: Cost is all, or the price of the model is not known.
	AtMost Money `json:"atMost,omitempty"`
	// BrokenOff means that more may have been used than Usage says, because the attempt was broken off, or its process may have died:
	// its end is unknown. Unreported means that the attempt has ended, and its provider has reported no usage, or one that lacks the input
	// or the output of its reply.
	BrokenOff  bool `json:"brokenOff,omitempty"`
	Unreported bool `json:"unreported,omitempty"`
	// Cached means that the reply came from a cache of the host program's, and cost nothing.
	Cached bool `json:"cached,omitempty"`
	// StandIn means that a model has answered in the place of the person whose seat it is. Unlike the rest of a Spend but the call and the
	// attempt, it is for everybody: the marker of such a turn says it to whoever reads the turn, and people who only watch see it.
	StandIn bool          `json:"standIn,omitempty"`
	Took    time.Duration `json:"took,omitempty"` // nanoseconds, without Queued
	// Queued is how long the attempt waited for its turn, in a limiter or under Engine.MaxCalls; in nanoseconds.
	Queued time.Duration `json:"queued,omitempty"`
	// Vendor is what the vendor says of the reply beside its text. nil: nothing.
	Vendor *VendorMetadata `json:"vendor,omitempty"`
}

// Shown returns what everybody may know of an attempt: the call, the attempt, and whether a model stood in for a person.
func (s *Spend) Shown() Spend { return Spend{Call: s.Call, Attempt: s.Attempt, StandIn: s.StandIn} }

// spent makes each type that embeds Spend an [AttemptEnd].
func (s *Spend) spent() *Spend { return s }

// SpendOf returns what the attempt that a body ends used and cost, or nil if the body ends no attempt. Record.Spent is more than the sum
// of these.
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
	Kind    CallKind `json:"kind" redact:"-"`
	Speaker string   `json:"speaker" redact:"-"`
	Target  string   `json:"target,omitempty" redact:"-"`
	Text    string   `json:"text"`
	// Attachments are the files that a person has added.
	Attachments []File `json:"attachments,omitempty"`
	// Data is the answer as JSON, where the call had a schema.
	Data json.RawMessage `json:"data,omitempty"`
	// Cut means that the reply ended at the limit of output tokens.
	Cut    bool `json:"cut,omitempty"`
	Hidden bool `json:"hidden,omitempty"` // see Intent
	// UsedUp means that the model reached a limit on its use of tools; see [Record.UsedUp].
	UsedUp bool `json:"usedUp,omitempty"`
	// Reasoning is the text of the model's thoughts, as far as the vendor sends it. Nobody else reads it.
	Reasoning string `json:"reasoning,omitempty"`
	// Citations are the sources that a search of the vendor's own has found, with the passages of Text that rest on them.
	Citations []provider.Citation `json:"citations,omitempty"`
	// Uncited is how many sources were dropped: their URL cannot be shown, or they were too many; see [provider.Citation].
	Uncited int `json:"uncited,omitempty"`
	// Quotations are the passages of Text that are marked as words of a document, in its order; see [Settings].Quotes.
	Quotations []Quotation `json:"quotations,omitempty"`
}

// Summarized is a summary of a part of the conversation. In its view it replaces the messages up to Upto, exclusive.
// Those include the messages that the former summary replaced.
type Summarized struct {
	Spend
	View   string `json:"view,omitempty" redact:"-"` // key of the view; "": everybody's
	Only   string `json:"only,omitempty" redact:"-"` // see Intent
	Upto   int    `json:"upto"`
	Text   string `json:"text"`
	Before int    `json:"before"` // size of what it replaces, in bytes
	After  int    `json:"after"`  // size of Text, in bytes
	Cut    bool   `json:"cut,omitempty"`
}

// Rejection records an answer that was not accepted. It is no failure of an attempt: whatever [RetryPolicy] says, the model is asked
// again once, two seconds later, and shown the problems. A call that Session.Retry begins anew shows none.
type Rejection struct {
	Spend
	By       string   `json:"by" redact:"-"`
	Round    int      `json:"round,omitempty"`
	Text     string   `json:"text"`          // the answer: at most 2 KiB of it
	Cut      bool     `json:"cut,omitempty"` // whether the answer was longer than Text
	Problems []string `json:"problems"`
	// Broken means that the answer ended at the cap on its tokens. The next attempt has a larger one if the model and the
	// budget allow it.
	Broken bool `json:"broken,omitempty"`
	// Next is the fallback model that is asked instead, without these problems. Only the rejection of an answer that was asked
	// for again has one.
	Next string `json:"next,omitempty" redact:"-"`
	// Final means that nobody is asked again: the call has failed.
	Final bool `json:"final,omitempty"`
	// Instead means that the flow continues by itself if this was the last answer; see OnFail.
	Instead bool `json:"instead,omitempty"`
}

// Failure records an attempt that gave no result.
type Failure struct {
	Spend
	By    string `json:"by" redact:"-"`
	Error *Error `json:"error"`
	// Text is the reply, if there was one that could not be used, such as a refusal: at most 2 KiB of it. Cut reports
	// that it was longer.
	Text string `json:"text,omitempty"`
	Cut  bool   `json:"cut,omitempty"`
	// RetryAt is when the next attempt starts. Zero: at once, or never if Final. Waits means that the retries are used up,
	// and that the call waits for an outage to pass. It then starts over with its first model.
	RetryAt time.Time `json:"retryAt,omitzero"`
	Waits   bool      `json:"waits,omitempty"`
	// Final means that the call is not retried, unless the host program asks for it.
	Final bool `json:"final,omitempty"`
	// Next is the fallback model that the next attempt asks.
	Next string `json:"next,omitempty" redact:"-"`
	// Broken means that the reply ended at the cap on its tokens before it had any text. The next attempt has a larger
	// one if the model and the budget allow it.
	Broken bool `json:"broken,omitempty"`
	// Void means that a control aborted the attempt, that its runtime was stopped, or that it was lost in a crash. It does not count
	// as a try.
	Void bool `json:"void,omitempty"`
	// Unsent means that no request was made, because it could not fit, or because its provider is not tried any longer. It counts in no
	// account.
	Unsent bool `json:"unsent,omitempty"`
	// Unreached means that the provider could not be connected to, so nothing was sent. One that the conversation has never reached is
	// not waited for; see Settings.Patience.
	Unreached bool `json:"unreached,omitempty"`
	// Instead means that the flow continues by itself after this failure; see OnFail.
	Instead bool `json:"instead,omitempty"`
	// Window is the size of the model's window after this overflow, in tokens: what the vendor names, if Named is set, or
	// what is assumed. Kept is the part of it that is kept free for the reply. Ratio is how many of the vendor's tokens
	// a counted token is assumed to be.
	Window int     `json:"window,omitempty"`
	Named  bool    `json:"named,omitempty"`
	Kept   int     `json:"kept,omitempty"`
	Ratio  float64 `json:"ratio,omitempty"`
}

// Dropped records that an actor takes no further part.
type Dropped struct {
	Participant string `json:"participant" redact:"-"` // the name of the actor
	Reason      string `json:"reason"`
}

// WarningKind names the threshold that was reached.
type WarningKind string

// The kinds of warnings.
const (
	WarnBudget WarningKind = "budget"     // at the start: the worst case is above a limit; Evidence has it, and the typical case
	WarnCost   WarningKind = "cost"       // Budget.Warn
	WarnSoft   WarningKind = "soft-limit" // a soft limit: the rounds end
	WarnHard   WarningKind = "hard-limit" // a hard limit: the conversation stops
	WarnNear   WarningKind = "context-80" // 80 % of a window are used
	WarnHigh   WarningKind = "context-90" // 90 % of a window are used
	WarnShort  WarningKind = "context"    // messages no longer fit a window; they are left out, or one is cut
	WarnLate   WarningKind = "round-time" // Settings.RoundTimeout: the round ends
	WarnOver   WarningKind = "overshoot"  // an attempt has cost more than was reserved for it

	WarnOutage    WarningKind = "outage"    // a provider has failed in a way that may pass: the call waits
	WarnUnchecked WarningKind = "unchecked" // a provider could not be asked whether it has the models
	WarnTool      WarningKind = "tool"      // at the start: models are not offered a tool; Evidence names it, and says why

	WarnCapped WarningKind = "capped" // a reply has ended at a cap that the budget had lowered; see Intent.Lowered

	WarnLeftOut WarningKind = "left-out" // a call has failed for good, and the flow continues without it

	// WarnEffect begins a fork: since its cut, the original has used tools that change something, which was not rolled back.
	WarnEffect WarningKind = "effect"
)

// Warning reports a threshold that was reached. It is recorded once per threshold. For a window it is recorded once
// for each actor. A flow may add warnings of its own kinds.
type Warning struct {
	Kind      WarningKind `json:"kind" redact:"-"`
	Threshold Money       `json:"threshold,omitempty"`
	// Spend is the known cost. A limit of the budget counts more: show Evidence, which has the amount that has reached the threshold.
	Spend Money  `json:"spend,omitempty"`
	Call  string `json:"call,omitempty" redact:"-"`
	By    string `json:"by,omitempty" redact:"-"` // whose window it is
	Left  int    `json:"left,omitempty"`          // how many messages are left out
	// Limit is the limit of the budget that WarnSoft and WarnHard report, by its key in JSON, such as "softCalls". A WarnSoft names a
	// hard limit if the rounds end to leave room in it for the conclusion.
	Limit string `json:"limit,omitempty" redact:"-"`
	// Needs, NeedsTokens and NeedsCalls are about the limit with which all rounds would run, if the replies stay as long as they were.
	// One of them is set, by what the limit measures; none for a limit of time, or if the flow cannot be estimated.
	Needs       Money `json:"needs,omitempty"`
	NeedsTokens int   `json:"needsTokens,omitempty"`
	NeedsCalls  int   `json:"needsCalls,omitempty"`
	// Evidence says what was reached, with figures.
	Evidence string `json:"evidence,omitempty"`
}

// Sent is an input of the flow's own; see Flow.Inputs.
type Sent struct {
	Trigger Trigger         `json:"trigger" redact:"-"`
	Payload json.RawMessage `json:"payload,omitempty"`
	Reason  string          `json:"reason,omitempty"` // why it was sent: one line of at most MaxReason bytes
	Person  string          `json:"person,omitempty"` // who has sent it, as the host program knows them; another such line
}

// Received is an input that was accepted, with what the log says of it.
type Received struct {
	Sent

	Seq   int64     `json:"seq"`             // the number of its event
	At    time.Time `json:"at"`              // when it was recorded
	Round int       `json:"round,omitempty"` // the round that ran, from 1; 0: it came before the first
	State State     `json:"state"`           // the state in which it came
}

// Chunk is a piece of a turn as it is spoken. Readers assemble the text of a turn as follows:
//   - The text so far is the first Offset bytes of what came before, then Text. A smaller offset than expected
//     therefore replaces the rest. Units counts the same place as JavaScript does.
//   - A chunk of a new attempt voids the text of the former attempt, from its Offset on. That is 0, unless the new attempt
//     continues a reply that was cut; see [Continued].
//
// The chunks of a structured answer name its Schema. They are what the model writes before anybody has
// checked it: JSON that may be wrapped, cut or wrong, with labels where the model reads labels. What counts is the event
// that ends the attempt, and its text need not be the sum of the chunks. Where the schema names a field that is spoken
// (AnswerOf.Spoken), the chunks are those of a free text: of that field's, or of the words that a reply begins with in place of JSON.
// What a model says beside the use of tools is such a text: it adds up to ToolCalls.Text.
//
// A reader in another process than the one that makes the call may miss text. Missing reports it at the place of the gap.
// Offsets count only what the reader has received, so the two rules still hold. Before the turn, the reader gets a chunk whose
// Offset is the first gap, with all the text from there on. A reader that calls Events again forgets the texts in flight: without a bus,
// their first chunk has Offset 0 and no text.
//
// The chunks of a model's thoughts have Reasoning set. They have offsets of their own, and add up to Turn.Reasoning. If a model
// marks only the end of its thoughts, they arrive as text, and the last chunk before the turn replaces them.
type Chunk struct {
	Call    string `json:"call" redact:"-"`
	Attempt int    `json:"attempt"`
	By      string `json:"by" redact:"-"`
	Schema  string `json:"schema,omitempty" redact:"-"` // of a structured answer
	Offset  int    `json:"offset"`                      // in bytes
	// Units is Offset in UTF-16 code units, as JavaScript counts: text.slice(0, units) + chunk.text.
	Units int    `json:"units"`
	Text  string `json:"text"`
	// Reasoning means that the text is of the model's thoughts, not of its reply.
	Reasoning bool `json:"reasoning,omitempty"`
	// Hidden means that the turn of the call is hidden.
	Hidden bool `json:"hidden,omitempty"`
	// Missing is how many bytes are missing between what came before and Text; 0: none; -1: an unknown number. If Text is empty, what
	// comes after the gap is not known yet: the next chunk has the same Offset and replaces this report. If no chunk follows, the chunk
	// before the turn fills the gap. A gap at or behind a chunk's Offset is void.
	Missing int `json:"missing,omitempty"`
	// Parts is how many chunks of the provider are merged in this one. It is 1 for a text that is read after its
	// turn, and 0 without a text.
	Parts int `json:"parts"`
}

// Heartbeat says that a reader of Engine.Events has got nothing for the time that it asked for, and that it is still being served. It is
// no fact: no log has it, and its number is that of the last fact that the reader has had.
type Heartbeat struct{}
