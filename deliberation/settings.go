package deliberation

import (
	"encoding/json"
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
