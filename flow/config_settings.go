package flow

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// Config is the data that a conversation is started with. Each flow has one type of configs, which encoding/json
// writes and Flow.Decode reads. The methods are pure.
type Config interface {
	// Flow returns the name of the flow that the config is for.
	Flow() string
	// Settings returns the part of the config that all flows share. The engine writes out the defaults of fields that
	// are zero.
	Settings() Settings
	// Seats yields where the config says which models are asked, and how. The start freezes the price and the window of every model of
	// the seats and the settings (see [Models]). A call of another model ends in the error state. The engine checks these models by
	// itself, and that each has a price if the budget limits the cost.
	Seats() Seats
}

// Naming is an optional ability of a [Config], for actors that people know by other names than calls do. Nobody says a [Note] under such a
// name.
type Naming interface {
	Config
	// NameOf returns what people are shown of an actor: its name as calls have it, if there is no other.
	NameOf(actor string) string
}

// Named returns a config under the name of another flow, which the host program has composed from the config's own.
func Named(flow string, config Config) Config { return named{Unnamed(config), flow} }

// EncodeConfig writes a config as Engine.DecodeConfig reads it: its own fields, and the key "flow".
func EncodeConfig(config Config) ([]byte, error) {
	if Unnamed(config) == nil {
		return nil, &Error{Kind: provider.KindValidation, Op: "write config", Err: errors.New("there is none")}
	}
	data, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	fields := make(map[string]json.RawMessage)
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, &Error{Kind: provider.KindValidation, Op: "write config", Err: err}
	}
	if fields["flow"], err = json.Marshal(config.Flow()); err != nil {
		return nil, err
	}
	return json.Marshal(fields)
}

// named is a config under the name of another flow.
type named struct {
	Config
	flow string
}

// Flow returns the name of that flow.
func (n named) Flow() string { return n.flow }

// MarshalJSON writes the config.
func (n named) MarshalJSON() ([]byte, error) { return json.Marshal(n.Config) }

// Unnamed returns a config without the name that [Named] gave it. It returns nil for a nil pointer.
func Unnamed(config Config) Config {
	if n, ok := config.(named); ok {
		return n.Config
	}
	if v := reflect.ValueOf(config); v.Kind() == reflect.Pointer && v.IsNil() {
		return nil
	}
	return config
}

// DecodeTo reads a config of type T from JSON, as [DecodeStrict] does. It is what most flows have as Flow.Decode.
func DecodeTo[T any, P interface {
	*T
	Config
}](data []byte,
) (Config, error) {
	config := P(new(T))
	if err := DecodeStrict("read config", data, config); err != nil {
		return nil, err
	}
	return config, nil
}

// NormalizeTo makes a Flow.Normalize of configs that are a *T: a deep copy, made through their JSON. The function defaults must
// write the defaults out in the copy, and remove the ID.
func NormalizeTo[T any, P interface {
	*T
	Config
}](defaults func(c P),
) func(Config) (Config, error) {
	return func(config Config) (Config, error) {
		data, err := json.Marshal(Unnamed(config))
		if err != nil {
			return nil, configError("", err)
		}
		normalized := P(new(T))
		if err := DecodeStrict("normalize config", data, normalized); err != nil {
			return nil, err
		}
		defaults(normalized)
		return normalized, nil
	}
}

// ConfigAs returns a config as a *T, whether the host program gave a T or a *T. A *T is returned as it is. If the config is of
// another type, the error is of kind validation, and the returned *T is empty.
func ConfigAs[T any](config Config) (*T, error) {
	switch c := any(config).(type) {
	case *T:
		return c, nil
	case T:
		return &c, nil
	default:
		return new(T), configError("", fmt.Errorf("a %T is no config of this flow, which has a %T", config, *new(T)))
	}
}

// Settings are the part of a config that all flows share: the participants, the limits, and what every flow does in
// the same way. The first event of a log holds them.
type Settings struct {
	// ID names the conversation in its store. "": the engine makes a UUIDv7.
	ID string `json:"id,omitempty" redact:"-"`
	// Topic is what lists show and search.
	Topic string `json:"topic"`
	// Language is the language in which models write, as prompts name it, such as "German": one line of at most 64 characters. "": that
	// of the topic.
	Language string `json:"language,omitempty" redact:"-"`
	// Prompts replace templates of package prompt and of the flow in this conversation alone, by their names, on top of Engine.Prompts.
	// There are at most 32, of 100,000 bytes each. Package prompt says what they may hold: their work is bounded. Models obey their words as
	// those of a system prompt: do not take one from a user.
	Prompts map[string]string `json:"prompts,omitempty" redact:"keys"`
	// Documents are what everybody reads. The first may have no name: its files belong to the topic. Requests to models
	// begin with them.
	Documents []Document `json:"documents,omitempty"`
	// Quotes compares what turns quote from text documents with their bytes. A turn marks such words as
	// <quote document="report.txt">…</quote>, by the name of a file or a document. The turn is recorded with the results, and its readers
	// see them; see [Turn].Quotations. The flow tells speakers of the mark.
	Quotes bool `json:"quotes,omitempty"`
	// Rounds is the maximum number of rounds. 0: unknown.
	Rounds int `json:"rounds,omitempty"`
	// Participants are the names of the participants, in the order of their seats.
	Participants []string `json:"participants,omitempty" redact:"-"`
	// Budget limits what may be used. nil: no limit.
	Budget *Budget `json:"budget,omitempty"`
	// Unattended means that no person is asked about a failure, a cost warning or the use of a tool. A person who
	// performs calls is still asked.
	Unattended bool `json:"unattended,omitempty"`
	// OnFailure says what is done about calls that have failed for good. The settings of a conversation hold all of its
	// rules: the config's, then those of Flow.Complete.
	OnFailure []FailureRule `json:"onFailure,omitempty"`
	// Patience is how long the conversation waits for an outage to pass, such as a rate limit or a server that does not answer.
	// 0: 10 minutes. In JSON it is in nanoseconds. A provider that could never be connected to in the conversation is tried for at
	// most 15 s, retries included.
	Patience time.Duration `json:"patience,omitempty"`
	// Context is the name of the context manager. "": "hybrid".
	Context string `json:"context,omitempty" redact:"-"`
	// Summarizer is the model ("provider/model") that summarises what no longer fits. "": each call's own; see
	// View.Summarizer. [NoSummarizer]: nothing is summarised. AutoSummary summarises early, once 80 % of a window are
	// used.
	Summarizer  string `json:"summarizer,omitempty" redact:"-"`
	AutoSummary bool   `json:"autoSummary,omitempty"`
	// SummarizerOptions are what the requests to Summarizer ask for beyond text. nil: the vendor's defaults. They are read
	// only. A call's own model summarises with the options of the call.
	SummarizerOptions *provider.Options `json:"summarizerOptions,omitempty"`
	// TruncateTurns cuts a turn that alone is larger than a reader's window, and marks the cut. Without it such a turn is
	// a failure of kind context_overflow, about which OnFailure decides.
	TruncateTurns bool `json:"truncateTurns,omitempty"`
	// Reserve is the part of each model's window that is kept free, in tokens. 0: 4096.
	Reserve int `json:"reserve,omitempty"`
	// MaxTokens bounds the output tokens of a reply. 0: 4096. A reply that ends there with nothing usable is requested again
	// with twice as many, as far as the model, its window and the budget allow it.
	MaxTokens int `json:"maxTokens,omitempty"`
	// RoundTimeout bounds the calls of a round in the states that the flow names; 0: no bound. TurnTimeout bounds one attempt at a
	// call; 0: 120 s. In JSON both are nanoseconds.
	RoundTimeout time.Duration `json:"roundTimeout,omitempty"`
	TurnTimeout  time.Duration `json:"turnTimeout,omitempty"`
	// Timeouts bound one attempt at a call of a kind, in place of what the flow sets. Only an [Amendment] sets them.
	Timeouts map[CallKind]Duration `json:"timeouts,omitempty" redact:"keys"`
	// Retry is the policy for failed calls. nil: the default.
	Retry *RetryPolicy `json:"retry,omitempty"`
	// Tools are the tools that the flow may offer to its participants, by their names in Engine.Tools. There are at
	// most [MaxTools].
	Tools []string `json:"tools,omitempty" redact:"-"`
	// ToolPolicy says what is done about uses of tools where no person can be asked.
	ToolPolicy ToolPolicy `json:"toolPolicy,omitzero"`
	// Labels are the host program's own marks, such as a tenant. Requests and lists carry them.
	Labels map[string]string `json:"labels,omitempty" redact:"keys"`
}

// Defaults of [Settings], and the names of the built-in context managers. DefaultMaxTokens and DefaultReserve are
// tokens.
const (
	DefaultMaxTokens   = 4096
	DefaultReserve     = 4096
	DefaultTurnTimeout = 120 * time.Second
	DefaultContext     = "hybrid"
	ContextTruncate    = "truncate"
	ContextSliding     = "sliding"
	ContextSummarize   = "summarize"
)

// withDefaults returns a deep copy in which every default is written out.
func (t Settings) withDefaults() *Settings {
	t.Documents = CloneDocuments(t.Documents)
	t.Participants, t.Tools, t.Labels = slices.Clone(t.Participants), slices.Clone(t.Tools), maps.Clone(t.Labels)
	t.Prompts = maps.Clone(t.Prompts)
	t.Budget = CloneValue(t.Budget)
	t.OnFailure = CloneRules(t.OnFailure)
	t.SummarizerOptions = t.SummarizerOptions.Clone()
	t.Patience = cmp.Or(t.Patience, DefaultPatience)
	t.Retry = t.Retry.Clone()
	t.Context = cmp.Or(t.Context, DefaultContext)
	t.Reserve = cmp.Or(t.Reserve, DefaultReserve)
	t.MaxTokens = cmp.Or(t.MaxTokens, DefaultMaxTokens)
	t.TurnTimeout = cmp.Or(t.TurnTimeout, DefaultTurnTimeout)
	return &t
}

// CloneValue returns a pointer to a copy of the value; nil of nil. The copy is not deep.
func CloneValue[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}

// CloneRules returns a deep copy of rules.
func CloneRules(rules []FailureRule) []FailureRule {
	rules = slices.Clone(rules)
	for i := range rules {
		rules[i].Calls, rules[i].Kinds = slices.Clone(rules[i].Calls), slices.Clone(rules[i].Kinds)
	}
	return rules
}

// limited reports whether the budget bounds the cost. Every model then needs a known price.
func (t Settings) limited() bool {
	return t.Budget != nil && (t.Budget.Warn > 0 || t.Budget.Soft > 0 || t.Budget.Hard > 0)
}

// takesModel returns why a model cannot be chosen while a conversation runs, or nil if it can. row is nil if nothing is known of
// the model.
func takesModel(t Settings, name string, row *Model) error {
	shown := text.OneLine(name, 80)
	switch _, _, ok := SplitModel(name); {
	case !ok || !Registrable(name):
		return fmt.Errorf("%q is not \"provider/model\"", shown)
	case row == nil:
		return fmt.Errorf("the model %q is not known", shown)
	default:
		if err := t.Prices(name, *row); err != nil {
			return fmt.Errorf("%q %w", shown, err)
		}
		return nil
	}
}

// Prices returns why the budget cannot be kept with a model: it limits the cost, and the model's row has no known price. nil:
// it can.
func (t Settings) Prices(name string, row Model) error {
	shown := text.OneLine(name, 80)
	switch {
	case !t.limited() || row.Priced:
		return nil
	case row.Input != 0 || row.Output != 0:
		return fmt.Errorf("%w: Engine.Models[%q] has prices, but does not set Priced", ErrUnpriced, shown)
	default:
		return WithMend(fmt.Errorf("%w: limit hardCalls or hardTokens in place of USD, "+
			"or let the host program set its price", ErrUnpriced), fmt.Sprintf("set Priced, Input and Output in Engine.Models[%q]", shown))
	}
}

// Value is what a flow keeps in a log: as a Go value, as JSON, or both. A log holds the JSON; the flow reads it.
type Value struct {
	Go   any
	JSON json.RawMessage
}

// IsZero reports whether the value is empty.
func (v Value) IsZero() bool { return v.Go == nil && len(v.JSON) == 0 }

// MarshalJSON writes the JSON that was read, or else the JSON of the Go value.
func (v Value) MarshalJSON() ([]byte, error) {
	if len(v.JSON) > 0 {
		return v.JSON, nil
	}
	return json.Marshal(v.Go)
}

// UnmarshalJSON keeps a copy of the JSON and decodes nothing. null is no value.
func (v *Value) UnmarshalJSON(data []byte) error {
	if *v = (Value{}); string(data) != "null" {
		v.JSON = slices.Clone(data)
	}
	return nil
}

// Duration is a time.Duration whose JSON is text such as "1m30s".
type Duration time.Duration

// MarshalText writes the duration as text such as "1m30s".
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads text such as "1m30s".
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%.40q is not a duration such as \"90s\"", text)
	}
	*d = Duration(v)
	return nil
}
