package deliberation

import (
	_ "embed" // config_schema.json
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/agonist-dev/debate/deliberation/internal/refuse"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// Config describes a deliberation. [debate.Engine.Start] starts a deliberation with it.
//
// Its JSON is strict: an unknown key is an error. Durations are strings such as "90s", under the keys roundTimeout,
// turnTimeout and judgeTimeout. If a field is zero, the default that its comment names applies.
//
// The start normalizes the config: it writes the defaults out, adds the built-in roles that agents have to Roles, and
// replaces the name of each prompt file by its text. The log holds the normalized config, which depends on no file.
// [Deliberation.Config] returns it.
//
//nolint:recvcheck // only reading JSON changes a config
type Config struct {
	// ID names the deliberation in the store. If it is empty, the deliberation gets a new id.
	ID string `json:"id,omitempty" redact:"-"`
	// Problem is the problem to solve, at most 1 MiB of UTF-8. Its first line is the topic.
	Problem string `json:"problem"`
	// Context is further material, such as the description of a system, at most 1 MiB of UTF-8. All prompts hold it,
	// between fences. It may be empty.
	Context string `json:"context,omitempty"`
	// Language and Prompts are those of a debate.Config. If Language is empty, everybody writes in the language of the problem.
	Language string            `json:"language,omitempty" redact:"-"`
	Prompts  map[string]string `json:"prompts,omitempty" redact:"keys"`
	// Attachments are images, PDFs and other files that belong to the problem. Documents have a name and files of their own. All
	// agents and the judge read both: each model of the config must be able to read them. There are at most 64 files, of
	// 10 MiB each and 14 MiB together.
	Attachments []flow.File     `json:"attachments,omitempty"`
	Documents   []flow.Document `json:"documents,omitempty"`
	// Agents work out the solution. From 2 to 100 of them take part; those that are disabled do not count. At most 4096
	// calls may be in flight in a round: its critiques, a summary for each agent, and the tools that the agents use
	// meanwhile. That allows 64 agents if all critique all.
	Agents []Agent `json:"agents"`
	// Judge evaluates rounds, votes, and makes the solution. Its model may be missing if no call needs it: with fixed
	// termination, and synthesis by voting or by a registered synthesizer.
	Judge Judge `json:"judge,omitzero"`
	// Rounds is the largest number of rounds: 3 if it is not set. JSON that says 0 is refused.
	Rounds int `json:"rounds,omitempty"`
	// Termination says what ends the rounds earlier. The judge does not evaluate the last round, because its answer would
	// change nothing. So with one round it is never asked.
	Termination Termination `json:"termination,omitzero"`
	// Synthesis says how the solution is made: SynthesisJudge if empty.
	Synthesis string `json:"synthesis,omitempty" redact:"-"`
	// Synthesizer is a name in Engine.Functions. It is required with SynthesisRegistered, and refused otherwise.
	Synthesizer string `json:"synthesizer,omitempty" redact:"-"`
	// Topology says who critiques whom.
	Topology Topology `json:"topology,omitzero"`
	// Proposals says what an agent proposes from the second round on: ProposalsCarry if empty.
	Proposals string `json:"proposals,omitempty" redact:"-"`
	// FullHistory says what agents read of earlier rounds. If it is nil, proposals and refinements read the agent's own
	// history: its proposals, what was said of them, its refinements. If it is true, proposals, critiques and
	// refinements read all that anybody has said. If it is false, they read no history. An agent's summary of its own history
	// replaces all rounds that it covers, those of the others included. The synthesis by a judge or by a registered synthesizer always
	// reads all rounds. With TerminationConvergence, refinements also read the others' proposals as they stand.
	FullHistory *bool `json:"includeFullHistory,omitempty"`
	// Summaries say when the history of an agent is summarised. An agent can have settings of its own. They are refused
	// if FullHistory is false, because then no agent reads a history.
	Summaries Summaries `json:"summaries,omitzero"`
	// Clarification lets the agents ask a person before the first round.
	Clarification Clarification `json:"clarification,omitzero"`
	// Tools are the tools that the agents may use, by their names in Engine.Tools. An agent can have a list of its own.
	Tools []string `json:"tools,omitempty" redact:"-"`
	// ToolCalls is how often each agent may use tools in one phase: 10 if 0. It is refused if no agent that takes part
	// has tools.
	ToolCalls int `json:"toolCalls,omitempty"`
	// ToolPolicy decides about tool calls in an unattended deliberation. The zero value reports an unknown outcome to the
	// model, and denies calls that need approval.
	ToolPolicy flow.ToolPolicy `json:"toolPolicy,omitzero"`
	// Roles are roles of the host program. They are added to the built-in ones.
	Roles []Role `json:"roles,omitempty"`
	// Temperature is that of the agents: 0.5 if nil.
	Temperature *float64 `json:"temperature,omitempty"`
	// MaxTokens limits the output of a reply, in tokens: flow.DefaultMaxTokens if 0.
	MaxTokens int `json:"maxTokens,omitempty"`
	// Reserve is the part of each model's window that is kept free, in tokens: flow.DefaultReserve if 0.
	Reserve int `json:"reserve,omitempty"`
	// RoundTimeout bounds the proposals, critiques and refinements of one round together: no bound if 0. Each phase may use what
	// is left of the time, less half of an equal part of the whole for each phase that is still to come. Summaries that are made
	// before the proposals are a phase as well. What is not finished in time is skipped; see flow.Record.SkippedCalls. If an agent
	// is late in two rounds in a row, and was heard in no call in between, the deliberation goes to the error state, from which
	// Session.Retry continues. A time that three phases cannot fit is refused: one below 3 s, and one below three times a
	// TurnTimeout that is shorter than the default.
	RoundTimeout time.Duration `json:"-"`
	// TurnTimeout bounds one attempt at a call of an agent: flow.DefaultTurnTimeout if 0. JudgeTimeout bounds one attempt at
	// a call of the judge, or of a registered synthesizer: TurnTimeout if 0, or DefaultJudgeTimeout if both are 0. It is
	// refused if there is neither a judge nor a registered synthesizer.
	TurnTimeout  time.Duration `json:"-"`
	JudgeTimeout time.Duration `json:"-"`
	// Budget, Retry, Unattended, OnFailure, Patience and Labels are those of a debate.Config. In an unattended deliberation, a judge's
	// evaluation whose answers were not accepted is skipped, but not two in a row.
	Budget     *flow.Budget       `json:"budget,omitempty"`
	Retry      *flow.RetryPolicy  `json:"retry,omitempty"`
	Unattended bool               `json:"unattended,omitempty"`
	OnFailure  []flow.FailureRule `json:"onFailure,omitempty"`
	Patience   time.Duration      `json:"-"`
	Labels     map[string]string  `json:"labels,omitempty" redact:"keys"`
}

// Agent is one of those who work out the solution.
type Agent struct {
	// ID is one line of at most 64 characters, such as "ada" or "System Architect". A dot may only precede a space or end
	// the ID. IDs that differ only in the case of letters, in marks or in look-alike letters are refused.
	ID string `json:"id" redact:"-"`
	// Name is what people are shown. If it is empty, they are shown the ID.
	Name string `json:"name,omitempty"`
	// Role is the name of a role: RoleGeneralist if empty.
	Role string `json:"role,omitempty" redact:"-"`
	// Person asks a person of the host program through a [flow.Inquiry]. It stands in place of a model. Term bounds how long the person
	// has for each answer, and may name a model that stands in. A person is not asked what is to be clarified, writes no summaries and has
	// no tools; the role and the prompt are for a model that takes the place.
	Person bool `json:"person,omitempty"`
	flow.Term
	// Model is "provider/model". The first slash divides the two. Fallbacks are models that take over, in this
	// order, when the model before keeps failing.
	Model     string   `json:"model" redact:"-"`
	Fallbacks []string `json:"fallbacks,omitempty" redact:"-"`
	// Temperature and MaxTokens replace those of the config.
	Temperature *float64 `json:"temperature,omitempty"`
	MaxTokens   int      `json:"maxTokens,omitempty"`
	// Options are what its requests ask for beyond text, such as effort. nil: the vendor's defaults.
	Options *provider.Options `json:"options,omitempty"`
	// PromptFile is a text file that says who the agent is. It replaces what the role says about that. Prompt is
	// such a text itself. At most one of them is set.
	PromptFile string `json:"promptFile,omitempty"`
	Prompt     string `json:"prompt,omitempty"`
	// Origin says where the agent's prompt comes from. The start sets it.
	Origin *Origin `json:"origin,omitempty"`
	// Summaries and Tools replace those of the config. If they are nil, those of the config apply.
	Summaries *Summaries `json:"summaries,omitempty"`
	Tools     *[]string  `json:"tools,omitempty" redact:"-"`
	// Metadata is the host program's own data, such as the ID of a user. No prompt holds it; records and exports show it.
	// It has the bounds of labels.
	Metadata map[string]string `json:"metadata,omitempty"`
	// Disabled leaves the agent out. Its other fields are still checked.
	Disabled bool `json:"disabled,omitempty"`
}

func (a *Agent) seat(c *Config, field string) flow.Seat {
	return flow.Seat{
		Field: field, By: a.ID, Model: &a.Model, Fallbacks: &a.Fallbacks, Temperature: &a.Temperature, MaxTokens: &a.MaxTokens,
		Options: &a.Options, Shared: &c.Temperature, Usual: DefaultTemperature, Tools: len(c.toolsOf(a)) > 0,
		Person: a.Person, Term: &a.Term, Replaceable: a.Person,
	}
}

// Judge evaluates rounds, votes, and makes the solution. Without a Model all other fields are refused, except
// PromptFile and Prompt with a registered synthesizer, which gets that text. A Model that no call needs is allowed.
type Judge struct {
	// Model is "provider/model". Fallbacks are models that take over, in this order, when the model before keeps
	// failing.
	Model     string   `json:"model,omitempty" redact:"-"`
	Fallbacks []string `json:"fallbacks,omitempty" redact:"-"`
	// Temperature is 0.3 if nil.
	Temperature *float64 `json:"temperature,omitempty"`
	// MaxTokens limits the output of an answer, in tokens: the limit of the config if 0.
	MaxTokens int `json:"maxTokens,omitempty"`
	// Options are what its requests ask for beyond text, such as effort. nil: the vendor's defaults.
	Options *provider.Options `json:"options,omitempty"`
	// PromptFile and Prompt say who the judge is. They replace the built-in words. At most one of them is set.
	PromptFile string `json:"promptFile,omitempty"`
	Prompt     string `json:"prompt,omitempty"`
	// Origin says where Prompt comes from. The start sets it.
	Origin *Origin `json:"origin,omitempty"`
}

func (j *Judge) seat() flow.Seat {
	return flow.Seat{
		Field: "judge", By: nameJudge, Model: &j.Model, Fallbacks: &j.Fallbacks, Temperature: &j.Temperature, MaxTokens: &j.MaxTokens,
		Options: &j.Options, Usual: DefaultJudgeTemperature, Vacant: true,
	}
}

// Origin says where the prompt of an agent, a judge or an evaluator comes from. If an Origin does not match the prompt, the
// start replaces it, and the prompt counts as the config's own.
type Origin struct {
	// Source is SourceBuiltIn, SourceConfig, or the absolute path of a file.
	Source string `json:"source"`
	// SHA256 is the hash of the file, or of the text, in hexadecimal digits.
	SHA256 string `json:"sha256,omitempty" redact:"-"`
	// Of is the SHA-256 of the prompt itself.
	Of string `json:"of,omitempty" redact:"-"`
}

// Termination says what ends the rounds before Config.Rounds is reached.
type Termination struct {
	// Kind is TerminationFixed if empty.
	Kind string `json:"kind,omitempty" redact:"-"`
	// Threshold is the number, from 0 to 100, at which the rounds end: 80 if nil. It is refused with TerminationFixed.
	Threshold *float64 `json:"threshold,omitempty"`
}

// Topology says who critiques whom.
type Topology struct {
	// Kind is TopologyAll if empty.
	Kind string `json:"kind,omitempty" redact:"-"`
	// K is how many proposals each agent critiques. It applies to TopologyNearest.
	K int `json:"k,omitempty"`
}

// Summaries say when the history of an agent is summarised. A summary is made only if it is expected to save more
// characters of input than it costs: over all rounds that are left or, if the judge may end them early, over as many as
// have passed. It is always made if a prompt that reads the history does not fit the window of its model.
type Summaries struct {
	// Off turns summaries off. The other fields are then refused.
	Off bool `json:"off,omitempty"`
	// Threshold is how many characters of history are left unchanged: 5000 if 0.
	Threshold int `json:"threshold,omitempty"`
	// MaxLength limits a summary, in characters: 2500 if 0. A longer one is cut, with a visible mark.
	MaxLength int `json:"maxLength,omitempty"`
}

// Clarification lets the agents ask a person before the first round. In an unattended deliberation their questions are
// recorded, and nobody is asked. Equal questions of several agents are one question, and what was asked before is not
// asked again.
//
// If an agent's call for questions fails, a warning is recorded, and the agent counts as having no questions. It still
// takes part. The rounds begin even if the calls of all agents have failed. An agent that cannot be reached will also fail
// to propose; the rule for too few agents applies there.
type Clarification struct {
	// On turns the clarification on.
	On bool `json:"on,omitempty"`
	// Iterations is how often the agents may ask: 3 if 0. Each time they read the answers so far.
	Iterations int `json:"iterations,omitempty"`
	// Questions limits the questions of one agent in one iteration: 5 if 0.
	Questions int `json:"questions,omitempty"`
	// Within is how long a question is open: until it is answered if 0. After that it counts as answered with NotAnswered.
	Within flow.Duration `json:"within,omitempty"`
	// Known are answers that are known beforehand, at most 100, also if the clarification is off. All prompts hold them.
	// A person is not asked these questions.
	Known []KnownAnswer `json:"known,omitempty"`
}

// KnownAnswer is the answer to a question that an agent could ask.
type KnownAnswer struct {
	Question string `json:"question"`
	// Answer is a person's, or NotAnswered: then the question stays open, and nobody is asked.
	Answer string `json:"answer"`
}

// The kinds of termination.
const (
	TerminationFixed       = "fixed"       // after all rounds
	TerminationConvergence = "convergence" // by the judge's confidence that the agents agree
	TerminationQuality     = "quality"     // by the judge's mark of the proposals against the problem's requirements
)

// The ways to make the solution.
const (
	SynthesisJudge      = "judge"      // the judge reads all rounds
	SynthesisVoting     = "voting"     // the final proposals are ranked by vote; the author of the best writes it out
	SynthesisMerge      = "merge"      // the judge merges the final proposals in pairs, until one is left
	SynthesisRegistered = "registered" // a function of the engine, such as a [SynthesizerFunc]
)

// The topologies.
const (
	TopologyAll     = "all"     // each agent critiques all others
	TopologyRing    = "ring"    // each agent critiques the next one in the config, and the last agent the first
	TopologyNearest = "nearest" // each agent critiques the K nearest in that ring: next, previous, next but one, …
)

// The kinds of proposals from the second round on.
const (
	ProposalsCarry = "carry" // the agent's refinement of the round before, without a call
	ProposalsFresh = "fresh" // the agent is asked for a new one
)

// Defaults of a Config.
const (
	DefaultRounds           = 3
	DefaultThreshold        = 80
	DefaultSummaryThreshold = 5000
	DefaultSummaryLength    = 2500
	DefaultIterations       = 3
	DefaultQuestions        = 5
	DefaultToolCalls        = 10
	DefaultTemperature      = 0.5
	DefaultJudgeTemperature = 0.3
	DefaultJudgeTimeout     = 180 * time.Second
	nameJudge, namePerson   = "judge", "person"
	nameSynthesizer         = "synthesizer"
)

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
		configFields(c), flow.Duration(c.RoundTimeout), flow.Duration(c.TurnTimeout), flow.Duration(c.JudgeTimeout), flow.Duration(c.Patience),
	})
}

// UnmarshalJSON reads a config strictly. A number that is 0 is refused where a default would apply in its place. Each error
// is a [flow.Error] of kind validation.
func (c *Config) UnmarshalJSON(data []byte) error {
	var in configJSON
	if err := flow.DecodeStrict("read config", data, &in); err != nil {
		return err
	}
	if err := refuse.Zeros(data); err != nil {
		return err
	}
	*c = Config(in.configFields)
	c.RoundTimeout, c.TurnTimeout = time.Duration(in.RoundTimeout), time.Duration(in.TurnTimeout)
	c.JudgeTimeout, c.Patience = time.Duration(in.JudgeTimeout), time.Duration(in.Patience)
	return nil
}

// Flow returns the name of the flow: [FlowName].
func (c Config) Flow() string { return FlowName }

// Settings returns the part of the config that all flows share.
func (c Config) Settings() flow.Settings {
	t := flow.Settings{
		ID: c.ID, Topic: flow.TopicOf(c.Problem, "a problem"), Language: c.Language, Prompts: c.Prompts,
		Documents: flow.TopicDocuments(c.Attachments, c.Documents), Rounds: c.Rounds, Budget: c.Budget, Unattended: c.Unattended,
		MaxTokens: c.MaxTokens, Reserve: c.Reserve,
		RoundTimeout: c.RoundTimeout, TurnTimeout: c.TurnTimeout, Retry: c.Retry, Labels: c.Labels, OnFailure: c.OnFailure, Patience: c.Patience,
		ToolPolicy: c.ToolPolicy,
	}
	for i := range c.Agents {
		if c.Agents[i].Disabled {
			continue
		}
		t.Participants = append(t.Participants, c.Agents[i].ID)
		for _, name := range c.toolsOf(&c.Agents[i]) {
			if name != "" && !slices.Contains(t.Tools, name) {
				t.Tools = append(t.Tools, name)
			}
		}
	}
	return t
}

// Metadata implements [flow.Described].
func (c Config) Metadata(name string) map[string]string {
	for i := range c.Agents {
		if c.Agents[i].ID == name {
			return c.Agents[i].Metadata
		}
	}
	return nil
}

// Files implements [flow.Filed].
func (c *Config) Files() iter.Seq2[string, *flow.File] {
	return flow.EachFile(c.Attachments, c.Documents)
}

// Seats yields those of the agents that take part, the judge's, and a registered synthesizer's.
func (c Config) Seats() flow.Seats { return c.seats(false) }

// seats yields those of the agents, also of the disabled ones if all is set, the judge's, and a registered synthesizer's.
func (c *Config) seats(all bool) flow.Seats {
	return func(yield func(flow.Seat) bool) {
		for i := range c.Agents {
			if a := &c.Agents[i]; (all || !a.Disabled) && !yield(a.seat(c, fmt.Sprintf("agents[%d]", i))) {
				return
			}
		}
		if yield(c.Judge.seat()) && c.Synthesizer != "" {
			yield(flow.Seat{
				Field: nameSynthesizer, By: nameSynthesizer, Model: new(string), Function: flow.NameField{Field: nameSynthesizer, Name: c.Synthesizer},
			})
		}
	}
}

// toolsOf returns what an agent may use.
func (c *Config) toolsOf(a *Agent) []string {
	switch {
	case a.Person:
		return nil
	case a.Tools != nil:
		return *a.Tools
	default:
		return c.Tools
	}
}
