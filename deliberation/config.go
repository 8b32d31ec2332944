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

// Config describes a deliberation, and is what [debate.Engine.Start] starts it with. In JSON its keys are camelCase,
// unknown ones are errors, and durations are strings such as "90s". The zero value of a field means the default that
// its comment names.
//
// The start settles the config: it writes the defaults out, adds the built-in roles that agents have to Roles, and puts
// the text of each prompt file in the place of its name. A log holds the settled config, which depends on no file, and
// [Deliberation.Config] returns it.
//
//nolint:recvcheck // only reading JSON changes a config
type Config struct {
	// ID names the deliberation in the store; "": a new one.
	ID string `json:"id,omitempty"`
	// Problem is what a solution is wanted for, in text of any length. Its first line is the topic.
	Problem string `json:"problem"`
	// Context is further material, such as the description of a system. All prompts hold it, between fences.
	Context string `json:"context,omitempty"`
	// Agents work out the solution: at least two of them that are not disabled, at most 100. A round's critiques, with a
	// summary for each agent and the tools that they use meanwhile, are at most 4096: 64 agents if all critique all.
	Agents []Agent `json:"agents"`
	// Judge evaluates and synthesises. It needs no model where nothing asks for it: with fixed termination,
	// and synthesis by voting or by a registered synthesizer.
	Judge Judge `json:"judge,omitzero"`
	// Rounds is the most rounds that there may be: 3 if 0.
	Rounds int `json:"rounds,omitempty"`
	// Termination says what ends the rounds before that.
	Termination Termination `json:"termination,omitzero"`
	// Synthesis says how the solution is made: SynthesisJudge if empty.
	Synthesis string `json:"synthesis,omitempty"`
	// Synthesizer is a name in Engine.Judges, for SynthesisRegistered.
	Synthesizer string `json:"synthesizer,omitempty"`
	// Topology says who critiques whom.
	Topology Topology `json:"topology,omitzero"`
	// Proposals says what an agent proposes from the second round on: ProposalsCarry if empty.
	Proposals string `json:"proposals,omitempty"`
	// FullHistory lets agents read all of their earlier rounds, summarised or whole: true if nil. Otherwise
	// they read their last round and the summary of what was before it. A round before the last that no summary
	// was worth yet is read whole; who makes no summaries reads the last round alone, which takes less input.
	// The synthesis reads all rounds.
	FullHistory *bool `json:"includeFullHistory,omitempty"`
	// Summaries say when an agent's history is summarised. An agent's own replace them.
	Summaries Summaries `json:"summaries,omitzero"`
	// Clarification lets the agents ask a person before the first round.
	Clarification Clarification `json:"clarification,omitzero"`
	// Tools are names in Engine.Tools: what the agents may use. An agent's own list replaces it.
	Tools []string `json:"tools,omitempty"`
	// ToolCalls is how often each agent may use tools in one phase: 10 if 0. It is refused where no agent has any.
	ToolCalls int `json:"toolCalls,omitempty"`
	// Roles are the host's own, beside the built-in ones.
	Roles []Role `json:"roles,omitempty"`
	// Temperature of the agents: 0.5 if nil.
	Temperature *float64 `json:"temperature,omitempty"`
	// MaxTokens is the most output tokens of a reply: flow.DefaultMaxTokens if 0.
	MaxTokens int `json:"maxTokens,omitempty"`
	// RoundTimeout bounds the proposals, critiques and refinements of one round together. The calls in flight then have
	// failed, and the next round begins. No bound if 0.
	RoundTimeout time.Duration `json:"-"`
	// TurnTimeout bounds one attempt at a call of an agent: flow.DefaultTurnTimeout if 0. Those of the judge are bounded
	// by debate.DefaultJudgeTimeout.
	TurnTimeout time.Duration `json:"-"`
	// Budget, Retry, Unattended and Labels are those of a debate.Config.
	Budget     *flow.Budget      `json:"budget,omitempty"`
	Retry      *flow.RetryPolicy `json:"retry,omitempty"`
	Unattended *flow.Unattended  `json:"unattended,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`
}

// Agent is one of those who work out the solution.
type Agent struct {
	// ID is 1 to 40 letters, digits, '-' and '_', unique whatever the case of its letters.
	ID string `json:"id"`
	// Name is what people are shown: ID if empty.
	Name string `json:"name,omitempty"`
	// Role is the name of a role: RoleGeneralist if empty.
	Role string `json:"role,omitempty"`
	// Model is "provider/model"; the first slash divides. Fallbacks take over in order.
	Model     string   `json:"model"`
	Fallbacks []string `json:"fallbacks,omitempty"`
	// Temperature and MaxTokens replace the config's.
	Temperature *float64 `json:"temperature,omitempty"`
	MaxTokens   int      `json:"maxTokens,omitempty"`
	// PromptFile is a text file that says who the agent is, in place of what its role says about that.
	// Prompt is the same as text. At most one of them is set.
	PromptFile string `json:"promptFile,omitempty"`
	Prompt     string `json:"prompt,omitempty"`
	// Origin says where the agent's words come from. The start sets it.
	Origin *Origin `json:"origin,omitempty"`
	// Summaries and Tools replace the config's; nil: they do not.
	Summaries *Summaries `json:"summaries,omitempty"`
	Tools     *[]string  `json:"tools,omitempty"`
	// Disabled leaves the agent out. Its other fields are checked all the same.
	Disabled bool `json:"disabled,omitempty"`
}

// Judge evaluates rounds, votes, and makes the solution. Without a Model the other fields are refused, but for the
// words that a registered synthesizer is told. With one it is no error that nothing asks for it.
type Judge struct {
	// Model is "provider/model". Fallbacks take over in order.
	Model     string   `json:"model,omitempty"`
	Fallbacks []string `json:"fallbacks,omitempty"`
	// Temperature is 0.3 if nil.
	Temperature *float64 `json:"temperature,omitempty"`
	// MaxTokens is the most output tokens of an answer: the config's if 0.
	MaxTokens int `json:"maxTokens,omitempty"`
	// PromptFile and Prompt say who the judge is, in place of the built-in words.
	PromptFile string `json:"promptFile,omitempty"`
	Prompt     string `json:"prompt,omitempty"`
	// Origin says where Prompt comes from. The start sets it.
	Origin *Origin `json:"origin,omitempty"`
}

// Origin says where somebody's words come from. One that does not belong to the words is replaced when a config is
// started: the words then are the config's own.
type Origin struct {
	// Source is SourceBuiltIn, SourceConfig, or the absolute path of a file.
	Source string `json:"source"`
	// SHA256 is that of the file, or of the text, in hexadecimal digits.
	SHA256 string `json:"sha256,omitempty"`
	// Of is the SHA-256 of the words themselves.
	Of string `json:"of,omitempty"`
}

// Termination says what ends the rounds before Config.Rounds are over.
type Termination struct {
	// Kind is TerminationFixed if empty.
	Kind string `json:"kind,omitempty"`
	// Threshold is the number from 0 to 100 from which on the rounds end: 80 if nil. TerminationFixed has none.
	Threshold *float64 `json:"threshold,omitempty"`
}

// Topology says who critiques whom.
type Topology struct {
	// Kind is TopologyAll if empty.
	Kind string `json:"kind,omitempty"`
	// K is how many proposals each agent critiques, for TopologyNearest.
	K int `json:"k,omitempty"`
}

// Summaries say when the history of an agent is summarised. It is only done where it saves more characters
// of input than it takes.
type Summaries struct {
	// Off: never. The other fields are refused beside it.
	Off bool `json:"off,omitempty"`
	// Threshold is how many characters of history are left as they are: 5000 if 0.
	Threshold int `json:"threshold,omitempty"`
	// MaxLength is the most characters of a summary: 2500 if 0. A longer one is cut, visibly.
	MaxLength int `json:"maxLength,omitempty"`
}

// Clarification lets the agents ask a person before the first round. In an unattended deliberation their questions
// are recorded, and nobody is asked. An agent that fails to say what it asks is warned of and has asked nothing. It
// still takes part, and the rounds begin even if all agents have failed so. An agent that cannot be reached at all fails
// to propose next, where the rule for too few agents holds.
type Clarification struct {
	On bool `json:"on,omitempty"`
	// Iterations is how often the agents may ask, having read the answers so far: 3 if 0.
	Iterations int `json:"iterations,omitempty"`
	// Questions is the most questions of one agent in one iteration: 5 if 0.
	Questions int `json:"questions,omitempty"`
}

// The kinds of termination.
const (
	TerminationFixed       = "fixed"       // all rounds
	TerminationConvergence = "convergence" // the judge's confidence that the agents agree
	TerminationQuality     = "quality"     // the judge's mark of the proposals against the problem's requirements
)

// The ways to make the solution.
const (
	SynthesisJudge      = "judge"      // the judge reads all rounds
	SynthesisVoting     = "voting"     // the agents rank the final proposals; the author of the best writes it out
	SynthesisMerge      = "merge"      // the judge merges the final proposals in pairs, until one is left
	SynthesisRegistered = "registered" // a judge of the engine, such as a [SynthesizerFunc]
)

// The topologies.
const (
	TopologyAll     = "all"     // everybody critiques everybody else
	TopologyRing    = "ring"    // each critiques the next in the order of the agents, the last the first
	TopologyNearest = "nearest" // each critiques those K who stand nearest to it in the ring: next, former, next but one, …
)

// What an agent proposes from the second round on.
const (
	ProposalsCarry = "carry" // what it has refined in the round before, without a call
	ProposalsFresh = "fresh" // it is asked again
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

// Flow is the name of the flow: [FlowName].
func (c Config) Flow() string { return FlowName }

// Terms returns what the config says about everything that all flows have.
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
