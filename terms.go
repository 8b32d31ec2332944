package debate

import (
	"cmp"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"time"
)

// FlowConfig is what a conversation is started with: what its flow needs to know, as data. A flow has one type of
// configs, which is read and written as JSON. Its methods are pure.
type FlowConfig interface {
	// Flow is the name of the flow that the config is for.
	Flow() string
	// Terms are what the config says about everything that all flows have. The engine writes out the defaults of
	// what is left zero.
	Terms() Terms
	// Models yields every model that may be asked, "provider/model", with the field that names it. Names may be empty
	// and may come twice.
	Models() iter.Seq2[string, string]
}

// Named yields a config under the name of another flow, which a host has composed of the config's own.
func Named(flow string, config FlowConfig) FlowConfig { return named{unnamed(config), flow} }

// named is a config under the name of another flow.
type named struct {
	FlowConfig
	flow string
}

// Flow is the name of that flow.
func (n named) Flow() string { return n.flow }

// MarshalJSON writes the config.
func (n named) MarshalJSON() ([]byte, error) { return json.Marshal(n.FlowConfig) }

// unnamed yields the config itself.
func unnamed(config FlowConfig) FlowConfig {
	if n, ok := config.(named); ok {
		return n.FlowConfig
	}
	return config
}

// Terms are what the config of any flow says: who takes part, within which limits, and what every flow does in the
// same way. The first event of a log holds them.
type Terms struct {
	// ID names the conversation in its store; "": a new UUIDv7.
	ID string `json:"-"`
	// Topic is what lists show and search.
	Topic string `json:"topic"`
	// Rounds is the most rounds that there may be; 0: unknown.
	Rounds int `json:"rounds,omitempty"`
	// Participants are those who speak, by name, in the order of their seats.
	Participants []string `json:"participants,omitempty"`
	// Budget limits what may be used; nil: no limit.
	Budget *Budget `json:"budget,omitempty"`
	// Unattended says what is chosen where a person would be asked; nil: the person is.
	Unattended *Unattended `json:"unattended,omitempty"`
	// Context is the name of the context manager: "hybrid" if empty.
	Context string `json:"context,omitempty"`
	// Summarizer is the model ("provider/model") that summarises what no longer fits; "": nothing is summarised.
	// AutoSummary summarises from 80 % of a window on, before it is needed.
	Summarizer  string `json:"summarizer,omitempty"`
	AutoSummary bool   `json:"autoSummary,omitempty"`
	// CutLong cuts a turn that alone is larger than a reader's window, visibly. Without it such a turn is a failure
	// of kind context_overflow.
	CutLong bool `json:"cutLong,omitempty"`
	// Reserve is the part of each model's window that is kept free, in tokens: 4096 if 0.
	Reserve int `json:"reserve,omitempty"`
	// MaxTokens is the most output tokens of a reply: 4096 if 0.
	MaxTokens int `json:"maxTokens,omitempty"`
	// RoundDelay is the pause before each round after the first. RoundTimeout bounds the calls of a round in the
	// states that the flow names; 0: no bound. TurnTimeout bounds one attempt at a call: 120 s if 0. In JSON they are
	// nanoseconds.
	RoundDelay   time.Duration `json:"roundDelay,omitempty"`
	RoundTimeout time.Duration `json:"roundTimeout,omitempty"`
	TurnTimeout  time.Duration `json:"turnTimeout,omitempty"`
	// Retry replaces the policy for failed calls; nil: the default.
	Retry *RetryPolicy `json:"retry,omitempty"`
	// Tools are what the flow may let its participants use, by their names in Engine.Tools.
	Tools []string `json:"tools,omitempty"`
	// Labels are the host's own marks; they travel to requests and lists.
	Labels map[string]string `json:"labels,omitempty"`
}

// withDefaults yields a deep copy in which every default is written out.
func (t Terms) withDefaults() *Terms {
	t.Participants, t.Tools, t.Labels = slices.Clone(t.Participants), slices.Clone(t.Tools), maps.Clone(t.Labels)
	t.Budget = cloneValue(t.Budget)
	if t.Unattended = cloneValue(t.Unattended); t.Unattended != nil {
		t.Unattended.defaults()
	}
	if t.Retry = cloneValue(t.Retry); t.Retry != nil {
		t.Retry.Max = maps.Clone(t.Retry.Max)
	}
	t.Context = cmp.Or(t.Context, DefaultContext)
	t.Reserve = cmp.Or(t.Reserve, DefaultReserve)
	t.MaxTokens = cmp.Or(t.MaxTokens, DefaultMaxTokens)
	t.TurnTimeout = cmp.Or(t.TurnTimeout, DefaultTurnTimeout)
	return &t
}

// limited reports whether the budget bounds what is paid, so that every model needs a price.
func (t *Terms) limited() bool {
	return t.Budget != nil && (t.Budget.Warn > 0 || t.Budget.Soft > 0 || t.Budget.Hard > 0)
}

// Value is what a flow keeps in a log: as a Go value, as JSON, or both. The JSON is what a log holds; whoever knows
// the flow reads it.
type Value struct {
	Go   any
	JSON json.RawMessage
}

// IsZero reports whether there is nothing.
func (v Value) IsZero() bool { return v.Go == nil && len(v.JSON) == 0 }

// MarshalJSON writes the JSON that was read, or that of the Go value.
func (v Value) MarshalJSON() ([]byte, error) {
	if len(v.JSON) > 0 {
		return v.JSON, nil
	}
	return json.Marshal(v.Go)
}

// UnmarshalJSON keeps the JSON; null is nothing.
func (v *Value) UnmarshalJSON(data []byte) error {
	if *v = (Value{}); string(data) != "null" {
		v.JSON = slices.Clone(data)
	}
	return nil
}
