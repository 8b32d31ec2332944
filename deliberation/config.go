package deliberation

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agonist-dev/debate/flow"
)

// Config describes a deliberation. [debate.Engine.Start] starts a deliberation with it.
//
// Its JSON is strict: an unknown key is an error. Durations are strings such as "90s", under the keys roundTimeout and
// turnTimeout. If a field is zero, the default that its comment names applies.
//
// The start settles the config: it writes the defaults out, adds the built-in roles that agents have to Roles, and
// replaces the name of each prompt file by its text. The log holds the settled config, which depends on no file.
// [Deliberation.Config] returns it.
//
//nolint:recvcheck // only reading JSON changes a config
type Config struct {
	// ID names the deliberation in the store. If it is empty, the deliberation gets a new id.
	ID string `json:"id,omitempty"`
	// Problem is what a solution is wanted for, at most 1 MiB of UTF-8. Its first line is the topic.
	Problem string `json:"problem"`
	// Context is further material, such as the description of a system, at most 1 MiB of UTF-8. All prompts hold it,
	// between fences. It may be empty.
	Context string `json:"context,omitempty"`
	// Agents work out the solution. From 2 to 100 of them take part; those that are disabled do not count. At most 4096
	// calls may be in flight in a round: its critiques, a summary for each agent, and the tools that the agents use
	// meanwhile. That allows 64 agents if all critique all.
	Agents []Agent `json:"agents"`
	// Judge evaluates rounds, votes, and makes the solution. Its model may be missing if no call needs it: with fixed
	// termination, and synthesis by voting or by a registered synthesizer.
	Judge Judge `json:"judge,omitzero"`
	// Rounds is the largest number of rounds: 3 if 0.
	Rounds int `json:"rounds,omitempty"`
	// Termination says what ends the rounds earlier.
	Termination Termination `json:"termination,omitzero"`
	// Synthesis says how the solution is made: SynthesisJudge if empty.
	Synthesis string `json:"synthesis,omitempty"`
	// Synthesizer is a name in Engine.Judges. It is required with SynthesisRegistered, and refused otherwise.
	Synthesizer string `json:"synthesizer,omitempty"`
	// Topology says who critiques whom.
	Topology Topology `json:"topology,omitzero"`
	// Proposals says what an agent proposes from the second round on: ProposalsCarry if empty.
	Proposals string `json:"proposals,omitempty"`
	// FullHistory lets agents read all of their earlier rounds, in summaries or in full: true if nil. If it is false,
	// they read their last round and a summary of the rounds before. An earlier round that was not worth a summary yet
	// is read in full. Agents whose summaries are off read their last round only, which takes less input. The synthesis
	// reads all rounds in any case.
	FullHistory *bool `json:"includeFullHistory,omitempty"`
	// Summaries say when the history of an agent is summarised. An agent can have settings of its own.
	Summaries Summaries `json:"summaries,omitzero"`
	// Clarification lets the agents ask a person before the first round.
	Clarification Clarification `json:"clarification,omitzero"`
	// Tools are the tools that the agents may use, by their names in Engine.Tools. An agent can have a list of its own.
	Tools []string `json:"tools,omitempty"`
	// ToolCalls is how often each agent may use tools in one phase: 10 if 0. It is refused if no agent has tools.
	ToolCalls int `json:"toolCalls,omitempty"`
	// Roles are roles of the host program. They are added to the built-in ones.
	Roles []Role `json:"roles,omitempty"`
	// Temperature is that of the agents: 0.5 if nil.
	Temperature *float64 `json:"temperature,omitempty"`
	// MaxTokens limits the output of a reply, in tokens: flow.DefaultMaxTokens if 0.
	MaxTokens int `json:"maxTokens,omitempty"`
	// RoundTimeout bounds the proposals, critiques and refinements of one round together: no bound if 0. When it is
	// over, the calls in flight have failed, and the next round begins.
	RoundTimeout time.Duration `json:"-"`
	// TurnTimeout bounds one attempt at a call of an agent: flow.DefaultTurnTimeout if 0. One attempt at a call of the
	// judge is bounded by DefaultJudgeTimeout.
	TurnTimeout time.Duration `json:"-"`
	// Budget, Retry, Unattended and Labels are those of a debate.Config.
	Budget     *flow.Budget      `json:"budget,omitempty"`
	Retry      *flow.RetryPolicy `json:"retry,omitempty"`
	Unattended *flow.Unattended  `json:"unattended,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`
}

// Agent is one of those who work out the solution.
type Agent struct {
	// ID has 1 to 40 letters, digits, '-' and '_'. It is unique, also if the case of letters is ignored.
	ID string `json:"id"`
	// Name is what people are shown. If it is empty, they are shown the ID.
	Name string `json:"name,omitempty"`
	// Role is the name of a role: RoleGeneralist if empty.
	Role string `json:"role,omitempty"`
	// Model is "provider/model". The first slash divides the two. Fallbacks are models that take over, in this
	// order, when the model before keeps failing.
	Model     string   `json:"model"`
	Fallbacks []string `json:"fallbacks,omitempty"`
	// Temperature and MaxTokens replace those of the config.
	Temperature *float64 `json:"temperature,omitempty"`
	MaxTokens   int      `json:"maxTokens,omitempty"`
	// PromptFile is a text file that says who the agent is. It replaces what the role says about that. Prompt is
	// the same as text. At most one of them is set.
	PromptFile string `json:"promptFile,omitempty"`
	Prompt     string `json:"prompt,omitempty"`
	// Origin says where the words about the agent come from. The start sets it.
	Origin *Origin `json:"origin,omitempty"`
	// Summaries and Tools replace those of the config. If they are nil, those of the config apply.
	Summaries *Summaries `json:"summaries,omitempty"`
	Tools     *[]string  `json:"tools,omitempty"`
	// Disabled leaves the agent out. Its other fields are checked in any case.
	Disabled bool `json:"disabled,omitempty"`
}

// Judge evaluates rounds, votes, and makes the solution. Without a Model all other fields are refused, except
// PromptFile and Prompt with a registered synthesizer, which gets those words. A Model that no call needs is no error.
type Judge struct {
	// Model is "provider/model". Fallbacks are models that take over, in this order, when the model before keeps
	// failing.
	Model     string   `json:"model,omitempty"`
	Fallbacks []string `json:"fallbacks,omitempty"`
	// Temperature is 0.3 if nil.
	Temperature *float64 `json:"temperature,omitempty"`
	// MaxTokens limits the output of an answer, in tokens: the limit of the config if 0.
	MaxTokens int `json:"maxTokens,omitempty"`
	// PromptFile and Prompt say who the judge is. They replace the built-in words. At most one of them is set.
	PromptFile string `json:"promptFile,omitempty"`
	Prompt     string `json:"prompt,omitempty"`
	// Origin says where Prompt comes from. The start sets it.
	Origin *Origin `json:"origin,omitempty"`
}

// Origin says where the words of an agent, judge or evaluator come from. If an Origin does not belong to the words, the
// start replaces it, and the words count as the own words of the config.
type Origin struct {
	// Source is SourceBuiltIn, SourceConfig, or the absolute path of a file.
	Source string `json:"source"`
	// SHA256 is the hash of the file, or of the text, in hexadecimal digits.
	SHA256 string `json:"sha256,omitempty"`
	// Of is the SHA-256 of the words themselves.
	Of string `json:"of,omitempty"`
}

// Termination says what ends the rounds before Config.Rounds is reached.
type Termination struct {
	// Kind is TerminationFixed if empty.
	Kind string `json:"kind,omitempty"`
	// Threshold is the number, from 0 to 100, at which the rounds end: 80 if nil. It is refused with TerminationFixed.
	Threshold *float64 `json:"threshold,omitempty"`
}

// Topology says who critiques whom.
type Topology struct {
	// Kind is TopologyAll if empty.
	Kind string `json:"kind,omitempty"`
	// K is how many proposals each agent critiques. It applies to TopologyNearest.
	K int `json:"k,omitempty"`
}

// Summaries say when the history of an agent is summarised. A summary is made only if it saves more characters of input
// than it takes.
type Summaries struct {
	// Off turns summaries off. The other fields are then refused.
	Off bool `json:"off,omitempty"`
	// Threshold is how many characters of history are left unchanged: 5000 if 0.
	Threshold int `json:"threshold,omitempty"`
	// MaxLength limits a summary, in characters: 2500 if 0. A longer one is cut, with a visible mark.
	MaxLength int `json:"maxLength,omitempty"`
}

// Clarification lets the agents ask a person before the first round. In an unattended deliberation their questions are
// recorded, and nobody is asked.
//
// If an agent fails to say what it asks, a warning is recorded, and the agent has asked nothing. It still takes part.
// The rounds begin even if all agents have failed in this way. An agent that cannot be reached will also fail to
// propose. The rule for too few agents applies there.
type Clarification struct {
	// On turns the clarification on.
	On bool `json:"on,omitempty"`
	// Iterations is how often the agents may ask: 3 if 0. Each time they have read the answers so far.
	Iterations int `json:"iterations,omitempty"`
	// Questions limits the questions of one agent in one iteration: 5 if 0.
	Questions int `json:"questions,omitempty"`
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
	SynthesisRegistered = "registered" // a judge of the engine, such as a [SynthesizerFunc]
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
	longestTopic            = 200
	nameJudge, namePerson   = "judge", "person"
	nameSynthesizer         = "synthesizer"
)

// configFields is Config without its methods.
type configFields Config

// configJSON writes durations as text.
type configJSON struct {
	configFields
	RoundTimeout flow.Duration `json:"roundTimeout,omitempty"`
	TurnTimeout  flow.Duration `json:"turnTimeout,omitempty"`
}

// MarshalJSON writes the config.
func (c Config) MarshalJSON() ([]byte, error) {
	return json.Marshal(configJSON{configFields(c), flow.Duration(c.RoundTimeout), flow.Duration(c.TurnTimeout)})
}

// UnmarshalJSON reads a config strictly. The error is a [flow.Error] of kind validation.
func (c *Config) UnmarshalJSON(data []byte) error {
	var in configJSON
	if err := flow.DecodeStrict("read config", data, &in); err != nil {
		return err
	}
	*c = Config(in.configFields)
	c.RoundTimeout, c.TurnTimeout = time.Duration(in.RoundTimeout), time.Duration(in.TurnTimeout)
	return nil
}

// Flow returns the name of the flow: [FlowName].
func (c Config) Flow() string { return FlowName }

// Terms returns the part of the config that all flows share.
func (c Config) Terms() flow.Terms {
	t := flow.Terms{
		ID: c.ID, Topic: topic(c.Problem), Rounds: c.Rounds, Budget: c.Budget, Unattended: c.Unattended, MaxTokens: c.MaxTokens,
		RoundTimeout: c.RoundTimeout, TurnTimeout: c.TurnTimeout, Retry: c.Retry, Labels: c.Labels,
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

// Models yields every model that may be asked, with the field that names it.
func (c Config) Models() iter.Seq2[string, string] {
	return func(yield func(field, name string) bool) {
		for i := range c.Agents {
			a := &c.Agents[i]
			if !a.Disabled && !yieldModels(yield, fmt.Sprintf("agents[%d]", i), a.Model, a.Fallbacks) {
				return
			}
		}
		yieldModels(yield, "judge", c.Judge.Model, c.Judge.Fallbacks)
	}
}

// yieldModels yields a model and its fallbacks; false: no more are wanted.
func yieldModels(yield func(field, name string) bool, at, model string, fallbacks []string) bool {
	if !yield(at+".model", model) {
		return false
	}
	for i, name := range fallbacks {
		if !yield(fmt.Sprintf("%s.fallbacks[%d]", at, i), name) {
			return false
		}
	}
	return true
}

// toolsOf returns what an agent may use.
func (c *Config) toolsOf(a *Agent) []string {
	if a.Tools != nil {
		return *a.Tools
	}
	return c.Tools
}

// configOf returns a config of this flow.
func configOf(c flow.Config) *Config {
	config, _ := flow.ConfigAs[Config](c) // another type was refused before
	return config
}

// topic is the first line of a problem, not too long for a list.
func topic(problem string) string {
	problem = strings.ReplaceAll(strings.ToValidUTF8(problem, ""), "\x00", "") // that it was not is told of the problem
	line, _, _ := strings.Cut(strings.TrimSpace(problem), "\n")
	line = strings.TrimSpace(strings.TrimLeft(line, "# "))
	if line == "" {
		line = "a problem"
	}
	if len(line) <= longestTopic {
		return line
	}
	cut := line[:longestTopic]
	for !utf8.ValidString(cut) {
		cut = cut[:len(cut)-1]
	}
	return cut
}

func orDefault(v *float64, otherwise float64) *float64 {
	if v == nil {
		return &otherwise
	}
	out := *v
	return &out
}
