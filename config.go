package debate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"
)

// Config says what a debate is, as data: it can be stored, compared and sent. Providers, models,
// judges, formats and flows appear in it by name; what is live is registered on the [Engine]. It
// never holds a key.
//
// Its JSON is strict: a key that is not known, or is given twice in another case, is an error.
// Durations are strings such as "90s", money is a number of USD.
//
// What is written out of bounds is refused. Texts are valid UTF-8 without NUL; the topic, a position, a persona and
// each text of a format have at most 20,000 bytes, instructions 100,000, the ends of a rubric's scale 1000. Names of
// models, judges, tools and the like are one line of at most 256 bytes that print. Lists are short: at most 1000
// participants (or fewer, as the format says), 100 judges, 1000 members of the audience, 16 fallbacks of each of
// them, 50 criteria, 16 detectors of each list, 128 tools, and 64 labels with names of 128 bytes and values of 1024.
//
//nolint:recvcheck // withDefaults works on a copy, and that is what it is for
type Config struct {
	// ID names the debate in the store: letters, digits, '-', '_' and '.', at most 128. "": a new UUIDv7.
	ID string `json:"id,omitempty"`
	// Topic is the question under debate.
	Topic string `json:"topic"`
	// Format is the name of a format: "free-form" if empty.
	Format string `json:"format,omitempty"`
	// CustomFormat is a format of the host's own, in place of a named one.
	CustomFormat *Format `json:"customFormat,omitempty"`
	// Mode says whether speakers of a round hear each other: Sequential if empty.
	Mode Mode `json:"mode,omitempty"`
	// Rounds is the most rounds that are spoken, in every format: 5 if 0. There is no upper bound.
	Rounds int `json:"rounds,omitempty"`
	// Participants speak, in this order.
	Participants []Participant `json:"participants"`
	// Judging says who judges; nil: nobody, and there is no verdict.
	Judging *Judging `json:"judging,omitempty"`
	// Audience votes before and after the debate; nil: there is none.
	Audience *Audience `json:"audience,omitempty"`
	// Assign lets a model find positions for the participants without one; nil: they choose themselves.
	Assign *Assign `json:"assign,omitempty"`
	// Watch and StopOn are detectors beside those of the format: what the first find is shown to the
	// judge, what the second find ends the debate after the round.
	Watch  []Detector `json:"watch,omitempty"`
	StopOn []Detector `json:"stopOn,omitempty"`
	// Budget limits what the debate may cost; nil: no limit.
	Budget *Budget `json:"budget,omitempty"`
	// Unattended says what is chosen where a person would be asked; nil: the person is. Engine.Run is
	// always unattended.
	Unattended *Unattended `json:"unattended,omitempty"`
	// Context is the name of the context manager: "hybrid" if empty; others are "truncate", "sliding"
	// and "summarize", and those of Engine.Contexts.
	Context string `json:"context,omitempty"`
	// Summarizer is the model ("provider/model") that summarises what no longer fits; "": nothing is
	// summarised. AutoSummary summarises from 80 % of a window on, before it is needed.
	Summarizer  string `json:"summarizer,omitempty"`
	AutoSummary bool   `json:"autoSummary,omitempty"`
	// CutLong cuts a turn that alone is larger than a reader's window, visibly. Without it such a turn
	// is a failure of kind context_overflow that names it.
	CutLong bool `json:"cutLong,omitempty"`
	// Reserve is the part of each model's window that is kept free, in tokens: 4096 if 0.
	Reserve int `json:"reserve,omitempty"`
	// MaxTokens is the most output tokens of a reply: 4096 if 0, and never more than the model can.
	MaxTokens int `json:"maxTokens,omitempty"`
	// Temperature of the participants: 0.8 if nil. 0 is a value. None is sent to models that take
	// only their own, see Model.OwnTemperature.
	Temperature *float64 `json:"temperature,omitempty"`
	// RoundDelay is the pause before each round after the first: none if 0.
	RoundDelay time.Duration `json:"-"`
	// RoundTimeout bounds the speeches of a round: who still speaks then has failed, and who has not
	// spoken is left out of the round. No bound if 0.
	RoundTimeout time.Duration `json:"-"`
	// TurnTimeout bounds one attempt at a turn: 120 s if 0. Time in a queue does not count.
	TurnTimeout time.Duration `json:"-"`
	// JudgeTimeout bounds one attempt at an assessment or a verdict: 180 s if 0.
	JudgeTimeout time.Duration `json:"-"`
	// Retry replaces the policy for failed calls; nil: the default.
	Retry *RetryPolicy `json:"retry,omitempty"`
	// Tools are what the flow may let its participants use, by their names in Engine.Tools. The flow "debate"
	// lets them use none.
	Tools []string `json:"tools,omitempty"`
	// Labels are the host's own marks (a tenant, a trace); they travel to requests and lists.
	Labels map[string]string `json:"labels,omitempty"`
}

// Participant speaks in a debate.
type Participant struct {
	// Name is unique in the debate, one line of at most 64 characters.
	Name string `json:"name"`
	// Side is For, Against or Neutral; empty: none.
	Side Side `json:"side,omitempty"`
	// Position is what the participant argues, in a sentence.
	Position string `json:"position,omitempty"`
	// Persona is who the participant is.
	Persona string `json:"persona,omitempty"`
	// Instructions are added to the prompt as they are.
	Instructions string `json:"instructions,omitempty"`
	// Model is "provider/model"; the first slash divides.
	Model string `json:"model"`
	// Fallbacks are models that take over, in order, when the one before keeps failing.
	Fallbacks []string `json:"fallbacks,omitempty"`
	// Temperature and MaxTokens replace the debate's for this participant.
	Temperature *float64 `json:"temperature,omitempty"`
	MaxTokens   int      `json:"maxTokens,omitempty"`
}

// Side is a participant's side of the question.
type Side string

// The sides.
const (
	For     Side = "for"
	Against Side = "against"
	Neutral Side = "neutral"
)

// Mode says what the speakers of one round know of each other.
type Mode string

// The modes.
const (
	Sequential   Mode = "sequential"   // each reads those before it in the same round
	Simultaneous Mode = "simultaneous" // all read up to the round before, and speak at once
)

// Defaults of a Config.
const (
	FlowName            = "debate" // of the flow of debates
	DefaultRounds       = 5
	DefaultMaxTokens    = 4096
	DefaultReserve      = 4096
	DefaultContext      = "hybrid"
	ContextTruncate     = "truncate"
	ContextSliding      = "sliding"
	ContextSummarize    = "summarize"
	DefaultTurnTimeout  = 120 * time.Second
	DefaultJudgeTimeout = 180 * time.Second

	defaultTemperature      = 0.8
	defaultJudgeTemperature = 0.2
)

// Flow is the name of the flow: [FlowName].
func (c Config) Flow() string { return FlowName }

// Terms yields what the config says about everything that all flows have.
func (c Config) Terms() Terms {
	return Terms{
		ID: c.ID, Topic: c.Topic, Rounds: c.Rounds, Participants: namesOf(c.Participants), Budget: c.Budget, Unattended: c.Unattended,
		Context: c.Context, Summarizer: c.Summarizer, AutoSummary: c.AutoSummary, CutLong: c.CutLong, Reserve: c.Reserve,
		MaxTokens: c.MaxTokens, RoundDelay: c.RoundDelay, RoundTimeout: c.RoundTimeout, TurnTimeout: c.TurnTimeout, Retry: c.Retry,
		Tools: c.Tools, Labels: c.Labels,
	}
}

// Models yields every field that names a model, with the name.
func (c Config) Models() iter.Seq2[string, string] { return c.modelFields() }

// configOf yields a config of this flow.
func configOf(c FlowConfig) *Config {
	switch c := c.(type) {
	case *Config:
		return c
	case Config:
		return &c
	default:
		return &Config{}
	}
}

// Cast yields those who take part, as formats see them, with defaults written out or not.
func (c Config) Cast() Cast {
	cast := Cast{Seats: make([]Seat, len(c.Participants)), AtOnce: c.Mode == Simultaneous, Rounds: cmp.Or(c.Rounds, DefaultRounds)}
	for i := range c.Participants {
		cast.Seats[i] = Seat{c.Participants[i].Name, c.Participants[i].Side}
	}
	if c.Audience != nil {
		for i := range c.Audience.Members {
			cast.Audience = append(cast.Audience, cmp.Or(c.Audience.Members[i].Name, listenerName(i)))
		}
	}
	return cast
}

// withDefaults yields a deep copy in which every default is written out.
func (c Config) withDefaults() *Config {
	c = *c.clone()
	if c.CustomFormat != nil {
		setIfZero(&c.Format, c.CustomFormat.Name)
	}
	setIfZero(&c.Format, FreeForm)
	setIfZero(&c.Mode, Sequential)
	setIfZero(&c.Rounds, DefaultRounds)
	setIfZero(&c.Context, DefaultContext)
	setIfZero(&c.Reserve, DefaultReserve)
	setIfZero(&c.MaxTokens, DefaultMaxTokens)
	setIfZero(&c.TurnTimeout, DefaultTurnTimeout)
	setIfZero(&c.JudgeTimeout, DefaultJudgeTimeout)
	setIfZero(&c.Temperature, new(defaultTemperature))
	if c.Judging != nil {
		c.Judging.defaults(c.MaxTokens)
	}
	if c.Audience != nil {
		c.Audience.defaults()
	}
	if c.Assign != nil {
		c.Assign.defaults(c.Judging)
	}
	if c.Unattended != nil {
		c.Unattended.defaults()
	}
	return &c
}

func setIfZero[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// clone yields a deep copy: a running debate shares nothing with its host's Config.
func (c *Config) clone() *Config {
	d := *c
	if c.CustomFormat != nil {
		d.CustomFormat = c.CustomFormat.clone()
	}
	d.Participants = slices.Clone(c.Participants)
	for i := range d.Participants {
		d.Participants[i].Fallbacks = slices.Clone(d.Participants[i].Fallbacks)
		d.Participants[i].Temperature = cloneValue(d.Participants[i].Temperature)
	}
	d.Judging, d.Audience, d.Assign = c.Judging.clone(), c.Audience.clone(), c.Assign.clone()
	d.Watch, d.StopOn = slices.Clone(c.Watch), slices.Clone(c.StopOn)
	d.Unattended = cloneValue(c.Unattended)
	d.Budget = cloneValue(c.Budget)
	d.Temperature = cloneValue(c.Temperature)
	if d.Retry = cloneValue(c.Retry); d.Retry != nil {
		d.Retry.Max = maps.Clone(d.Retry.Max)
	}
	d.Labels, d.Tools = maps.Clone(c.Labels), slices.Clone(c.Tools)
	return &d
}

func cloneValue[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// configFields is Config without its methods.
type configFields Config

// configJSON writes durations as text.
type configJSON struct {
	configFields
	RoundDelay   duration `json:"roundDelay,omitempty"`
	RoundTimeout duration `json:"roundTimeout,omitempty"`
	TurnTimeout  duration `json:"turnTimeout,omitempty"`
	JudgeTimeout duration `json:"judgeTimeout,omitempty"`
}

// MarshalJSON writes the config.
func (c Config) MarshalJSON() ([]byte, error) {
	return json.Marshal(configJSON{
		configFields(c), duration(c.RoundDelay), duration(c.RoundTimeout), duration(c.TurnTimeout), duration(c.JudgeTimeout),
	})
}

// UnmarshalJSON reads a config strictly. The error joins one *[Error] of kind validation for each problem, up to 50
// of them, as [DecodeStrict] says; the config is then as it was.
func (c *Config) UnmarshalJSON(data []byte) error {
	var in configJSON
	if err := decodeStrict("read config", data, &in); err != nil {
		return err
	}
	*c = Config(in.configFields)
	c.RoundDelay, c.RoundTimeout = time.Duration(in.RoundDelay), time.Duration(in.RoundTimeout)
	c.TurnTimeout, c.JudgeTimeout = time.Duration(in.TurnTimeout), time.Duration(in.JudgeTimeout)
	return nil
}

// duration is a time.Duration that reads and writes as text such as "1m30s".
type duration time.Duration

func (d duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

func (d *duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%.40q is not a duration such as \"90s\"", text)
	}
	*d = duration(v)
	return nil
}
