package arbiter

import (
	_ "embed" // config_schema.json
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// Config describes arbitrated work. [debate.Engine.Start] starts the work with it.
//
// Its JSON is strict: an unknown key is an error. Durations are strings such as "90s". If a field is zero, the default
// that its comment names applies. The start normalizes the config: it writes the defaults out. The log holds the normalized
// config, which [Work.Config] returns.
//
//nolint:recvcheck // only reading JSON changes a config
type Config struct {
	// ID names the work in the store. If it is empty, the work gets a new id.
	ID string `json:"id,omitempty" redact:"-"`
	// Task is what is to be done, at most 1 MiB of UTF-8. Its first line is the topic.
	Task string `json:"task"`
	// Attachments are images, PDFs and other files that belong to the task. Documents have a name and files of their own. The
	// arbiter and all agents read both: each model of the config must be able to read them.
	Attachments []flow.File     `json:"attachments,omitempty"`
	Documents   []flow.Document `json:"documents,omitempty"`
	// Language and Prompts are those of a debate.Config. If Language is empty, everybody writes in the language of the task.
	Language string            `json:"language,omitempty" redact:"-"`
	Prompts  map[string]string `json:"prompts,omitempty" redact:"keys"`
	// Arbiter decides who acts next, and when the task is complete. Its name is "arbiter": for [flow.Amendment].Models, in
	// [provider.Request].Self and in events.
	Arbiter Arbiter `json:"arbiter"`
	// Agents do the work: from 1 to 100. Package agentfile reads them from files.
	Agents []Agent `json:"agents"`
	// MaxIterations bounds the executions of agents: 50 if 0, at most 1,000. Each of several agents that execute at once
	// counts. [flow.Amendment].Rounds replaces it while the work runs.
	MaxIterations int `json:"maxIterations,omitempty"`
	// MaxFailures is how many failures in a row end the work in the error state: 3 if 0, at most 1,000.
	// Session.Retry resets the count.
	MaxFailures int `json:"maxFailures,omitempty"`
	// Parallel is how many agents the arbiter may select at once: 1 if 0.
	Parallel int `json:"parallel,omitempty"`
	// Temperature is that of the agents: the vendor's default if nil.
	Temperature *float64 `json:"temperature,omitempty"`
	// MaxTokens limits the output of a reply, in tokens: flow.DefaultMaxTokens if 0.
	MaxTokens int `json:"maxTokens,omitempty"`
	// Reserve is the part of each model's window that is kept free, in tokens: flow.DefaultReserve if 0.
	Reserve int `json:"reserve,omitempty"`
	// Context is the name of the context manager, which makes long work fit a window: flow.DefaultContext if "".
	// Summarizer is the model that summarises; see flow.Settings.
	Context    string `json:"context,omitempty" redact:"-"`
	Summarizer string `json:"summarizer,omitempty" redact:"-"`
	// TurnTimeout bounds one attempt at a reply, a decision, or the use of a tool: flow.DefaultTurnTimeout if 0.
	TurnTimeout time.Duration `json:"-"`
	// Budget, Retry, Patience, OnFailure, Unattended, ToolPolicy and Labels are those of a debate.Config.
	Budget     *flow.Budget       `json:"budget,omitempty"`
	Retry      *flow.RetryPolicy  `json:"retry,omitempty"`
	Patience   time.Duration      `json:"-"`
	OnFailure  []flow.FailureRule `json:"onFailure,omitempty"`
	Unattended bool               `json:"unattended,omitempty"`
	ToolPolicy flow.ToolPolicy    `json:"toolPolicy,omitzero"`
	Labels     map[string]string  `json:"labels,omitempty" redact:"keys"`
}

// Arbiter decides. It is a model, a function of the host program, or a person: exactly one of Model, Function and Person
// is set.
type Arbiter struct {
	// Model is "provider/model". Fallbacks take over, in this order, when the model before keeps failing.
	Model     string   `json:"model,omitempty" redact:"-"`
	Fallbacks []string `json:"fallbacks,omitempty" redact:"-"`
	// Function is a name in Engine.Functions, such as that of a [Func].
	Function string `json:"function,omitempty" redact:"-"`
	// Person lets a person decide. Each decision is an inquiry. Term bounds how long the person has, and may name a model that stands in.
	Person bool `json:"person,omitempty"`
	flow.Term
	// Prompt is added to what the arbiter is told, at most 100,000 bytes. A function and a person read it before the
	// situation, in [Situation].Instruction and in the question.
	Prompt string `json:"prompt,omitempty"`
	// Temperature is 0.2 if nil. MaxTokens is that of the work if 0.
	Temperature *float64 `json:"temperature,omitempty"`
	MaxTokens   int      `json:"maxTokens,omitempty"`
	// Options are what its requests ask for beyond text, such as effort. nil: the vendor's defaults.
	Options *provider.Options `json:"options,omitempty"`
}

func (a *Arbiter) seat() flow.Seat {
	return flow.Seat{
		Field: "arbiter", By: nameArbiter, Model: &a.Model, Fallbacks: &a.Fallbacks, Temperature: &a.Temperature, MaxTokens: &a.MaxTokens,
		Options: &a.Options, Usual: DefaultArbiterTemperature,
		Function: flow.NameField{Field: "arbiter.function", Name: a.Function}, Person: a.Person, Term: &a.Term,
	}
}

// Agent does a part of the work when the arbiter selects it.
type Agent struct {
	// Name is what the arbiter calls the agent: one line of at most 64 characters, unique in the work.
	Name string `json:"name" redact:"-"`
	// Description tells the arbiter and the other agents what the agent is good at, at most 2,000 bytes.
	Description string `json:"description,omitempty"`
	// Prompt is the agent's system prompt, at most 100,000 bytes. The flow adds what the agent reads, and how it reports its
	// result.
	Prompt string `json:"prompt,omitempty"`
	// Model is "provider/model". Fallbacks take over, in this order, when the model before keeps failing.
	Model     string   `json:"model" redact:"-"`
	Fallbacks []string `json:"fallbacks,omitempty" redact:"-"`
	// Tools are the tools that the agent may use, by their names in Engine.Tools.
	Tools []string `json:"tools,omitempty" redact:"-"`
	// MaxIterations bounds the model's replies in one execution, those that call tools included: 10 if 0. An execution that
	// needs more fails. A reply that ends at MaxTokens is continued up to three times, each time with as many tokens, and
	// counts as one.
	MaxIterations int `json:"maxIterations,omitempty"`
	// Temperature and MaxTokens replace those of the work for this agent.
	Temperature *float64 `json:"temperature,omitempty"`
	MaxTokens   int      `json:"maxTokens,omitempty"`
	// Options are what its requests ask for beyond text, such as effort. nil: the vendor's defaults.
	Options *provider.Options `json:"options,omitempty"`
	// Metadata is the host program's own data. No model reads it.
	Metadata map[string]string `json:"metadata,omitempty"`
}

func (a *Agent) seat(c *Config, field string) flow.Seat {
	return flow.Seat{
		Field: field, By: a.Name, Model: &a.Model, Fallbacks: &a.Fallbacks, Temperature: &a.Temperature, MaxTokens: &a.MaxTokens,
		Options: &a.Options, Shared: &c.Temperature, Tools: len(a.Tools) > 0,
	}
}

// Defaults of a Config.
const (
	DefaultMaxIterations      = 50
	DefaultMaxFailures        = 3
	DefaultAgentIterations    = 10
	DefaultArbiterTemperature = 0.2

	longestResult = 200 // bytes, as lists show it
	nameArbiter   = "arbiter"
)

//go:embed config_schema.json
var configSchema string

// configFields is Config without its methods.
type configFields Config

// configJSON writes durations as text.
type configJSON struct {
	configFields
	TurnTimeout flow.Duration `json:"turnTimeout,omitempty"`
	Patience    flow.Duration `json:"patience,omitempty"`
}

// MarshalJSON writes the config.
func (c Config) MarshalJSON() ([]byte, error) {
	return json.Marshal(configJSON{configFields(c), flow.Duration(c.TurnTimeout), flow.Duration(c.Patience)})
}

// UnmarshalJSON reads a config strictly. An error is a [flow.Error] of kind validation, and names the field.
func (c *Config) UnmarshalJSON(data []byte) error {
	var in configJSON
	if err := flow.DecodeStrict("read config", data, &in); err != nil {
		return err
	}
	*c = Config(in.configFields)
	c.TurnTimeout, c.Patience = time.Duration(in.TurnTimeout), time.Duration(in.Patience)
	return nil
}

// Flow returns the name of the flow: [FlowName].
func (c Config) Flow() string { return FlowName }

// Settings returns the part of the config that all flows share.
func (c Config) Settings() flow.Settings {
	t := flow.Settings{
		ID: c.ID, Topic: flow.TopicOf(c.Task, "a task"), Language: c.Language, Prompts: c.Prompts,
		Documents: flow.TopicDocuments(c.Attachments, c.Documents), Rounds: c.MaxIterations,
		Budget: c.Budget, Unattended: c.Unattended, Context: c.Context, Summarizer: c.Summarizer, TruncateTurns: true,
		MaxTokens: c.MaxTokens, Reserve: c.Reserve, TurnTimeout: c.TurnTimeout, Retry: c.Retry, Labels: c.Labels,
		OnFailure: c.OnFailure, Patience: c.Patience, ToolPolicy: c.ToolPolicy,
	}
	for i := range c.Agents {
		t.Participants = append(t.Participants, c.Agents[i].Name)
		for _, name := range c.Agents[i].Tools {
			if name != "" && !slices.Contains(t.Tools, name) {
				t.Tools = append(t.Tools, name)
			}
		}
	}
	return t
}

// Metadata implements [flow.Described].
func (c Config) Metadata(name string) map[string]string {
	if a := c.agent(name); a != nil {
		return a.Metadata
	}
	return nil
}

// Files implements [flow.Filed].
func (c *Config) Files() iter.Seq2[string, *flow.File] {
	return flow.EachFile(c.Attachments, c.Documents)
}

// Seats yields the arbiter's seat and those of the agents.
func (c Config) Seats() flow.Seats { return c.seats() }

func (c *Config) seats() flow.Seats {
	return func(yield func(flow.Seat) bool) {
		if !yield(c.Arbiter.seat()) {
			return
		}
		for i := range c.Agents {
			if !yield(c.Agents[i].seat(c, fmt.Sprintf("agents[%d]", i))) {
				return
			}
		}
	}
}

// agent returns the agent of that name; nil: there is none.
func (c *Config) agent(name string) *Agent {
	for i := range c.Agents {
		if c.Agents[i].Name == name {
			return &c.Agents[i]
		}
	}
	return nil
}

// clipped returns the beginning of a text: at most so many bytes of valid UTF-8.
func clipped(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}
