package deliberation

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agonist-dev/debate"
)

// settings are the flow's part of a debate's config: a [Config] whose defaults are written out and whose
// roles and files are resolved. It is frozen with the debate.
type settings struct {
	Problem       string        `json:"problem"`
	Context       string        `json:"context,omitempty"`
	Agents        []member      `json:"agents"`
	Judge         words         `json:"judge"`
	Rounds        int           `json:"rounds"`
	Termination   Termination   `json:"termination"`
	Synthesis     string        `json:"synthesis"`
	Synthesizer   string        `json:"synthesizer,omitempty"`
	Topology      Topology      `json:"topology"`
	Proposals     string        `json:"proposals"`
	FullHistory   bool          `json:"includeFullHistory"`
	Clarification Clarification `json:"clarification"`
	ToolCalls     int           `json:"toolCalls"`
}

// words say who somebody is, and where they come from. An empty Prompt stands for the built-in one.
type words struct {
	Prompt string `json:"prompt,omitempty"`
	Source string `json:"source,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
}

// member is an agent that takes part.
type member struct {
	words

	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Role      string    `json:"role"`
	Title     string    `json:"title,omitempty"`
	Propose   string    `json:"propose,omitempty"`
	Critique  string    `json:"critique,omitempty"`
	Refine    string    `json:"refine,omitempty"`
	Summarize string    `json:"summarize,omitempty"`
	Summaries Summaries `json:"summaries"`
	Tools     []string  `json:"tools,omitempty"`
}

// ConfigOf yields what a deliberation was started with: problem, context, agents and all settings, their defaults
// written out. Files are texts there: each agent has what it was told as its Prompt, and Roles holds its role, title
// and phases included; [Prompts] tells where the words came from. So the same can be started again without the
// files, under another ID. false: the record is of another flow. What the config shares with the record is read only.
func ConfigOf(r *debate.Record) (Config, bool) {
	s, ok := r.FlowConfig().(*settings)
	made := r.Config()
	if !ok || made == nil {
		return Config{}, false
	}
	c := Config{
		ID: r.ID, Problem: s.Problem, Context: s.Context, Rounds: made.Rounds, Termination: s.Termination,
		Synthesis: s.Synthesis, Synthesizer: s.Synthesizer, Topology: s.Topology, Proposals: s.Proposals,
		FullHistory: &s.FullHistory, Temperature: made.Temperature, MaxTokens: made.MaxTokens,
		RoundTimeout: made.RoundTimeout, TurnTimeout: made.TurnTimeout,
		Budget: made.Budget, Retry: made.Retry, Unattended: made.Unattended, Labels: made.Labels,
	}
	if s.Clarification.On {
		c.Clarification = s.Clarification
	}
	if len(s.tools()) > 0 {
		c.ToolCalls = s.ToolCalls
	}
	b := read(r)
	if j := b.judgeConfig(nameJudge); j.Model != "" {
		c.Judge = Judge{Model: j.Model, Fallbacks: j.Fallbacks, Temperature: j.Temperature, MaxTokens: j.MaxTokens}
	}
	c.Judge.Prompt = s.Judge.Prompt
	for i := range s.Agents {
		m := &s.Agents[i]
		p := b.participant(m.ID)
		summaries := m.Summaries
		if summaries.Off {
			summaries = Summaries{Off: true}
		}
		c.Agents = append(c.Agents, Agent{
			ID: m.ID, Name: m.Name, Role: m.Role, Model: p.Model, Fallbacks: p.Fallbacks, Temperature: p.Temperature,
			MaxTokens: p.MaxTokens, Prompt: m.Prompt, Summaries: &summaries, Tools: &m.Tools,
		})
		if !slices.ContainsFunc(c.Roles, func(r Role) bool { return r.Name == m.Role }) {
			c.Roles = append(c.Roles, Role{
				Name: m.Role, Title: m.Title, System: m.Prompt, Propose: m.Propose, Critique: m.Critique, Refine: m.Refine,
				Summarize: m.Summarize,
			})
		}
	}
	return c, true
}

// decode reads the settings strictly.
func decode(data json.RawMessage) (any, error) {
	if len(data) == 0 {
		return nil, errEmpty
	}
	s := &settings{}
	if err := debate.DecodeStrict(data, s); err != nil {
		return nil, err
	}
	if len(s.Agents) < 2 || strings.TrimSpace(s.Problem) == "" {
		return nil, errEmpty
	}
	if s.Termination.Kind != TerminationFixed && s.Termination.Threshold == nil {
		return nil, fmt.Errorf("termination %.40q has no threshold", s.Termination.Kind)
	}
	return s, nil
}

// check compares the settings with the debate's config, which a host may have changed.
func check(c *debate.Config) error {
	v, err := decode(c.FlowConfig)
	if err != nil {
		return nil //nolint:nilerr // reading it is checked by the debate itself
	}
	s, ok := v.(*settings)
	if !ok {
		return nil
	}
	ids := make([]string, 0, len(c.Participants))
	for i := range c.Participants {
		ids = append(ids, c.Participants[i].Name)
	}
	if !slices.EqualFunc(s.Agents, ids, func(m member, id string) bool { return m.ID == id }) {
		return invalidf("deliberation", "participants", "are not the agents of flowConfig, in their order")
	}
	if len(s.Agents) > mostAgents {
		return invalidf("deliberation", "participants", "there are %d: at most %d are possible", len(s.Agents), mostAgents)
	}
	var f findings
	if f.atOnce(s); len(f) > 0 {
		return errors.Join(f...)
	}
	if what := s.judged(); what != "" && (c.Judging == nil || len(c.Judging.Judges) == 0 || c.Judging.Judges[0].Model == "") {
		return invalidf("deliberation", "judging", "names no model, and %s needs a judge", what)
	}
	return nil
}

// judged says what needs a judge; "": nothing does.
func (s *settings) judged() string {
	switch {
	case s.Termination.Kind != TerminationFixed:
		return fmt.Sprintf("termination %q", s.Termination.Kind)
	case s.Synthesis == SynthesisJudge || s.Synthesis == SynthesisMerge:
		return fmt.Sprintf("synthesis %q", s.Synthesis)
	default:
		return ""
	}
}

// degree is how many others an agent critiques if everybody has a proposal.
func (s *settings) degree() int {
	switch s.Topology.Kind {
	case TopologyRing:
		return 1
	case TopologyNearest:
		return min(s.Topology.K, len(s.Agents)-1)
	default:
		return len(s.Agents) - 1
	}
}

// tools yields all that some agent may use.
func (s *settings) tools() []string {
	var names []string
	for i := range s.Agents {
		for _, name := range s.Agents[i].Tools {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// lag is how many of the latest rounds are never summarised: with full history none; otherwise an agent reads
// its last round as it was.
func (s *settings) lag() int {
	if s.FullHistory {
		return 0
	}
	return 1
}

// of yields the settings of a debate. One of another flow has none of its own: these are empty.
func of(r *debate.Record) *settings {
	if s, ok := r.FlowConfig().(*settings); ok {
		return s
	}
	return &settings{}
}
