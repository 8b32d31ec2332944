package deliberation

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agonist-dev/debate"
)

// Config describes a deliberation. It is data: [Config.Debate] turns it into the config of a debate, which
// an engine starts. In JSON its keys are camelCase, unknown ones are errors, and durations are strings such
// as "90s". The zero value of a field means the default that its comment names.
//
//nolint:recvcheck // only reading JSON changes a config
type Config struct {
	// ID names the debate in the store; "": a new one.
	ID string `json:"id,omitempty"`
	// Problem is what a solution is wanted for, in text of any length. Its first line is the debate's topic.
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
	// MaxTokens is the most output tokens of a reply: the debate's default if 0.
	MaxTokens int `json:"maxTokens,omitempty"`
	// RoundTimeout bounds the proposals, critiques and refinements of one round together: who works then has
	// failed, and the next round begins. No bound if 0.
	RoundTimeout time.Duration `json:"-"`
	// TurnTimeout bounds one attempt at a call: the debate's default if 0.
	TurnTimeout time.Duration `json:"-"`
	// Budget, Retry, Unattended and Labels are those of the debate.
	Budget     *debate.Budget      `json:"budget,omitempty"`
	Retry      *debate.RetryPolicy `json:"retry,omitempty"`
	Unattended *debate.Unattended  `json:"unattended,omitempty"`
	Labels     map[string]string   `json:"labels,omitempty"`
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

// Clarification lets the agents ask a person before the first round. In an unattended debate their questions
// are recorded, and nobody is asked. An agent that fails to say what it asks is warned of, and has asked nothing: it
// loses no place by that, and the debate begins even if all have failed so. To ask is optional, and the problem can
// be worked on without; who cannot be reached at all fails to propose next, where the rule for too few agents holds.
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
	RoundTimeout duration `json:"roundTimeout,omitempty"`
	TurnTimeout  duration `json:"turnTimeout,omitempty"`
}

// MarshalJSON writes the config.
func (c Config) MarshalJSON() ([]byte, error) {
	return json.Marshal(configJSON{configFields(c), duration(c.RoundTimeout), duration(c.TurnTimeout)})
}

// UnmarshalJSON reads a config strictly. The error is a [debate.Error] of kind validation.
func (c *Config) UnmarshalJSON(data []byte) error {
	var in configJSON
	if err := debate.DecodeStrict(data, &in); err != nil {
		return err
	}
	*c = Config(in.configFields)
	c.RoundTimeout, c.TurnTimeout = time.Duration(in.RoundTimeout), time.Duration(in.TurnTimeout)
	return nil
}

// duration is a time.Duration that reads and writes as text such as "1m30s".
type duration time.Duration

// MarshalText writes the duration.
func (d duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads it.
func (d *duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%.40q is not a duration such as \"90s\"", text)
	}
	*d = duration(v)
	return nil
}

// Debate yields the config of the debate: defaults written out, roles and files read, with their texts, where
// they come from and their hashes, so that a running debate depends on no file. It makes no call. The error
// joins one [debate.Error] of kind validation for each field that is wrong; whether models, tools and judges
// are registered is for [Config.Validate] to say, or for the start of the debate.
func (c Config) Debate() (debate.Config, error) {
	s, err := c.settle()
	if err != nil {
		return debate.Config{}, err
	}
	frozen, err := json.Marshal(s)
	if err != nil {
		return debate.Config{}, &debate.Error{Kind: debate.KindValidation, Op: "deliberation", Field: "config", Err: err}
	}
	out := debate.Config{
		ID: c.ID, Topic: topic(c.Problem), Flow: FlowName, FlowConfig: frozen, CustomFormat: format(), Rounds: s.Rounds,
		MaxTokens: c.MaxTokens, Temperature: orDefault(c.Temperature, DefaultTemperature), RoundTimeout: c.RoundTimeout,
		TurnTimeout: c.TurnTimeout, Budget: c.Budget, Retry: c.Retry, Unattended: c.Unattended, Labels: c.Labels,
	}
	for i := range c.Agents {
		a := &c.Agents[i]
		if a.Disabled {
			continue
		}
		out.Participants = append(out.Participants, debate.Participant{
			Name: a.ID, Model: a.Model, Fallbacks: a.Fallbacks, Temperature: orDefault(a.Temperature, *out.Temperature), MaxTokens: a.MaxTokens,
		})
	}
	out.Tools = s.tools()
	out.Judging = c.judging()
	if err := c.debated(&out); err != nil {
		return debate.Config{}, err
	}
	return out, nil
}

// judging yields those who are asked beside the agents; nil: nobody.
func (c *Config) judging() *debate.Judging {
	var judges []debate.JudgeConfig
	if c.Judge.Model != "" {
		judges = append(judges, debate.JudgeConfig{
			Name: nameJudge, Model: c.Judge.Model, Fallbacks: c.Judge.Fallbacks, MaxTokens: c.Judge.MaxTokens,
			Temperature: orDefault(c.Judge.Temperature, DefaultJudgeTemperature),
		})
	}
	if c.Synthesis == SynthesisRegistered {
		judges = append(judges, debate.JudgeConfig{Name: nameSynthesizer, Judge: c.Synthesizer})
	}
	if len(judges) == 0 {
		return nil
	}
	return &debate.Judging{Judges: judges, When: debate.AtEnd, OwnFamily: true}
}

// format lets many agents take part. Nothing else of it matters here.
func format() *debate.Format {
	return &debate.Format{
		Name: FlowName, MaxParticipants: mostAgents, End: debate.EndByRounds, Decide: debate.NoWinner,
		Phases: []debate.Phase{{Name: "round", First: 1, Last: -1}},
	}
}

// topic is the first line of a problem, not too long for a list.
func topic(problem string) string {
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

// errEmpty says that the flow's part of a config is missing.
var errEmpty = errors.New("is empty: deliberation.Config.Debate yields it")
