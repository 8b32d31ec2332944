package arbiter

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/prompt"
)

// Bounds of a config.
const (
	mostAgents      = 100
	mostIterations  = 1000
	mostReplies     = 200     // of one execution
	mostTask        = 1 << 20 // bytes
	mostPrompt      = 100_000 // bytes
	mostDescription = 2000    // bytes
)

// normalize writes the defaults out, into a deep copy without an ID.
func normalize(config flow.Config) (flow.Config, error) {
	c := config.(*Config).clone()
	c.ID = ""
	c.MaxIterations = cmp.Or(c.MaxIterations, DefaultMaxIterations)
	c.MaxFailures = cmp.Or(c.MaxFailures, DefaultMaxFailures)
	c.Parallel = cmp.Or(c.Parallel, 1)
	c.Context = cmp.Or(c.Context, flow.DefaultContext)
	c.MaxTokens, c.Reserve = cmp.Or(c.MaxTokens, flow.DefaultMaxTokens), cmp.Or(c.Reserve, flow.DefaultReserve)
	c.TurnTimeout, c.Patience = cmp.Or(c.TurnTimeout, flow.DefaultTurnTimeout), cmp.Or(c.Patience, flow.DefaultPatience)
	c.seats().Normalize()
	for i := range c.Agents {
		c.Agents[i].MaxIterations = cmp.Or(c.Agents[i].MaxIterations, DefaultAgentIterations)
	}
	return c, nil
}

// clone returns a deep copy: running work shares nothing with its host's config.
func (c *Config) clone() *Config {
	d := *c
	d.Attachments, d.Documents = slices.Clone(c.Attachments), flow.CloneDocuments(c.Documents)
	d.Agents, d.Labels, d.Prompts = slices.Clone(c.Agents), maps.Clone(c.Labels), maps.Clone(c.Prompts)
	for i := range d.Agents {
		a := &d.Agents[i]
		a.Tools, a.Metadata = slices.Clone(a.Tools), maps.Clone(a.Metadata)
	}
	d.seats().Clone()
	d.Budget = flow.CloneValue(c.Budget)
	d.OnFailure, d.Retry = flow.CloneRules(c.OnFailure), c.Retry.Clone()
	return &d
}

// fixed is what the log refers to: the agents, in their order, and who decides.
func fixed(config flow.Config) any {
	c := config.(*Config)
	out := struct {
		Agents  []string `json:"agents"`
		Arbiter []bool   `json:"arbiter"`
	}{Arbiter: []bool{c.Arbiter.Model != "", c.Arbiter.Function != "", c.Arbiter.Person}}
	for i := range c.Agents {
		out.Agents = append(out.Agents, c.Agents[i].Name)
	}
	return out
}

// field names where a config names a tool, and what its settings call rounds and topic.
func field(config flow.Config, at string) string {
	c := config.(*Config)
	switch at {
	case "topic":
		return "task"
	case "rounds":
		return "maxIterations"
	}
	for i, name := range c.Settings().Tools {
		if at != fmt.Sprintf("tools[%d]", i) {
			continue
		}
		for k := range c.Agents {
			if n := slices.Index(c.Agents[k].Tools, name); n >= 0 {
				return fmt.Sprintf("agents[%d].tools[%d]", k, n)
			}
		}
	}
	return at
}

// check finds what is wrong with a normalized config, all at once. The engine itself checks the settings and the models.
func check(config flow.Config, _ any, known flow.Registry) []error {
	c := config.(*Config)
	var f flow.Findings
	f.Text("task", c.Task, mostTask)
	if strings.TrimSpace(c.Task) == "" {
		f.Addf("task", "is empty")
	}
	c.Arbiter.check(&f, c, known)
	if n := len(c.Agents); n < 1 || n > mostAgents {
		f.Addf("agents", "%s: 1 to %d are possible", prompt.There(n), mostAgents)
	}
	var people []flow.NameField
	for i := range c.Agents[:min(len(c.Agents), mostAgents)] {
		c.Agents[i].check(&f, c.Agents[i].seat(c, fmt.Sprintf("agents[%d]", i)), known)
		people = append(people, flow.NameField{Field: fmt.Sprintf("agents[%d].name", i), Name: c.Agents[i].Name})
	}
	f.People(people, false, nil, []string{nameArbiter, markAssignment, "person", "summarizer"})
	if c.MaxIterations > mostIterations { // that it is negative the check of the settings says
		f.Addf("maxIterations", "is %d: 1 to %d are possible", c.MaxIterations, mostIterations)
	}
	for _, n := range []struct {
		field       string
		value, most int
	}{
		{"maxFailures", c.MaxFailures, mostIterations},
		{"parallel", c.Parallel, max(1, len(c.Agents))},
	} {
		if n.value < 1 || n.value > n.most {
			f.Addf(n.field, "is %d: 1 to %d are possible", n.value, n.most)
		}
	}
	return f
}

func (a *Arbiter) check(f *flow.Findings, c *Config, known flow.Registry) {
	if a.seat().Waits() && c.Unattended {
		f.Addf("arbiter.person", "is set, but the work is unattended")
	}
	s := a.seat()
	if a.Model == "" {
		for _, field := range s.Given() {
			f.Addf("arbiter."+field, "is set, but no model decides")
		}
	}
	f.Text("arbiter.prompt", a.Prompt, mostPrompt)
	s.Check(f, known)
}

func (a *Agent) check(f *flow.Findings, s flow.Seat, known flow.Registry) {
	at := s.Field
	f.Name(at+".name", a.Name)
	if strings.Contains(a.Name, ".") {
		f.Addf(at+".name", "%.80q has a dot: dots divide the ids of calls", a.Name)
	}
	f.Text(at+".description", a.Description, mostDescription)
	f.Text(at+".prompt", a.Prompt, mostPrompt)
	f.Tools(at+".tools", a.Tools)
	if a.MaxIterations < 1 || a.MaxIterations > mostReplies {
		f.Addf(at+".maxIterations", "is %d: 1 to %d are possible", a.MaxIterations, mostReplies)
	}
	s.Check(f, known)
	f.Labels(at+".metadata", a.Metadata)
}
