package deliberation

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agonist-dev/debate/deliberation/internal/refuse"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/prompt"
)

// Bounds of a config.
const (
	mostAgents = 100
	mostText   = refuse.MostText // bytes of a problem, and of a context
	mostKnown  = 100             // answers that are known beforehand
	mostAtOnce = 4096            // calls in flight, and open questions: what a log takes
)

// validation checks a normalized config.
type validation struct {
	flow.Findings

	known  flow.Registry    // nil: what is registered is not known
	unread map[string]error // by field: why a prompt file could not be read
}

// check finds what is wrong with a normalized config.
func check(config flow.Config, _ any, known flow.Registry) []error {
	c := config.(*Config)
	v := &validation{known: known}
	v.check(c)
	return v.Findings
}

func (v *validation) check(c *Config) {
	v.Text("problem", c.Problem, mostText)
	if strings.TrimSpace(c.Problem) == "" {
		v.Addf("problem", "is empty")
	}
	v.Text("context", c.Context, mostText)
	v.numbers(c)
	v.termination(c.Termination)
	v.choice("synthesis", c.Synthesis, SynthesisJudge, SynthesisVoting, SynthesisMerge, SynthesisRegistered)
	v.choice("proposals", c.Proposals, ProposalsCarry, ProposalsFresh)
	switch registered := c.Synthesis == SynthesisRegistered; {
	case registered && c.Synthesizer == "":
		v.Addf("synthesizer", "is empty: synthesis %q needs a name in Engine.Functions", SynthesisRegistered)
	case !registered && c.Synthesizer != "":
		v.Addf("synthesizer", "is set, but synthesis is %q", c.Synthesis)
	case registered && v.known != nil:
		if err := v.known.Function(c.Synthesizer); err != nil {
			v.Addf("synthesizer", "%w", err)
		}
	}
	v.knownAnswers(c.Clarification.Known)
	v.summaries("summaries", c.Summaries, c.readsHistory())
	v.Tools("tools", c.Tools)
	v.roles(c.Roles)
	v.agents(c)
	if v.topology(c) {
		v.atOnce(c)
	}
	v.judge(c)
	v.unused(c)
}

// numbers checks what the Settings of the config do not hold.
func (v *validation) numbers(c *Config) {
	for _, n := range []struct {
		field string
		value int
	}{
		{"clarification.iterations", c.Clarification.Iterations},
		{"clarification.questions", c.Clarification.Questions},
		{"toolCalls", c.ToolCalls},
	} {
		if n.value < 0 {
			v.Addf(n.field, "is negative")
		}
	}
	if elsewhere, ok := v.known.(interface{ Elsewhere() bool }); !ok || !elsewhere.Elsewhere() { // what was run may have been short
		roundTime(&v.Findings, c.RoundTimeout, c.TurnTimeout)
	}
}

// roundTime refuses a time of a round that its three phases cannot fit: the proposals, the critiques and the refinements. turn
// bounds a call.
func roundTime(f *flow.Findings, round, turn time.Duration) {
	const phases = 3
	switch {
	case round <= 0:
	case round < phases*shortestPhase:
		f.Addf("roundTimeout", "is %s: three phases do not fit in less than %s", round, phases*shortestPhase)
	case turn >= flow.DefaultTurnTimeout: // a guard, which says nothing about how long a call is expected to take
	case round/phases < turn:
		f.Addf("roundTimeout", "is %s: three phases of calls of up to %s each (turnTimeout) do not fit: raise it to %s, or lower turnTimeout",
			round, turn, phases*turn)
	}
}

// shortestPhase is the least time in which a phase of a round is taken to be possible. No model replies faster.
const shortestPhase = time.Second

// choice refuses a word that is none of those known, and lists them.
func (v *validation) choice(field, value string, known ...string) bool {
	if slices.Contains(known, value) {
		return true
	}
	v.Addf(field, "%w", flow.Unknown("", value, known...))
	return false
}

func (v *validation) termination(t Termination) {
	if !v.choice("termination.kind", t.Kind, TerminationFixed, TerminationConvergence, TerminationQuality) {
		return
	}
	switch {
	case t.Kind == TerminationFixed:
		if t.Threshold != nil {
			v.Addf("termination.threshold", "is set, but termination %q has none", TerminationFixed)
		}
	case t.Threshold == nil:
		v.Addf("termination.threshold", "is missing")
	case math.IsNaN(*t.Threshold) || *t.Threshold < 0 || *t.Threshold > 100:
		v.Addf("termination.threshold", "is not between 0 and 100")
	}
}

// topology reports whether it is one.
func (v *validation) topology(c *Config) bool {
	t := c.Topology
	if !v.choice("topology.kind", t.Kind, TopologyAll, TopologyRing, TopologyNearest) {
		return false
	}
	switch others := c.taking() - 1; {
	case t.Kind != TopologyNearest && t.K != 0:
		v.Addf("topology.k", "is set, but topology %q has none", t.Kind)
	case t.Kind == TopologyNearest && (t.K < 1 || t.K > max(1, others)):
		v.Addf("topology.k", "is %d: each agent critiques 1 to %d others", t.K, max(1, others))
	default:
		return true
	}
	return false
}

// atOnce refuses what could not be in flight at the same time: all critiques of a round and the summaries beside
// them, what agents look up meanwhile, and all questions of an iteration.
func (v *validation) atOnce(c *Config) {
	n := c.taking()
	if n < 2 || n > mostAgents {
		return // that is told already
	}
	if most := mostAtOnce / n; c.Clarification.On && c.Clarification.Questions > most {
		v.Addf("clarification.questions", "is %d: with %d agents at most %d are possible", c.Clarification.Questions, n, most)
	}
	critiques, armed := n*c.degree(), 0
	for i := range c.Agents {
		if a := &c.Agents[i]; !a.Disabled && len(c.toolsOf(a)) > 0 {
			armed++
		}
	}
	switch left := mostAtOnce - critiques - n; {
	case left < 0:
		v.Addf("topology", "makes %d critiques at once, beside %d summaries: at most %d calls can be in flight; "+
			"fewer agents, or a topology in which each critiques fewer others, can be", critiques, n, mostAtOnce)
	case armed > 0 && c.ToolCalls > left/armed:
		v.Addf("toolCalls", "is %d for each of %d agents, beside %d critiques and summaries: at most %d can be in flight",
			c.ToolCalls, armed, critiques+n, left/armed)
	}
}

// unused refuses settings of what is off: they would be ignored.
func (v *validation) unused(c *Config) {
	for _, n := range []struct {
		field string
		value int
	}{{"clarification.iterations", c.Clarification.Iterations}, {"clarification.questions", c.Clarification.Questions}} {
		if n.value > 0 && !c.Clarification.On {
			v.Addf(n.field, "is set, but clarification is not on")
		}
	}
	switch within := c.Clarification.Within; {
	case within < 0:
		v.Addf("clarification.within", "is negative")
	case within > 0 && !c.Clarification.On:
		v.Addf("clarification.within", "is set, but clarification is not on")
	}
	if c.ToolCalls > 0 && !c.armed() {
		v.Addf("toolCalls", "is set, but no agent that takes part has tools")
	}
}

func (v *validation) summaries(at string, s Summaries, read bool) {
	if s.Threshold < 0 {
		v.Addf(at+".threshold", "is negative")
	}
	if s.MaxLength < 0 || s.MaxLength > 0 && s.MaxLength < shortestSummary {
		v.Addf(at+".maxLength", "is below %d characters", shortestSummary)
	}
	var why string
	switch {
	case s.Off:
		why = "the summaries are off"
	case !read:
		why = "includeFullHistory is false: no agent reads a history"
	default:
		return
	}
	if s.Threshold > 0 {
		v.Addf(at+".threshold", "is set, but %s", why)
	}
	if s.MaxLength >= shortestSummary {
		v.Addf(at+".maxLength", "is set, but %s", why)
	}
}

// shortestSummary leaves room for some words and the note that they were cut.
const shortestSummary = 100

// knownAnswers checks the answers that the config has beforehand.
func (v *validation) knownAnswers(all []KnownAnswer) {
	if len(all) > mostKnown {
		v.Addf("clarification.known", "there are %d: at most %d are allowed", len(all), mostKnown)
		return
	}
	for i, k := range all {
		at := fmt.Sprintf("clarification.known[%d]", i)
		for _, part := range []struct{ field, text string }{{at + ".question", k.Question}, {at + ".answer", k.Answer}} {
			if v.Text(part.field, part.text, mostText); strings.TrimSpace(part.text) == "" {
				v.Addf(part.field, "is blank")
			}
		}
		if slices.ContainsFunc(all[:i], func(other KnownAnswer) bool { return asks(other.Question) == asks(k.Question) }) {
			v.Addf(at+".question", "is a duplicate")
		}
	}
}

func (v *validation) roles(roles []Role) {
	for i := range roles {
		at := fmt.Sprintf("roles[%d]", i)
		if !roleName(roles[i].Name) {
			v.Addf(at+".name", "%.64q is not 1 to 64 ASCII letters, digits, '-' and '_'", roles[i].Name)
		}
		if slices.ContainsFunc(roles[:i], func(r Role) bool { return r.Name == roles[i].Name }) {
			v.Addf(at+".name", "is the name of an earlier role")
		}
		if strings.TrimSpace(roles[i].System) == "" {
			v.Addf(at+".system", "is empty")
		}
		for _, part := range []struct{ field, text string }{
			{"system", roles[i].System},
			{"propose", roles[i].Propose},
			{"critique", roles[i].Critique},
			{"refine", roles[i].Refine},
			{"summarize", roles[i].Summarize},
			{"title", roles[i].Title},
		} {
			v.Text(at+"."+part.field, part.text, mostText)
		}
	}
}

// agents checks the agents, also those that are disabled.
func (v *validation) agents(c *Config) {
	v.ids(c.Agents)
	for i := range c.Agents {
		a, at := &c.Agents[i], fmt.Sprintf("agents[%d]", i)
		v.Labels(at+".metadata", a.Metadata)
		known := v.known
		if a.Disabled { // nobody asks its model
			known = nil
		}
		v.person(a, a.seat(c, at))
		a.seat(c, at).Check(&v.Findings, known)
		v.Text(at+".name", a.Name, mostText)
		if strings.ContainsAny(a.Name, "\r\n") || utf8.RuneCountInString(a.Name) > 64 {
			v.Addf(at+".name", "is longer than 64 characters, or than one line")
		}
		if a.Summaries != nil {
			v.summaries(at+".summaries", *a.Summaries, c.readsHistory())
		}
		if a.Tools != nil {
			v.Tools(at+".tools", *a.Tools)
		}
		if _, err := FindRole(a.Role, ownRoles(c.Roles)); err != nil {
			v.Addf(at+".role", "%w", refuse.Cause(err))
		}
		v.prompt(at, a.PromptFile, a.Prompt)
	}
	if n := c.taking(); n < 2 || n > mostAgents {
		v.Addf("agents", "%s able to take part: 2 to %d are possible", prompt.There(n), mostAgents)
	}
}

// person refuses what only a model has.
func (v *validation) person(a *Agent, s flow.Seat) {
	if !a.Person || a.Model != "" {
		return
	}
	given := s.Given()
	if a.Tools != nil {
		given = append(given, "tools")
	}
	for _, field := range given {
		if field != "maxTokens" {
			v.Addf(s.Field+"."+field, "is possible for a model only")
		}
	}
}

// ownRoles leaves out those that have the name of a built-in role.
func ownRoles(roles []Role) []Role {
	builtin := BuiltinRoles()
	return slices.DeleteFunc(slices.Clone(roles), func(own Role) bool {
		return slices.ContainsFunc(builtin, func(r Role) bool { return r.Name == own.Name })
	})
}

// prompt checks words of somebody's own, by the field that has them.
func (v *validation) prompt(at, file, text string) {
	refuse.Prompt(&v.Findings, at, file, text, v.unread[at])
}

// SourceConfig is the source of a prompt or a role that stands in the config as text.
const SourceConfig = "config"

// ids refuses ids that cannot stand in a prompt, or that can be confused with another one or with a part of the ids of
// calls.
func (v *validation) ids(agents []Agent) {
	var people []flow.NameField
	for i := range agents {
		field, id := fmt.Sprintf("agents[%d].id", i), agents[i].ID
		v.Name(field, id)
		if dotted(id) {
			v.Addf(field, "%.80q begins with a dot, or holds one that no space follows", id)
		}
		people = append(people, flow.NameField{Field: field, Name: id})
	}
	v.People(people, false, nil, []string{nameJudge, namePerson, nameSynthesizer, "assigner"})
}

// dotted reports whether a dot begins an id, or stands in a word. The ids of calls are divided by dots.
func dotted(id string) bool {
	for i := range len(id) {
		if id[i] == '.' && (i == 0 || i+1 < len(id) && id[i+1] != ' ') {
			return true
		}
	}
	return false
}
