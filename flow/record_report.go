package flow

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate/provider"
)

// FailedAttempt is an attempt that gave no result, with the time at which that was recorded.
type FailedAttempt struct {
	*Failure

	At time.Time `json:"at"`
}

// endedAt returns when the latest attempt at a call ended. Zero: there is none, or the first is in flight.
func (r *Record) endedAt(call string) time.Time {
	if c := r.calls[call]; c != nil && c.intent != nil {
		return c.ended
	}
	return time.Time{}
}

// last returns when something was recorded of the call last.
func (c *callState) last() time.Time {
	if c.ended.After(c.began) {
		return c.ended
	}
	return c.began
}

// Tries returns how many attempts have failed, and how many attempts followed a failed one. Attempts that a control has
// aborted count in neither.
func (r *Record) Tries() (failures, retries int) { return r.tries(func(string) bool { return true }) }

// tries is Tries of the calls of some actors.
func (r *Record) tries(of func(by string) bool) (failures, retries int) {
	for _, c := range r.calls {
		if c.intent == nil || !of(c.intent.By) {
			continue
		}
		failures += c.special.failures
		retries += c.special.failures - oneIf(c.setBack) // nothing has followed the latest
	}
	return failures, retries
}

// Described is implemented by a [Config] whose participants have metadata: the host program's own marks, which no model
// reads.
type Described interface {
	// Metadata returns the metadata of a participant by name, or nil.
	Metadata(name string) map[string]string
}

// metadataOf returns the host program's own marks of a participant. They are read only.
func (r *Record) metadataOf(name string) map[string]string {
	if d, ok := r.config.(Described); ok {
		return d.Metadata(name)
	}
	return nil
}

// timed is something that a call gave, with its time.
type timed[T any] struct {
	of T
	at time.Time
}

// MarshalJSON writes the JSON of the value, with its time.
func (t timed[T]) MarshalJSON() ([]byte, error) {
	return splice(t.of, struct {
		At time.Time `json:"at,omitzero"`
	}{t.at})
}

// splice writes the fields of two values as one object.
func splice(first, second any) ([]byte, error) {
	a, err := json.Marshal(first)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(second)
	if err != nil {
		return nil, err
	}
	a, b = bytes.TrimSuffix(a, []byte("}")), bytes.TrimPrefix(b, []byte("{"))
	if len(a) > 1 && len(b) > 1 {
		a = append(a, ',')
	}
	return append(a, b...), nil
}

// roundJSON is a round that has begun.
type roundJSON struct {
	Round     int       `json:"round"`
	StartedAt time.Time `json:"startedAt"`
}

// recordJSON is a record as JSON shows it.
type recordJSON struct {
	ID                 string             `json:"id"`
	Flow               string             `json:"flow,omitempty"`
	Shape              string             `json:"format,omitempty"`
	Parent             *Parent            `json:"parent,omitempty"`
	State              State              `json:"state"`
	Topic              string             `json:"topic,omitempty"`
	Labels             map[string]string  `json:"labels,omitempty"`
	Config             Value              `json:"config,omitzero"`    // as the conversation began
	Settings           *Settings          `json:"settings,omitempty"` // those in force
	Round              int                `json:"round"`
	Rounds             []roundJSON        `json:"rounds,omitempty"`
	StartedAt          time.Time          `json:"startedAt,omitzero"`
	LastAt             time.Time          `json:"lastAt,omitzero"`
	Duration           time.Duration      `json:"duration,omitempty"`
	Seq                int64              `json:"seq"`
	Reason             EndReason          `json:"reason,omitempty"`
	Evidence           string             `json:"evidence,omitempty"`
	EndedEarlyBy       string             `json:"endedEarlyBy,omitempty"`
	CutShort           string             `json:"cutShort,omitempty"`
	Failure            *Error             `json:"failure,omitempty"`
	Participants       []ParticipantState `json:"participants,omitempty"`
	Dropped            []string           `json:"dropped,omitempty"`
	Turns              []timed[*Turn]     `json:"turns,omitempty"`
	Calls              []CallUsage        `json:"calls,omitempty"`
	Summaries          []*Summarized      `json:"summaries,omitempty"`
	ToolUses           []*ToolResult      `json:"toolUses,omitempty"`
	Rejections         []Rejection        `json:"rejections,omitempty"`
	Failures           []FailedAttempt    `json:"failures,omitempty"`
	SkippedCalls       []Skipped          `json:"skippedCalls,omitempty"`
	Inquiries          []Inquiry          `json:"inquiries,omitempty"`
	Answers            []Answer           `json:"answers,omitempty"`
	Warnings           []Warning          `json:"warnings,omitempty"`
	LeftOut            []LeftOut          `json:"leftOut,omitempty"`
	Redactions         []Redacted         `json:"redactions,omitempty"`
	Inputs             []Received         `json:"inputs,omitempty"`
	Notes              []*Note            `json:"notes,omitempty"`
	Spent              Account            `json:"spent"`
	Reserved           Money              `json:"reserved,omitempty"`
	SpentByModel       []Account          `json:"spentByModel,omitempty"`
	SpentByParticipant []Account          `json:"spentByParticipant,omitempty"`
}

// MarshalJSON writes what the record's fields and methods return, except outages and models that took over: the log has these. Its config
// is the one that the conversation was started with, and its settings are those in force, with all amendments. A turn has its time,
// "at". What each call has taken is in calls, in the order in which they began, and by ID where they began together. The texts that
// tools have answered are in toolUses, and not in calls again.
func (r *Record) MarshalJSON() ([]byte, error) {
	out := recordJSON{
		ID: r.ID, Flow: r.Flow(), Parent: r.Parent(), State: r.State, Round: r.Round, StartedAt: r.StartedAt, LastAt: r.LastAt,
		Calls: r.usages(), Duration: r.Duration(), Seq: r.Seq, Reason: r.Reason, Evidence: r.Evidence, EndedEarlyBy: r.EndedEarlyBy,
		CutShort: r.CutShort(), Failure: r.Failure, Participants: r.Participants(), Dropped: r.dropped, Summaries: r.Summaries,
		ToolUses: r.ToolUses, Rejections: r.Rejections, Failures: r.Failures, SkippedCalls: r.SkippedCalls, Inquiries: r.Inquiries,
		Answers: r.Answers, Warnings: r.Warnings, LeftOut: r.leftOut, Redactions: r.Redactions, Inputs: r.Inputs, Notes: r.Notes,
		Spent: r.Spent(), Reserved: r.reserves.cost, SpentByModel: r.spent.models, SpentByParticipant: r.spent.participants,
	}
	if r.start != nil {
		out.Shape, out.Config = r.start.Shape, r.start.Config
	}
	if r.settings != nil {
		out.Topic, out.Labels, out.Settings = r.settings.Topic, r.settings.Labels, r.settings
	}
	for i, at := range r.RoundStarts {
		out.Rounds = append(out.Rounds, roundJSON{i + 1, at})
	}
	for _, t := range r.Turns {
		out.Turns = append(out.Turns, timed[*Turn]{t, r.endedAt(t.Call)})
	}
	return json.Marshal(out)
}

// MarshalWith writes the record's JSON, followed by the fields of own: what a flow adds to its records. A field of the record's name is
// an error, because readers of JSON keep only one of two fields of one name.
//
// A number that is computed from the length of a text has a name that begins with "characters". A redaction may change it. A
// redaction that would change any other number is refused.
func (r *Record) MarshalWith(own any) ([]byte, error) {
	out, err := splice(r, own)
	if err != nil {
		return nil, err
	}
	return out, repeats(out)
}

// repeats returns an error if an object has two fields of one name.
func repeats(object []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(object))
	if _, err := decoder.Token(); err != nil {
		return err
	}
	seen := make(map[string]bool)
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		if seen[strings.ToLower(name)] { // Go's own reader takes both for one field
			return fmt.Errorf("a record's JSON has two fields %q: the flow must give its own another name", name)
		}
		seen[strings.ToLower(name)] = true
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return err
		}
	}
	return nil
}

// At returns a value with the time at which the call that gave it ended, for a flow's JSON: the fields of the value, and
// "at".
func (r *Record) At(call string, value any) json.Marshaler {
	return timed[any]{value, r.endedAt(call)}
}

// CallUsage is all that a call has taken: its attempts, and the uses of tools that they have asked for. The time from BeganAt to
// EndedAt includes queues, pauses and waits for persons.
type CallUsage struct {
	Call    string    `json:"call"`
	Kind    CallKind  `json:"kind"`
	By      string    `json:"by"`
	Model   string    `json:"model,omitempty"` // the model that was asked last
	Round   int       `json:"round,omitempty"`
	BeganAt time.Time `json:"beganAt"` // when the first attempt began
	// EndedAt is when the latest attempt ended: of a turn, when it was recorded. Zero: the first is in flight.
	EndedAt  time.Time     `json:"endedAt,omitzero"`
	Attempts int           `json:"attempts"`
	Failures int           `json:"failures"`         // attempts that have failed; those that a control has aborted do not count
	Queued   time.Duration `json:"queued,omitempty"` // of all attempts; nanoseconds
	// Usage and Cost are those of all attempts, as far as they are known, and Unsettled is what they may have cost beyond that. A tool has
	// no cost.
	Usage provider.Usage `json:"usage,omitzero"`
	Cost  Money          `json:"cost,omitempty"`
	Unsettled
	Took time.Duration `json:"took,omitempty"` // the time of the attempts, without queues and tools; nanoseconds
	// Exchanges is how many replies have asked for tools. UsedUp is Record.UsedUp.
	Exchanges int        `json:"exchanges,omitempty"`
	UsedUp    bool       `json:"usedUp,omitempty"`
	Uses      []UsedTool `json:"uses,omitempty"` // in the order in which they were asked for
}

// UsedTool is a use of a tool that a model has asked for, and what became of it.
type UsedTool struct {
	Use  string `json:"use"` // the ID of the call that uses the tool
	Tool string `json:"tool"`
	// Arguments are as the model wrote them: they are not trusted. It is read only.
	Arguments json.RawMessage `json:"arguments"`
	Text      string          `json:"text,omitempty"` // what the model has read as the result; "" while there is none
	Pending   bool            `json:"pending,omitempty"`
	Failed    bool            `json:"failed,omitempty"`  // the tool has failed, or was not used
	Denied    bool            `json:"denied,omitempty"`  // it was not used
	Unknown   bool            `json:"unknown,omitempty"` // nobody knows whether it took effect
	Cut       bool            `json:"cut,omitempty"`     // the result was longer than Text
	Attempts  int             `json:"attempts,omitempty"`
	// BeganAt and EndedAt are when the first attempt began and when the latest ended. Zero: there is none.
	BeganAt time.Time `json:"beganAt,omitzero"`
	EndedAt time.Time `json:"endedAt,omitzero"`
}

// bill is what the attempts at a call have taken so far.
type bill struct {
	usage     provider.Usage
	cost      Money
	unsettled Unsettled
	took      time.Duration
	queued    time.Duration
	lost      map[int]*lostAttempt // by their numbers
}

func (b *bill) add(s *Spend) {
	b.usage, b.cost, b.took, b.queued = b.usage.Add(s.Usage), b.cost.Plus(s.Cost), b.took+s.Took, b.queued+s.Queued
	b.unsettled = b.unsettled.Plus(s.Unsettled())
}

// bill returns what all attempts at the call have taken so far.
func (c *callState) bill() bill {
	sum := c.special.earlier
	if c.spend != nil {
		sum.add(c.spend)
	}
	return sum
}

// pay adds what an attempt has taken. Of most calls it is the only one: its event holds the amounts. nil: it adds nothing, and
// moves those of the latest attempt to those before it.
func (c *callState) pay(spend *Spend) {
	if c.spend != nil {
		c.own().earlier.add(c.spend)
	}
	c.spend = spend
}

// CallUsage returns what a call has taken, such as that of Turn.Call. false: there was no such call.
func (r *Record) CallUsage(call string) (CallUsage, bool) {
	c := r.calls[call]
	if c == nil || c.intent == nil {
		return CallUsage{}, false
	}
	paid, talk := c.bill(), c.exchanges()
	o := CallUsage{
		Call: call, Kind: c.intent.Kind, By: c.intent.By, Model: c.intent.Model, Round: c.intent.Round, BeganAt: c.began, EndedAt: c.ended,
		Attempts: c.intent.Attempt, Failures: c.special.failures, Queued: paid.queued,
		Usage: paid.usage, Cost: paid.cost, Unsettled: paid.unsettled, Took: paid.took, Exchanges: len(talk), UsedUp: c.usedUp,
	}
	if c.presumed {
		spend := r.unknownSpend(c.intent)
		o.Unsettled = o.Plus(spend.Unsettled())
	}
	for i := range talk {
		o.Uses = append(o.Uses, r.usedTools(&talk[i])...)
	}
	return o, true
}

// usages returns what all calls but the uses of tools have taken, without the texts that tools have answered: in the order in which
// they began, and by ID where they began together.
func (r *Record) usages() []CallUsage {
	var out []CallUsage
	for id, c := range r.calls {
		if c.intent == nil || c.intent.Kind == KindTool {
			continue
		}
		usage, _ := r.CallUsage(id)
		for i := range usage.Uses {
			usage.Uses[i].Text = ""
		}
		out = append(out, usage)
	}
	slices.SortFunc(out, func(a, b CallUsage) int { return cmp.Or(a.BeganAt.Compare(b.BeganAt), cmp.Compare(a.Call, b.Call)) })
	return out
}

// usedTools returns the uses that a reply has asked for.
func (r *Record) usedTools(e *exchange) []UsedTool {
	out := make([]UsedTool, len(e.uses))
	for i := range e.uses {
		asked, u := &e.asked.Uses[i], &e.uses[i]
		out[i] = UsedTool{Use: asked.Use, Tool: asked.Name, Arguments: asked.Arguments, Pending: u.result == nil, Denied: u.denied}
		if c := r.calls[asked.Use]; c != nil {
			out[i].Attempts, out[i].BeganAt, out[i].EndedAt = c.intent.Attempt, c.began, c.ended
		}
		if u.result != nil {
			out[i].Text, out[i].Failed, out[i].Cut, out[i].Unknown = u.result.Text, u.result.Failed, u.result.Cut, u.result.Unknown
		} else {
			out[i].Unknown = u.unknown != nil
		}
	}
	return out
}

// canonicalTurn is what a turn says in the canonical form of a conversation. Its attempt, spend and time are left out.
type canonicalTurn struct {
	Round   int             `json:"round"`
	Slot    int             `json:"slot"`
	Kind    CallKind        `json:"kind"`
	Speaker string          `json:"speaker"`
	Target  string          `json:"target,omitempty"`
	Text    string          `json:"text"`
	Data    json.RawMessage `json:"data,omitempty"`
	Cut     bool            `json:"cut,omitempty"`
}

type canonicalTurns []canonicalTurn

// MarshalJSON writes the turns as a list.
func (t canonicalTurns) MarshalJSON() ([]byte, error) { return json.Marshal([]canonicalTurn(t)) }

// CanonicalTurns returns what the turns say, for the JSON of a flow's canonical form: the form that is equal if two conversations are the
// same. They are in the order of rounds and slots, whatever the order in which they arrived. Turns of one slot stay in the order in which
// they were recorded. Their attempts, spend and times are left out.
func (r *Record) CanonicalTurns() json.Marshaler {
	turns := slices.Clone(r.Turns)
	slices.SortStableFunc(turns, func(a, b *Turn) int { return cmp.Or(cmp.Compare(a.Round, b.Round), cmp.Compare(a.Slot, b.Slot)) })
	var out canonicalTurns
	for _, t := range turns {
		out = append(out, canonicalTurn{t.Round, t.Slot, t.Kind, t.Speaker, t.Target, t.Text, t.Data, t.Cut})
	}
	return out
}
