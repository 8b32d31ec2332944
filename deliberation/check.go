package deliberation

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agonist-dev/debate"
)

// Bounds of a config.
const (
	mostAgents = 100
	mostText   = 1 << 20 // bytes of a problem, and of a context
	mostAtOnce = 4096    // calls in flight, and open questions: what the log of a debate takes
)

// findings gathers what is wrong with a config.
type findings []error

func (f *findings) addf(field, format string, args ...any) {
	*f = append(*f, invalidf("deliberation", field, format, args...))
}

// settle checks a config and writes its defaults out.
func (c *Config) settle() (*settings, error) {
	var f findings
	s := &settings{
		Problem: c.Problem, Context: c.Context, Rounds: orInt(c.Rounds, DefaultRounds), Termination: c.Termination,
		Synthesis: orText(c.Synthesis, SynthesisJudge), Synthesizer: c.Synthesizer, Topology: c.Topology,
		Proposals: orText(c.Proposals, ProposalsCarry), FullHistory: c.FullHistory == nil || *c.FullHistory,
		Clarification: c.Clarification, ToolCalls: orInt(c.ToolCalls, DefaultToolCalls),
	}
	f.text("problem", c.Problem)
	if strings.TrimSpace(c.Problem) == "" {
		f.addf("problem", "is empty")
	}
	f.text("context", c.Context)
	f.numbers(c)
	f.termination(s)
	f.choice("synthesis", s.Synthesis, SynthesisJudge, SynthesisVoting, SynthesisMerge, SynthesisRegistered)
	f.choice("proposals", s.Proposals, ProposalsCarry, ProposalsFresh)
	switch registered := s.Synthesis == SynthesisRegistered; {
	case registered && c.Synthesizer == "":
		f.addf("synthesizer", "is empty: synthesis %q needs the name of a judge of the engine", SynthesisRegistered)
	case !registered && c.Synthesizer != "":
		f.addf("synthesizer", "is set, but synthesis is %q", s.Synthesis)
	}
	s.Clarification.Iterations = orInt(c.Clarification.Iterations, DefaultIterations)
	s.Clarification.Questions = orInt(c.Clarification.Questions, DefaultQuestions)
	f.summaries("summaries", c.Summaries)
	f.toolNames("tools", c.Tools)
	f.roles(c.Roles)
	f.agents(c, s)
	if f.topology(s) {
		f.atOnce(s)
	}
	f.judge(c, s)
	f.idle(c)
	if len(f) > 0 {
		return nil, errors.Join(f...)
	}
	return s, nil
}

func (f *findings) numbers(c *Config) {
	for _, n := range []struct {
		field string
		value int64
	}{
		{"rounds", int64(c.Rounds)},
		{"clarification.iterations", int64(c.Clarification.Iterations)},
		{"clarification.questions", int64(c.Clarification.Questions)},
		{"toolCalls", int64(c.ToolCalls)},
		{"maxTokens", int64(c.MaxTokens)},
		{"roundTimeout", int64(c.RoundTimeout)},
		{"turnTimeout", int64(c.TurnTimeout)},
	} {
		if n.value < 0 {
			f.addf(n.field, "is negative")
		}
	}
	f.temperature("temperature", c.Temperature)
	if c.ID != "" {
		if err := debate.CheckID(c.ID); err != nil {
			*f = append(*f, err)
		}
	}
}

func (f *findings) temperature(field string, t *float64) {
	if t != nil && (math.IsNaN(*t) || *t < 0 || *t > 2) {
		f.addf(field, "is not between 0 and 2")
	}
}

// text refuses what no vendor and no store takes.
func (f *findings) text(field, text string) {
	switch {
	case !utf8.ValidString(text):
		f.addf(field, "is not valid UTF-8")
	case strings.ContainsRune(text, 0):
		f.addf(field, "holds a NUL character")
	case len(text) > mostText:
		f.addf(field, "has %d bytes: at most %d are allowed", len(text), mostText)
	}
}

// choice refuses a word that is none of those known, and lists them.
func (f *findings) choice(field, value string, known ...string) bool {
	if slices.Contains(known, value) {
		return true
	}
	f.addf(field, "%.40q is not known: it is %s", value, strings.Join(known, ", "))
	return false
}

func (f *findings) termination(s *settings) {
	t := &s.Termination
	t.Kind = orText(t.Kind, TerminationFixed)
	if !f.choice("termination.kind", t.Kind, TerminationFixed, TerminationConvergence, TerminationQuality) {
		return
	}
	if t.Kind == TerminationFixed {
		if t.Threshold != nil {
			f.addf("termination.threshold", "is set, but termination %q has none", TerminationFixed)
		}
		return
	}
	t.Threshold = orDefault(t.Threshold, DefaultThreshold)
	if v := *t.Threshold; math.IsNaN(v) || v < 0 || v > 100 {
		f.addf("termination.threshold", "is not between 0 and 100")
	}
}

// topology reports whether it is one.
func (f *findings) topology(s *settings) bool {
	t := &s.Topology
	t.Kind = orText(t.Kind, TopologyAll)
	if !f.choice("topology.kind", t.Kind, TopologyAll, TopologyRing, TopologyNearest) {
		return false
	}
	switch others := len(s.Agents) - 1; {
	case t.Kind != TopologyNearest && t.K != 0:
		f.addf("topology.k", "is set, but topology %q has none", t.Kind)
	case t.Kind == TopologyNearest && (t.K < 1 || t.K > max(1, others)):
		f.addf("topology.k", "is %d: each agent critiques 1 to %d others", t.K, max(1, others))
	default:
		return true
	}
	return false
}

// atOnce refuses what could not be in flight at the same time: all critiques of a round and the summaries beside
// them, what agents look up meanwhile, and all questions of an iteration.
func (f *findings) atOnce(s *settings) {
	n := len(s.Agents)
	if n < 2 || n > mostAgents {
		return // that is told already
	}
	if most := mostAtOnce / n; s.Clarification.On && s.Clarification.Questions > most {
		f.addf("clarification.questions", "is %d: with %d agents at most %d are possible", s.Clarification.Questions, n, most)
	}
	critiques, armed := n*s.degree(), 0
	for i := range s.Agents {
		if len(s.Agents[i].Tools) > 0 {
			armed++
		}
	}
	switch left := mostAtOnce - critiques - n; {
	case left < 0:
		f.addf("topology", "makes %d critiques at once, beside %d summaries: at most %d calls can be in flight; "+
			"fewer agents, or a topology in which each critiques fewer others, can be", critiques, n, mostAtOnce)
	case armed > 0 && s.ToolCalls > left/armed:
		f.addf("toolCalls", "is %d for each of %d agents, beside %d critiques and summaries: at most %d can be in flight",
			s.ToolCalls, armed, critiques+n, left/armed)
	}
}

// idle refuses settings of what is off: they would be ignored.
func (f *findings) idle(c *Config) {
	for _, n := range []struct {
		field string
		value int
	}{{"clarification.iterations", c.Clarification.Iterations}, {"clarification.questions", c.Clarification.Questions}} {
		if n.value > 0 && !c.Clarification.On {
			f.addf(n.field, "is set, but clarification is not on")
		}
	}
	tools := len(c.Tools) > 0 || slices.ContainsFunc(c.Agents, func(a Agent) bool { return a.Tools != nil && len(*a.Tools) > 0 })
	if c.ToolCalls > 0 && !tools {
		f.addf("toolCalls", "is set, but no agent has tools")
	}
}

func (f *findings) summaries(at string, s Summaries) {
	if s.Threshold < 0 {
		f.addf(at+".threshold", "is negative")
	}
	if s.MaxLength < 0 || s.MaxLength > 0 && s.MaxLength < shortestSummary {
		f.addf(at+".maxLength", "is below %d characters", shortestSummary)
	}
	if s.Off && s.Threshold > 0 {
		f.addf(at+".threshold", "is set, but the summaries are off")
	}
	if s.Off && s.MaxLength >= shortestSummary {
		f.addf(at+".maxLength", "is set, but the summaries are off")
	}
}

// shortestSummary leaves room for some words and the note that they were cut.
const shortestSummary = 100

func (s Summaries) settled() Summaries {
	s.Threshold, s.MaxLength = orInt(s.Threshold, DefaultSummaryThreshold), orInt(s.MaxLength, DefaultSummaryLength)
	return s
}

func (f *findings) toolNames(at string, names []string) {
	for i, name := range names {
		field := fmt.Sprintf("%s[%d]", at, i)
		if strings.TrimSpace(name) == "" {
			f.addf(field, "is empty")
		}
		if slices.Contains(names[:i], name) {
			f.addf(field, "stands there twice")
		}
	}
}

func (f *findings) roles(roles []Role) {
	for i := range roles {
		at := fmt.Sprintf("roles[%d]", i)
		if !roleName(roles[i].Name) {
			f.addf(at+".name", "%.64q is not 1 to 64 ASCII letters, digits, '-' and '_'", roles[i].Name)
		}
		if slices.ContainsFunc(roles[:i], func(r Role) bool { return r.Name == roles[i].Name }) {
			f.addf(at+".name", "is the name of an earlier role")
		}
		if strings.TrimSpace(roles[i].System) == "" {
			f.addf(at+".system", "is empty")
		}
		for _, part := range []struct{ field, text string }{
			{"system", roles[i].System},
			{"propose", roles[i].Propose},
			{"critique", roles[i].Critique},
			{"refine", roles[i].Refine},
			{"summarize", roles[i].Summarize},
			{"title", roles[i].Title},
		} {
			f.text(at+"."+part.field, part.text)
		}
	}
}

// agents checks the agents, and takes those over that are not disabled.
func (f *findings) agents(c *Config, s *settings) {
	for i := range c.Agents {
		a := &c.Agents[i]
		at := fmt.Sprintf("agents[%d]", i)
		f.agentID(at+".id", a.ID, c.Agents[:i])
		f.model(at, a.Model, a.Fallbacks)
		f.temperature(at+".temperature", a.Temperature)
		if a.MaxTokens < 0 {
			f.addf(at+".maxTokens", "is negative")
		}
		f.text(at+".name", a.Name)
		if strings.ContainsAny(a.Name, "\r\n") || utf8.RuneCountInString(a.Name) > 64 {
			f.addf(at+".name", "is longer than 64 characters, or than one line")
		}
		m := member{
			ID: a.ID, Name: orText(a.Name, a.ID), Role: orText(a.Role, RoleGeneralist),
			Summaries: c.Summaries.settled(), Tools: c.Tools,
		}
		if a.Summaries != nil {
			f.summaries(at+".summaries", *a.Summaries)
			m.Summaries = a.Summaries.settled()
		}
		if a.Tools != nil {
			f.toolNames(at+".tools", *a.Tools)
			m.Tools = *a.Tools
		}
		f.prompted(at, a, c.Roles, &m)
		if !a.Disabled {
			s.Agents = append(s.Agents, m)
		}
	}
	if n := len(s.Agents); n < 2 || n > mostAgents {
		f.addf("agents", "there are %d that take part: 2 to %d are possible", n, mostAgents)
	}
}

// prompted finds what an agent is told, and where that comes from.
func (f *findings) prompted(at string, a *Agent, own []Role, m *member) {
	role, err := FindRole(m.Role, own)
	if err != nil {
		f.addf(at+".role", "%w", cause(err))
		return
	}
	m.Title, m.Prompt = role.Title, role.System
	m.Source, m.SHA256 = role.origin()
	m.Propose, m.Critique, m.Refine, m.Summarize = role.Propose, role.Critique, role.Refine, role.Summarize
	f.ownPrompt(at, a.PromptFile, a.Prompt, &m.words)
}

// ownPrompt replaces built-in words by those of a file or of the config.
func (f *findings) ownPrompt(at, file, text string, w *words) {
	switch {
	case file != "" && text != "":
		f.addf(at+".prompt", "is set beside promptFile: one of them counts")
	case file != "":
		read, source, hash, err := ReadPrompt(file)
		if err != nil {
			f.addf(at+".promptFile", "%.200q: %w", file, cause(err))
			return
		}
		w.Prompt, w.Source, w.SHA256 = read, source, hash
	case text != "":
		f.text(at+".prompt", text)
		if strings.TrimSpace(text) == "" {
			f.addf(at+".prompt", "is blank")
		}
		w.Prompt, w.Source, w.SHA256 = text, SourceConfig, hashOf([]byte(text))
	}
}

// SourceConfig is the source of a prompt or a role that stands in the config as text.
const SourceConfig = "config"

// cause yields what is behind an error of this module's: its place is told anew.
func cause(err error) error {
	if failure, ok := errors.AsType[*debate.Error](err); ok && failure.Err != nil {
		return failure.Err
	}
	return err
}

func (f *findings) agentID(field, id string, before []Agent) {
	if len(id) > 40 || !roleName(id) {
		f.addf(field, "%.64q is not 1 to 40 ASCII letters, digits, '-' and '_'", id)
		return
	}
	for _, taken := range []string{nameJudge, namePerson, nameSynthesizer, "summarizer", "assigner"} {
		if strings.EqualFold(id, taken) {
			f.addf(field, "%q is a name of the library's own", id)
			return
		}
	}
	for i := range before {
		if strings.EqualFold(before[i].ID, id) {
			f.addf(field, "%q is the id of agents[%d] too", id, i)
			return
		}
	}
}

func (f *findings) model(at, model string, fallbacks []string) {
	f.modelName(at+".model", model)
	for i, name := range fallbacks {
		f.modelName(fmt.Sprintf("%s.fallbacks[%d]", at, i), name)
	}
}

func (f *findings) modelName(field, name string) {
	host, model, _ := strings.Cut(name, "/")
	switch {
	case name == "":
		f.addf(field, "is empty: it is \"provider/model\"")
	case host == "" || model == "":
		f.addf(field, "%.80q is not \"provider/model\"", name)
	}
}

func (f *findings) judge(c *Config, s *settings) {
	j := &c.Judge
	f.temperature("judge.temperature", j.Temperature)
	if j.MaxTokens < 0 {
		f.addf("judge.maxTokens", "is negative")
	}
	s.Judge.Source = SourceBuiltIn
	f.ownPrompt("judge", j.PromptFile, j.Prompt, &s.Judge)
	if j.Model != "" {
		f.model("judge", j.Model, j.Fallbacks)
		return
	}
	before := len(*f)
	for _, set := range []struct {
		field string
		is    bool
	}{
		{"fallbacks", len(j.Fallbacks) > 0},
		{"temperature", j.Temperature != nil},
		{"maxTokens", j.MaxTokens > 0},
		{"promptFile", j.PromptFile != "" && s.Synthesis != SynthesisRegistered}, // a synthesizer is told it too
		{"prompt", j.Prompt != "" && s.Synthesis != SynthesisRegistered},
	} {
		if set.is {
			f.addf("judge."+set.field, "is set, but judge.model is not")
		}
	}
	if needed := s.judged(); needed != "" && len(*f) == before {
		f.addf("judge.model", "is empty: %s needs a judge", needed)
	}
}

func orInt(v, otherwise int) int {
	if v == 0 {
		return otherwise
	}
	return v
}

func orText(v, otherwise string) string {
	if v == "" {
		return otherwise
	}
	return v
}
