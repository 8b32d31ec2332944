package deliberation

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/prompt"
)

//go:embed prompts/*.tmpl
var promptFiles embed.FS

// builtinJudge says who the judge is, unless the config does.
const builtinJudge = "You are the judge of a deliberation between agents. You weigh what they have worked out by its substance, " +
	"not by who said it, how long it is or how sure it sounds."

// PromptData is what the templates of a deliberation see. A host program replaces them in Engine.Prompts or in Config.Prompts, by these
// names:
//
//	deliberation.system      Problem, Context, Fence, Language, Agents, Clarified
//	                                                                how every system prompt begins
//	deliberation.agent       these, ID; Who, but not in summaries   how the system prompt of an agent ends
//	deliberation.judge       these, but ID; Who                     how that of the judge ends
//	deliberation.clarify     Fields, Questions                      asks an agent for questions
//	deliberation.propose     Focus                                  asks for a proposal
//	deliberation.critique    Focus                                  asks for a critique of the proposal before it
//	deliberation.refine      Focus, Others                          asks for a refinement
//	deliberation.summarize   Focus, Words, MaxLength                asks for a summary of the history before it
//	deliberation.confidence  Fields                                 asks the judge whether the agents agree
//	deliberation.quality     Fields                                 asks the judge how good the proposals are
//	deliberation.vote        Fields                                 asks for a ranking
//	deliberation.merge                                              asks the judge for one proposal out of two
//	deliberation.synthesis   Fields                                 asks the judge for the solution
//	deliberation.written     Fields                                 asks for the solution out of one proposal
//
// The other fields are empty there. What precedes an instruction, such as the history, is not part of its template. A replacement of
// deliberation.system must explain the markers, with {{template "fence" .}}, and one that sees Fields must contain {{.Fields}}.
type PromptData struct {
	Who       string // what the agent's role, the config or a file says
	ID        string // of the agent
	Agents    int    // how many there are
	Problem   string
	Context   string // "": there is none
	Fence     string // the word in the markers around what others have said
	Language  string // in which everybody writes
	Clarified bool   // there are clarifications, or the agents may ask for some
	Focus     string // what the role looks at in this phase
	Others    bool   // the proposals of the other agents are shown too
	Questions int    // the most at once
	Words     int    // the most of a summary
	MaxLength int    // the same in characters, at which a longer one is cut
	Fields    string // those of the answer, each with what it holds
}

// problemsLanguage stands for the language where a config names none.
const problemsLanguage = "the language of the problem"

// templatePrefix begins the names of a deliberation's templates.
const templatePrefix = FlowName + "."

// templates returns those of a deliberation. The values of the samples stand for all there can be.
func templates() map[string]prompt.Template {
	full := PromptData{
		Who: "Who", ID: "ada", Agents: 3, Problem: "Problem", Context: "Context", Fence: prompt.SampleFence, Language: "German", Clarified: true,
		Focus: "Focus", Others: true, Questions: 5, Words: wordsIn(DefaultSummaryLength), MaxLength: DefaultSummaryLength,
		Fields: prompt.SampleFields,
	}
	asking := []string{"clarify", schemaConfidence, schemaQuality, schemaVote, "synthesis", "written"}
	out := make(map[string]prompt.Template)
	for _, name := range append([]string{"system", "agent", "judge", "propose", "critique", "refine", "summarize", "merge"}, asking...) {
		if text, err := promptFiles.ReadFile("prompts/" + name + ".tmpl"); err == nil { // it is embedded
			out[templatePrefix+name] = prompt.Template{
				Text: string(text), Samples: []any{full, PromptData{}}, Fenced: name == "system", Asks: slices.Contains(asking, name),
			}
		}
	}
	return out
}

// wordsIn returns how many words a text of so many characters has, as a model counts them: few models can count characters.
func wordsIn(characters int) int {
	const each = 6
	return max(1, characters/each)
}

// textOthers names the text above the others' proposals. A deliberation that does not have it shows them to no refinement.
const textOthers = "others"

// textAlone begins the names of the texts that ask for a refinement without the others' proposals where refinements are shown them.
const textAlone = "ask.alone."

// texts renders the prompts, once for a deliberation: how all system prompts begin, who everybody is, and for each
// kind of call what is asked at its end.
func texts(setup flow.Setup) (map[string]string, error) {
	c := setup.Config.(*Config)
	t := &textWriter{set: setup.Prompts, texts: make(map[string]string)}
	members := c.members()
	base := PromptData{
		Problem: prompt.Plain(c.Problem), Context: prompt.Plain(c.Context), Fence: setup.Fence, Agents: len(members),
		Language:  prompt.Plain(cmp.Or(c.Language, problemsLanguage)),
		Clarified: c.Clarification.On || len(c.Clarification.Known) > 0,
	}
	t.put("system", "system", base)
	t.put("who."+nameJudge, "judge", base.as(cmp.Or(c.Judge.Prompt, builtinJudge)))
	converges := c.Termination.Kind == TerminationConvergence
	if converges { // agents can come together only on what they have read
		t.texts[textOthers] = "The others' proposals:"
	}
	for i := range members {
		m := &members[i]
		d := base.as(m.told)
		d.ID = m.ID
		t.put("who."+m.ID, "agent", d)
		t.put("summarizer."+m.ID, "agent", d.as(""))
		for _, ask := range []struct{ name, focus string }{
			{"propose", m.role.Propose}, {"critique", m.role.Critique}, {"refine", m.role.Refine}, {"summarize", m.role.Summarize},
		} {
			t.put("ask."+ask.name+"."+m.ID, ask.name, PromptData{
				Focus: prompt.Plain(ask.focus), Others: converges, Words: wordsIn(m.summaries.MaxLength), MaxLength: m.summaries.MaxLength,
			})
		}
		if converges {
			t.put(textAlone+m.ID, "refine", PromptData{Focus: prompt.Plain(m.role.Refine)})
		}
	}
	t.put("ask.merge", "merge", PromptData{})
	for _, ask := range []struct {
		name   string
		fields prompt.Fields
	}{
		{"clarify", questionFields(c.mostQuestions())},
		{schemaConfidence, confidenceFields()},
		{schemaQuality, qualityFields()},
		{schemaVote, voteFields(nil)},
		{"synthesis", solutionFields()},
		{"written", solutionFields()},
	} {
		t.put("ask."+ask.name, ask.name, PromptData{Fields: ask.fields.String(), Questions: c.mostQuestions()})
	}
	return t.texts, t.err
}

func (d PromptData) as(who string) PromptData {
	d.Who = prompt.Plain(who)
	return d
}

// textWriter gathers rendered texts until one fails.
type textWriter struct {
	set   *prompt.Set
	texts map[string]string
	err   error
}

func (t *textWriter) put(name, template string, data PromptData) {
	text, err := t.set.Render(templatePrefix+template, data)
	if err != nil && t.err == nil {
		t.err = err
	}
	t.texts[name] = text
}

// quote writes what somebody has said, for readers who see all of the debate.
func (b *board) quote(out *strings.Builder, t *flow.Turn) {
	label := labelOf(t)
	if t.Target != "" {
		label += " of " + t.Target
	}
	b.quoteAs(out, fmt.Sprintf("%s, round %d", label, t.Round), t.Text)
}

// quoteOwn writes what stands in somebody's own history, halved so many times: it is about nobody else.
func (b *board) quoteOwn(out *strings.Builder, t *flow.Turn, halves int) {
	b.quoteAs(out, fmt.Sprintf("%s, round %d", labelOf(t), t.Round), cut(t.Text, halves))
}

// quoteNow writes what the instruction is about, halved so many times if it would not fit.
func (b *board) quoteNow(out *strings.Builder, t *flow.Turn, halves int) {
	b.quoteAs(out, labelOf(t), cut(t.Text, halves))
}

// labelOf says who speaks, and what as.
func labelOf(t *flow.Turn) string { return t.Speaker + ": " + string(t.Kind) }

func (b *board) quoteAs(out *strings.Builder, label, text string) {
	if b.plain {
		out.WriteString(strings.Join(strings.Fields(label), " ") + "\n\n> " + prompt.Quoted(text) + "\n\n") // no line of it reads like a label
		return
	}
	out.WriteString(b.Quote(label, strings.TrimSpace(text)))
	out.WriteString("\n")
}

// system returns somebody's system prompt: what all have in common, the clarifications, and who it is. It does
// not change once the clarifications are known.
func (b *board) system(who string) string {
	if made, ok := b.systems[who]; ok && b.asking == 0 {
		return made
	}
	return b.opening(b.asking) + b.Text(who)
}

// opening is how all system prompts begin; asking is as in a board.
func (d *Deliberation) opening(asking int) string {
	text := d.Text("system") + "\n\n"
	if known := d.known(asking); known != "" {
		text += known + "\n\n"
	}
	return text
}

// systemPrompts puts the system prompts of all calls together.
func (d *Deliberation) systemPrompts() map[string]string {
	made, opening := make(map[string]string, 2*len(d.agents)+1), d.opening(0)
	add := func(who string) { made[who] = opening + d.Text(who) }
	add("who." + nameJudge)
	for i := range d.agents {
		w := &d.agents[i]
		if add("who." + w.ID); !w.summaries.Off {
			add("summarizer." + w.ID)
		}
	}
	return made
}

// characters counts them.
func characters(text string) int { return utf8.RuneCountInString(text) }
