package flow

import (
	"encoding/json"
	"time"

	"github.com/agonist-dev/debate/provider"
)

// Outlay is all that a call has taken: its attempts, and the uses of tools that they have asked for. From
// BeganAt to EndedAt it has taken as long as its reader has waited for it, queues, pauses and persons included.
type Outlay struct {
	CallReport

	// Usage and Cost are those of all attempts. Estimated means that a provider has reported no usage for some attempt, whose
	// reserve is charged in full. A tool has no cost.
	Usage     provider.Usage `json:"usage,omitzero"`
	Cost      Money          `json:"cost,omitempty"`
	Estimated bool           `json:"estimated,omitempty"`
	Took      time.Duration  `json:"took,omitempty"` // the time of the attempts, without queues and tools; nanoseconds
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
	took      time.Duration
	estimated bool
}

func (b *bill) add(s *Spend) {
	b.usage, b.cost, b.took = b.usage.Add(s.Usage), b.cost.plus(s.Cost), b.took+s.Took
	b.estimated = b.estimated || s.Estimated
}

// Outlay returns what a call has taken, such as that of Turn.Call. false: there was no such call.
func (r *Record) Outlay(call string) (Outlay, bool) {
	report, ok := r.Call(call)
	if !ok {
		return Outlay{}, false
	}
	c := r.calls[call]
	o := Outlay{
		CallReport: report, Usage: c.bill.usage, Cost: c.bill.cost, Took: c.bill.took, Estimated: c.bill.estimated,
		Exchanges: len(c.talk), UsedUp: c.usedUp,
	}
	for i := range c.talk {
		o.Uses = append(o.Uses, r.usedTools(&c.talk[i])...)
	}
	return o, true
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
