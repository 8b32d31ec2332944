package debate

import (
	"cmp"
	_ "embed" // config_schema.json
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/agonist-dev/debate/provider"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
)

// Config says what a debate is, as data that can be stored, compared and sent. Providers, models, judges, formats
// and tools appear in it by name. Their live values are registered on the [Engine]. A Config never holds a key.
//
// The engine copies a Config: the caller may change it as soon as the call with it has returned.
//
// Its JSON is strict: an unknown key, or a key given twice in different case, is an error. Durations are strings
// such as "90s", under the keys roundTimeout, turnTimeout, judgeTimeout and patience. Money is a number of USD.
//
// Values out of bounds are refused:
//   - Texts are valid UTF-8 without NUL. The topic, a position, a persona and each text of a format have at most
//     20,000 bytes. Instructions have at most 100,000 bytes, and the ends of a rubric's scale 1000.
//   - Names of models, judges, tools and the like are one line of at most 256 printable bytes.
//   - A debate has at most 1000 participants (even if its format allows more), 100 judges and 1000 members of the audience.
//     Each of them has at most 16 fallbacks.
//   - There are at most 50 criteria, 16 detectors in each list, and 128 tools.
//   - The language has at most 64 characters. There are at most 32 prompts, of 100,000 bytes each.
//   - There are at most 64 labels, with names of 128 bytes and values of 1024. A participant's metadata have the same bounds.
//
//nolint:recvcheck // only reading JSON changes a config
type Config struct {
	// What is debated.

	// ID names the debate in the store. It has at most 128 letters, digits, '-', '_' and '.'. If it is empty, the
	// debate gets a new UUIDv7.
	ID string `json:"id,omitempty" redact:"-"`
	// Topic is the question under debate. It may come from a user, and so may positions and personas: prompts mark every line
	// after the first as quoted.
	Topic string `json:"topic"`
	// Language is the language in which everybody writes, as prompts name it, such as "German". If it is empty, everybody writes in the
	// language of the topic.
	Language string `json:"language,omitempty" redact:"-"`
	// Prompts replace templates for this debate alone, by their names, on top of Engine.Prompts. Package prompt says what they may hold.
	// Models obey them: do not fill them from a user's input.
	Prompts map[string]string `json:"prompts,omitempty" redact:"keys"`
	// Attachments are images, PDFs and other files that belong to the topic. Documents have a name and files of their own. All
	// who take part read both, judges and summarizers included: each model of the config must be able to read them. There are at
	// most 64 files, of 10 MiB each and 14 MiB together.
	Attachments []flow.File     `json:"attachments,omitempty"`
	Documents   []flow.Document `json:"documents,omitempty"`
	// Quotes checks what speakers quote from text documents: they are told to mark it, the program compares it with the file, and speakers,
	// judges and reports see the result. See [flow.Turn].Quotations.
	Quotes bool `json:"quotes,omitempty"`

	// How it goes.

	// Format is the name of a format: "free-form" if empty.
	Format string `json:"format,omitempty" redact:"-"`
	// CustomFormat is a format that the host program defines. It replaces a named one: Format is then empty or the
	// name of CustomFormat.
	CustomFormat *format.Format `json:"customFormat,omitempty"`
	// Mode says whether speakers of one round hear each other: Sequential if empty.
	Mode Mode `json:"mode,omitempty" redact:"-"`
	// Stance is how all participants but the chair stand to what is argued, such as [format.Open]. If it is empty, the format says it.
	// Stances that replace those of the format decide what the judges judge, unless Judging.Aim does: see [format.Stance.Aim].
	Stance format.Stance `json:"stance,omitempty" redact:"-"`
	// Rounds is the largest number of rounds: 5 if 0. There is no upper bound. If the format fixes its rounds, a larger number
	// is lowered to the format's, and a smaller one is an error.
	Rounds int `json:"rounds,omitempty"`

	// Who takes part.

	// Participants are the debaters, in the order in which they speak: from 2 to 10, unless the format has other
	// bounds.
	Participants []Participant `json:"participants"`
	// Judging says who judges. If it is nil, no judge is asked, and there is no verdict.
	Judging *Judging `json:"judging,omitempty"`
	// Floor decides who speaks next. If it is nil, the order of Participants does.
	Floor *Floor `json:"floor,omitempty"`
	// Audience votes before and after the debate. If it is nil, there is no audience.
	Audience *Audience `json:"audience,omitempty"`
	// AssignPositions lets a model find positions for the participants without one. If it is nil, they choose for
	// themselves.
	AssignPositions *AssignPositions `json:"assignPositions,omitempty"`

	// When it ends, and what it may cost.

	// Watch and StopOn name detectors in addition to those of the format: built-in ones, or ones in Engine.Detectors. The judge
	// is shown the findings of Watch. A finding of a detector in StopOn ends the debate after the round.
	Watch  []format.Detector `json:"watch,omitempty" redact:"-"`
	StopOn []format.Detector `json:"stopOn,omitempty" redact:"-"`
	// Budget limits what the debate may cost. If it is nil, there is no limit.
	Budget *flow.Budget `json:"budget,omitempty"`

	// What is done about failures.

	// Unattended means that no person is asked about a failure, a cost warning or the use of a tool. Engine.Run is always unattended. A
	// person who judges or votes is still asked.
	Unattended bool `json:"unattended,omitempty"`
	// OnFailure says what is done about calls that have failed for good. The first rule that fits and can be applied
	// decides. Without one, a person is asked; in an unattended debate:
	//   - a judge's assessment is skipped if its answers were not accepted, but not twice in a row
	//   - what no longer fits a model is summarised, or left out if there is no summarizer or summaries do not help
	//   - anything else, and a cost warning to be confirmed, leads to the error state; Session.Retry continues, and confirms
	//     the warning
	//
	// An answer is skipped if all its questions were. Record.SkippedCalls lists what was skipped.
	OnFailure []flow.FailureRule `json:"onFailure,omitempty"`
	// Patience is how long the debate waits for an outage to pass: 10 minutes if 0. Outages are rate limits, and networks and
	// servers that do not answer. A provider that could never be connected to in the debate is tried for at most 15 s, retries
	// included: its address is probably wrong.
	Patience time.Duration `json:"-"`

	// What models read and write.

	// Context is the name of the context manager: "hybrid" if empty. The others are "truncate", "sliding",
	// "summarize", and those of Engine.Contexts. With "truncate" and "sliding", judges still read summaries.
	Context string `json:"context,omitempty" redact:"-"`
	// Summarizer is the model ("provider/model") that summarises what no longer fits. If it is empty, each judge's own model
	// summarises, for that judge alone. If it is [flow.NoSummarizer] ("none"), nothing is summarised. AutoSummary summarises
	// early, once a window is filled to 80 %.
	Summarizer  string `json:"summarizer,omitempty" redact:"-"`
	AutoSummary bool   `json:"autoSummary,omitempty"`
	// SummarizerOptions are what the requests to Summarizer ask for beyond text, such as effort. nil: the vendor's defaults.
	// Without a Summarizer these options are an error: a judge's model summarises with the judge's options.
	SummarizerOptions *provider.Options `json:"summarizerOptions,omitempty"`
	// TruncateTurns cuts a turn that alone is larger than a reader's window, and marks the cut. Without it such a turn is
	// a failure of kind context_overflow that names the turn, and OnFailure decides.
	TruncateTurns bool `json:"truncateTurns,omitempty"`
	// Reserve is the part of each model's window that is kept free, in tokens: 4096 if 0.
	Reserve int `json:"reserve,omitempty"`
	// MaxTokens limits the output of a reply, in tokens: 4096 if 0. A model that reasons gets more for its thoughts: 8192,
	// or as many as its effort takes, from 1024 (minimal) to 32768 (max). The limit is also capped by the model's own, and by
	// half of its window, or Reserve if that is more. A reply that ends at the limit with nothing usable is requested again
	// with twice as much.
	MaxTokens int `json:"maxTokens,omitempty"`
	// Temperature is that of the participants: 0.8 if nil. 0 is a valid value. Models that accept only their own
	// temperature are sent none; see Model.OwnTemperature.
	Temperature *float64 `json:"temperature,omitempty"`

	// How long things may take, and how they are tried again.

	// RoundTimeout bounds the speeches of a round: no bound if 0. Of participants who speak in sequence, each may use what is left of
	// the time, less half of an equal part of the whole for each speech that is still to come. In 60 s Ada may speak for 45 s if only
	// Ben comes after her. A participant who is cut off misses the round; see Record.SkippedCalls. The debate goes to the error
	// state, from which Session.Retry repeats the round, in two cases: a participant would miss a second round in a row, or one
	// without whom there is nothing to judge has said nothing by the end of the last round. While a person is asked, the time stands still
	// for all: a model that speaks beside one is bounded by TurnTimeout alone.
	RoundTimeout time.Duration `json:"-"`
	// TurnTimeout bounds one attempt at a turn: 120 s if 0. Time in a queue does not count.
	TurnTimeout time.Duration `json:"-"`
	// JudgeTimeout bounds one attempt at an assessment or a verdict: 180 s if 0.
	JudgeTimeout time.Duration `json:"-"`
	// Retry replaces the policy for failed calls. If it is nil, the default policy applies.
	Retry *flow.RetryPolicy `json:"retry,omitempty"`

	// What is of other flows, and the host program's own.

	// Tools are the tools that the participants may use before they speak, by their names in Engine.Tools. A person has none. ToolUses is
	// how often each may use them for one speech: 10 if 0. Judges are told which were used, and how. An estimate counts no uses.
	Tools    []string `json:"tools,omitempty" redact:"-"`
	ToolUses int      `json:"toolUses,omitempty"`
	// ToolPolicy decides about uses of tools in an unattended debate. The zero value reports an unknown outcome to the model,
	// and denies uses that need approval.
	ToolPolicy flow.ToolPolicy `json:"toolPolicy,omitzero"`
	// Labels are marks of the host program, such as a tenant or a trace. They appear in requests and lists.
	Labels map[string]string `json:"labels,omitempty" redact:"keys"`
}

// Participant speaks in a debate.
type Participant struct {
	// Name is one line of at most 64 characters, and unique in the debate.
	Name string `json:"name" redact:"-"`
	// Side is the side that the participant takes. If it is empty, the participant has none.
	Side format.Side `json:"side,omitempty" redact:"-"`
	// Stance is how the participant stands to what is argued. If it is empty, the config or the format says it. A chair has none.
	Stance format.Stance `json:"stance,omitempty" redact:"-"`
	// Position is what the participant argues, in a sentence.
	Position string `json:"position,omitempty"`
	// Persona describes the participant as a person.
	Persona string `json:"persona,omitempty"`
	// Instructions are added to the prompt unchanged. They are trusted: do not fill them from a user's input.
	Instructions string `json:"instructions,omitempty"`
	// Model is "provider/model". The first slash divides the two.
	Model string `json:"model" redact:"-"`
	// Person asks a person of the host program through a [flow.Inquiry]. It stands in place of a model. Term bounds how long the person
	// has for each speech, and may name a model that stands in. Of what follows, only MaxTokens and Metadata are possible beside it.
	Person bool `json:"person,omitempty"`
	flow.Term
	// Fallbacks are models that take over, in this order, when the model before keeps failing.
	Fallbacks []string `json:"fallbacks,omitempty" redact:"-"`
	// Temperature and MaxTokens replace those of the debate for this participant. A Temperature is refused if Model is known to
	// accept none.
	Temperature *float64 `json:"temperature,omitempty"`
	MaxTokens   int      `json:"maxTokens,omitempty"`
	// Options are what its requests ask for beyond text, such as effort. nil: the vendor's defaults.
	Options *provider.Options `json:"options,omitempty"`
	// Metadata are the host program's own marks, such as the ID of a user. No prompt holds them: records, lists of
	// participants and exports show them.
	Metadata map[string]string `json:"metadata,omitempty"`
}

func (p *Participant) seat(c *Config, field string) flow.Seat {
	return flow.Seat{
		Field: field, By: p.Name, Model: &p.Model, Fallbacks: &p.Fallbacks, Temperature: &p.Temperature, MaxTokens: &p.MaxTokens,
		Options: &p.Options, Shared: &c.Temperature, Usual: defaultTemperature, Person: p.Person, Term: &p.Term, Replaceable: p.Person,
		Tools: len(c.Tools) > 0 && !p.Person,
	}
}

// Mode says what the speakers of one round know of each other.
type Mode string

// The modes.
const (
	Sequential   Mode = "sequential"   // each reads the turns before its own in the same round
	Simultaneous Mode = "simultaneous" // all read the turns up to the round before, and speak at once
)

// Defaults of a Config.
const (
	FlowName            = "debate" // the name of the flow of debates
	DefaultRounds       = 5
	DefaultJudgeTimeout = 180 * time.Second

	defaultTemperature      = 0.8
	defaultJudgeTemperature = 0.2
)

// Flow returns the name of the flow: [FlowName].
func (c Config) Flow() string { return FlowName }

// Settings returns the part of the config that all flows share.
func (c Config) Settings() flow.Settings {
	return flow.Settings{
		ID: c.ID, Topic: c.Topic, Language: c.Language, Prompts: c.Prompts, Documents: flow.TopicDocuments(c.Attachments, c.Documents),
		Quotes: c.Quotes, Rounds: c.Rounds, Participants: namesOf(c.Participants), Budget: c.Budget, Unattended: c.Unattended,
		OnFailure: c.OnFailure, Patience: c.Patience,
		Context: c.Context, Summarizer: c.Summarizer, AutoSummary: c.AutoSummary, SummarizerOptions: c.SummarizerOptions,
		TruncateTurns: c.TruncateTurns, Reserve: c.Reserve,
		MaxTokens: c.MaxTokens, RoundTimeout: c.RoundTimeout, TurnTimeout: c.TurnTimeout, Retry: c.Retry,
		Tools: c.Tools, ToolPolicy: c.ToolPolicy, Labels: c.Labels,
	}
}

// Files implements [flow.Filed].
func (c *Config) Files() iter.Seq2[string, *flow.File] {
	return flow.EachFile(c.Attachments, c.Documents)
}

// Seats yields every part of the config that asks models.
func (c Config) Seats() flow.Seats { return c.seats() }

// Metadata implements [flow.Described].
func (c Config) Metadata(name string) map[string]string {
	for i := range c.Participants {
		if c.Participants[i].Name == name {
			return c.Participants[i].Metadata
		}
	}
	return nil
}

// formatName names the format of a debate, for lists.
func formatName(config flow.Config) string { return config.(*Config).Format }

// Cast returns the participants and the audience as formats see them. The config need not have its defaults written out.
func (c Config) Cast() format.Cast {
	cast := format.Cast{
		Seats: make([]format.Seat, len(c.Participants)), AtOnce: c.Mode == Simultaneous, Rounds: cmp.Or(c.Rounds, DefaultRounds),
	}
	for i := range c.Participants {
		cast.Seats[i] = format.Seat{Name: c.Participants[i].Name, Side: c.Participants[i].Side}
	}
	if c.Audience != nil {
		cast.Audience = make([]string, 0, len(c.Audience.Members))
		for i := range c.Audience.Members {
			cast.Audience = append(cast.Audience, cmp.Or(c.Audience.Members[i].Name, listenerName(i)))
		}
	}
	return cast
}

// withDefaults returns a deep copy in which every default is written out.
func (c *Config) withDefaults() *Config {
	c = c.clone()
	if c.CustomFormat != nil {
		c.Format = cmp.Or(c.Format, c.CustomFormat.Name)
	}
	c.Format = cmp.Or(c.Format, format.FreeForm)
	c.Mode = cmp.Or(c.Mode, Sequential)
	c.Rounds = cmp.Or(c.Rounds, DefaultRounds)
	c.Context = cmp.Or(c.Context, flow.DefaultContext)
	c.Reserve = cmp.Or(c.Reserve, flow.DefaultReserve)
	c.MaxTokens = cmp.Or(c.MaxTokens, flow.DefaultMaxTokens)
	c.TurnTimeout = cmp.Or(c.TurnTimeout, flow.DefaultTurnTimeout)
	c.JudgeTimeout = cmp.Or(c.JudgeTimeout, DefaultJudgeTimeout)
	if c.Judging != nil {
		c.Judging.defaults(c.MaxTokens)
	}
	if c.Floor != nil {
		c.Floor.Name = cmp.Or(c.Floor.Name, defaultFloor)
	}
	if c.Audience != nil {
		c.Audience.defaults()
	}
	if c.AssignPositions != nil {
		c.AssignPositions.defaults(c.Judging)
	}
	if len(c.Tools) > 0 {
		c.ToolUses = cmp.Or(c.ToolUses, DefaultToolUses)
	}
	c.seats().Normalize()
	c.Patience = cmp.Or(c.Patience, flow.DefaultPatience)
	return c
}

// clone returns a deep copy. A running debate shares nothing with the caller's Config.
func (c *Config) clone() *Config {
	d := *c
	if c.CustomFormat != nil {
		d.CustomFormat = c.CustomFormat.Clone()
	}
	d.Attachments, d.Documents = slices.Clone(c.Attachments), flow.CloneDocuments(c.Documents)
	d.Participants = slices.Clone(c.Participants)
	for i := range d.Participants {
		d.Participants[i].Metadata = maps.Clone(d.Participants[i].Metadata)
	}
	d.Judging, d.Audience, d.AssignPositions = c.Judging.clone(), c.Audience.clone(), flow.CloneValue(c.AssignPositions)
	d.Floor = flow.CloneValue(c.Floor)
	d.seats().Clone()
	d.Watch, d.StopOn = slices.Clone(c.Watch), slices.Clone(c.StopOn)
	d.OnFailure = flow.CloneRules(c.OnFailure)
	d.SummarizerOptions = c.SummarizerOptions.Clone()
	d.Budget = flow.CloneValue(c.Budget)
	d.Retry = c.Retry.Clone()
	d.Labels, d.Tools, d.Prompts = maps.Clone(c.Labels), slices.Clone(c.Tools), maps.Clone(c.Prompts)
	return &d
}

//go:embed config_schema.json
var configSchema string

// configFields is Config without its methods.
type configFields Config

// configJSON writes durations as text.
type configJSON struct {
	configFields
	RoundTimeout flow.Duration `json:"roundTimeout,omitempty"`
	TurnTimeout  flow.Duration `json:"turnTimeout,omitempty"`
	JudgeTimeout flow.Duration `json:"judgeTimeout,omitempty"`
	Patience     flow.Duration `json:"patience,omitempty"`
}

// MarshalJSON writes the config.
func (c Config) MarshalJSON() ([]byte, error) {
	return json.Marshal(configJSON{
		configFields(c), flow.Duration(c.RoundTimeout), flow.Duration(c.TurnTimeout), flow.Duration(c.JudgeTimeout),
		flow.Duration(c.Patience),
	})
}

// UnmarshalJSON reads a config strictly. The error joins one *[Error] of kind validation for each problem, up to 50
// of them, as [flow.DecodeStrict] says. After an error the config is unchanged.
func (c *Config) UnmarshalJSON(data []byte) error {
	var in configJSON
	if err := flow.DecodeStrict("read config", data, &in); err != nil {
		return err
	}
	*c = Config(in.configFields)
	c.RoundTimeout = time.Duration(in.RoundTimeout)
	c.TurnTimeout, c.JudgeTimeout = time.Duration(in.TurnTimeout), time.Duration(in.JudgeTimeout)
	c.Patience = time.Duration(in.Patience)
	return nil
}
