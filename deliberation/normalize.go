package deliberation

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/agonist-dev/debate/flow"
)

// What the flow does with its configs before a deliberation begins.

// normalize writes the defaults of a config out, and puts the texts of its prompt files in the place of their names. The
// error says which of these could not be read, and what else is wrong.
func normalize(config flow.Config) (flow.Config, error) {
	c := config.(*Config).clone()
	c.ID = ""
	c.defaults()
	v := &validation{unread: make(map[string]error)}
	for i := range c.Roles {
		c.Roles[i] = completed(c.Roles[i])
	}
	for i := range c.Agents {
		a := &c.Agents[i]
		role, known := c.adopt(a.Role)
		if err := readInto(&a.PromptFile, &a.Prompt, &a.Origin); err != nil {
			v.unread[fmt.Sprintf("agents[%d]", i)] = err
		}
		switch {
		case a.Prompt != "":
			a.Origin = a.Origin.of(flow.HashOf([]byte(a.Prompt)), SourceConfig, flow.HashOf([]byte(a.Prompt)))
		case known:
			source, hash := role.origin()
			a.Origin = a.Origin.of(role.words(), source, hash)
		default:
			a.Origin = nil
		}
	}
	j := &c.Judge
	if err := readInto(&j.PromptFile, &j.Prompt, &j.Origin); err != nil {
		v.unread["judge"] = err
	}
	if j.Prompt != "" {
		j.Origin = j.Origin.of(flow.HashOf([]byte(j.Prompt)), SourceConfig, flow.HashOf([]byte(j.Prompt)))
	} else {
		j.Origin = nil
	}
	for i := range c.Roles { // as JSON would yield them: an agent's Origin says where they come from
		c.Roles[i].Source, c.Roles[i].SHA256, c.Roles[i].seal = "", "", ""
	}
	if len(v.unread) > 0 {
		v.check(c)
		return nil, errors.Join(v.Findings...)
	}
	return c, nil
}

// readInto puts the text of a prompt file in the place of its name. Where a text is given too, the check says so.
func readInto(file, text *string, origin **Origin) error {
	if *file == "" || *text != "" {
		return nil
	}
	read, from, err := ReadPrompt(*file)
	if err == nil {
		*file, *text, *origin = "", read, from
	}
	return err
}

// of returns the origin of words with this hash: this one if it belongs to them, else another.
func (o *Origin) of(words, source, hash string) *Origin {
	if o != nil && o.Of == words {
		return o
	}
	return &Origin{source, hash, words}
}

// adopt returns the role of that name, as it was read. A built-in one becomes one of the config's.
func (c *Config) adopt(name string) (Role, bool) {
	for i := range c.Roles {
		if c.Roles[i].Name == name {
			return c.Roles[i], true
		}
	}
	role, err := FindRole(name, nil)
	if err != nil {
		return Role{}, false // the check says so
	}
	c.Roles = append(c.Roles, role)
	return role, true
}

// defaults writes out what is left zero.
func (c *Config) defaults() {
	c.Rounds = cmp.Or(c.Rounds, DefaultRounds)
	c.Termination.Kind = cmp.Or(c.Termination.Kind, TerminationFixed)
	if c.Termination.Kind != TerminationFixed {
		c.Termination.Threshold = cmp.Or(c.Termination.Threshold, new(float64(DefaultThreshold)))
	}
	c.Synthesis = cmp.Or(c.Synthesis, SynthesisJudge)
	c.Topology.Kind = cmp.Or(c.Topology.Kind, TopologyAll)
	c.Proposals = cmp.Or(c.Proposals, ProposalsCarry)
	if c.readsHistory() {
		c.Summaries = c.Summaries.normalized()
	}
	if c.Clarification.On {
		c.Clarification.Iterations = cmp.Or(c.Clarification.Iterations, DefaultIterations)
		c.Clarification.Questions = cmp.Or(c.Clarification.Questions, DefaultQuestions)
	}
	c.MaxTokens, c.Reserve = cmp.Or(c.MaxTokens, flow.DefaultMaxTokens), cmp.Or(c.Reserve, flow.DefaultReserve)
	if c.Judge.Model != "" || c.Synthesis == SynthesisRegistered {
		c.JudgeTimeout = cmp.Or(c.JudgeTimeout, c.TurnTimeout, DefaultJudgeTimeout)
	}
	c.TurnTimeout = cmp.Or(c.TurnTimeout, flow.DefaultTurnTimeout)
	c.seats(true).Normalize()
	for i := range c.Agents {
		a := &c.Agents[i]
		a.Name, a.Role = cmp.Or(a.Name, a.ID), cmp.Or(a.Role, RoleGeneralist)
		if a.Summaries != nil && c.readsHistory() {
			a.Summaries = new(a.Summaries.normalized())
		}
	}
	if c.armed() {
		c.ToolCalls = cmp.Or(c.ToolCalls, DefaultToolCalls)
	}
}

func (s Summaries) normalized() Summaries {
	if s.Off {
		return s
	}
	s.Threshold, s.MaxLength = cmp.Or(s.Threshold, DefaultSummaryThreshold), cmp.Or(s.MaxLength, DefaultSummaryLength)
	return s
}

// clone returns a deep copy: a running deliberation shares nothing with its host's config.
func (c *Config) clone() *Config {
	d := *c
	d.Attachments, d.Documents = slices.Clone(c.Attachments), flow.CloneDocuments(c.Documents)
	d.Clarification.Known = slices.Clone(c.Clarification.Known)
	d.Agents, d.Roles, d.Tools, d.Labels = slices.Clone(c.Agents), slices.Clone(c.Roles), slices.Clone(c.Tools), maps.Clone(c.Labels)
	d.Prompts = maps.Clone(c.Prompts)
	for i := range d.Agents {
		a := &d.Agents[i]
		a.Metadata = maps.Clone(a.Metadata)
		a.Summaries, a.Origin = flow.CloneValue(a.Summaries), flow.CloneValue(a.Origin)
		if a.Tools != nil {
			a.Tools = new(slices.Clone(*a.Tools))
		}
	}
	d.seats(true).Clone()
	d.Judge.Origin = flow.CloneValue(c.Judge.Origin)
	d.Termination.Threshold, d.FullHistory = flow.CloneValue(c.Termination.Threshold), flow.CloneValue(c.FullHistory)
	d.Budget = flow.CloneValue(c.Budget)
	d.OnFailure = flow.CloneRules(c.OnFailure)
	d.Retry = c.Retry.Clone()
	return &d
}

// fixed is what the log of a deliberation refers to: who takes part in which order, and what belongs to which round of a
// history.
func fixed(config flow.Config) any {
	c := config.(*Config)
	type seat struct {
		ID string `json:"id"`
	}
	out := struct {
		Agents        []seat `json:"agents"`
		Proposals     string `json:"proposals"`
		Clarification any    `json:"clarification"`
	}{Proposals: c.Proposals, Clarification: c.Clarification}
	for i := range c.Agents {
		if !c.Agents[i].Disabled {
			out.Agents = append(out.Agents, seat{c.Agents[i].ID})
		}
	}
	return out
}

// field names where a config names a tool that some agent may use; other fields have the same names in its settings.
func field(config flow.Config, at string) string {
	c := config.(*Config)
	tools := c.Settings().Tools
	for i, name := range tools {
		if at != fmt.Sprintf("tools[%d]", i) {
			continue
		}
		for k := range c.Agents {
			a := &c.Agents[k]
			list := "tools"
			if a.Tools != nil {
				list = fmt.Sprintf("agents[%d].tools", k)
			}
			if n := slices.Index(c.toolsOf(a), name); n >= 0 && !a.Disabled {
				return fmt.Sprintf("%s[%d]", list, n)
			}
		}
	}
	return at
}

// judged says what needs a judge; "": nothing does.
func (c *Config) judged() string {
	switch {
	case c.Termination.Kind != TerminationFixed:
		return fmt.Sprintf("termination %q", c.Termination.Kind)
	case c.Synthesis == SynthesisJudge || c.Synthesis == SynthesisMerge:
		return fmt.Sprintf("synthesis %q", c.Synthesis)
	default:
		return ""
	}
}

// armed reports whether an agent that takes part has tools.
func (c *Config) armed() bool {
	return slices.ContainsFunc(c.Agents, func(a Agent) bool { return !a.Disabled && len(c.toolsOf(&a)) > 0 })
}

// taking is how many agents take part.
func (c *Config) taking() int {
	n := 0
	for i := range c.Agents {
		if !c.Agents[i].Disabled {
			n++
		}
	}
	return n
}

// degree is how many others an agent critiques if everybody has a proposal.
func (c *Config) degree() int {
	others := max(0, c.taking()-1)
	switch c.Topology.Kind {
	case TopologyRing:
		return min(1, others)
	case TopologyNearest:
		return min(c.Topology.K, others)
	default:
		return others
	}
}

// readsHistory reports whether agents read anything of earlier rounds.
func (c *Config) readsHistory() bool { return c.FullHistory == nil || *c.FullHistory }
