package deliberation

import (
	"cmp"

	"github.com/agonist-dev/debate/flow"
)

// member is an agent that takes part, with what it is told. The zero members of a config that is not normalized are those
// of its defaults.
type member struct {
	*Agent

	role      Role
	told      string // who it is
	summaries Summaries
	tools     []string
}

// members returns the agents that take part, in their order.
func (c *Config) members() []member {
	var all []member
	for i := range c.Agents {
		a := &c.Agents[i]
		if a.Disabled {
			continue
		}
		m := member{Agent: a, role: c.role(a.Role), summaries: c.Summaries, tools: c.toolsOf(a)}
		if a.Summaries != nil {
			m.summaries = *a.Summaries
		}
		m.summaries.Threshold = cmp.Or(m.summaries.Threshold, DefaultSummaryThreshold)
		m.summaries.MaxLength = cmp.Or(m.summaries.MaxLength, DefaultSummaryLength)
		m.told = cmp.Or(a.Prompt, m.role.System)
		all = append(all, m)
	}
	return all
}

// ConfigIn returns the config that the start of a deliberation holds, for readers of its events. It returns nil if the start is that
// of another flow. The config is read only.
func ConfigIn(start *flow.Start) *Config {
	if start.Flow != FlowName {
		return nil
	}
	if config, ok := start.Config.Go.(*Config); ok {
		return config
	}
	config := new(Config)
	if config.UnmarshalJSON(start.Config.JSON) != nil {
		return nil
	}
	return config
}

// NameOf returns what people are shown of an agent: its Name, or the ID if it has none. Other actors, such as the judge, have no name of
// their own: NameOf returns the ID.
func (c *Config) NameOf(id string) string {
	for i := range c.Agents {
		if a := &c.Agents[i]; a.ID == id {
			return cmp.Or(a.Name, id)
		}
	}
	return id
}

// role returns the role of that name. A normalized config has all that it needs.
func (c *Config) role(name string) Role {
	for i := range c.Roles {
		if c.Roles[i].Name == name {
			return c.Roles[i]
		}
	}
	role, _ := FindRole(cmp.Or(name, RoleGeneralist), nil) // else a config that nobody has checked
	return role
}

// PromptSource is a prompt about an agent or the judge, and where it comes from.
type PromptSource struct {
	Who    string // an agent's id, or "judge"
	Role   string // of an agent
	Source string // SourceBuiltIn, SourceConfig, or the absolute path of a file
	SHA256 string // of the file, or of the text, in hexadecimal digits; "" for the built-in judge
	Text   string
}

// Prompts returns the prompts of all agents, in the order of the config, and then that of the judge.
func (d *Deliberation) Prompts() []PromptSource {
	out := make([]PromptSource, 0, len(d.agents)+1)
	for i := range d.agents {
		m := &d.agents[i].member
		out = append(out, sourced(m.ID, m.Role, m.told, m.Origin))
	}
	j := &d.config.Judge
	return append(out, sourced(nameJudge, "", cmp.Or(j.Prompt, builtinJudge), j.Origin))
}

func sourced(who, role, text string, origin *Origin) PromptSource {
	if origin == nil {
		origin = &Origin{Source: SourceBuiltIn}
	}
	return PromptSource{who, role, origin.Source, origin.SHA256, text}
}
