package deliberation

import (
	"cmp"
	"embed"
	"fmt"
	"strings"
	"text/template"
	"unicode/utf8"

	"github.com/agonist-dev/debate/flow"
)

//go:embed prompts/*.tmpl
var promptFiles embed.FS

// builtinJudge says who the judge is, unless the config does.
const builtinJudge = "You are the judge of a deliberation between agents. You weigh what they have worked out by its substance, " +
	"not by who said it, how long it is or how sure it sounds."

// promptData is what a template of this package sees.
type promptData struct {
	Who       string // what the agent's role, the config or a file says
	ID        string
	Agents    int
	Problem   string
	Context   string
	Fence     string
	Focus     string // what the role looks at in this phase
	Questions int    // the most at once
	MaxLength int    // of a summary, in characters
}

// texts renders the prompts, once for a deliberation: how all system prompts begin, who everybody is, and for each
// kind of call what is asked at its end.
func texts(setup flow.Setup) (map[string]string, error) {
	c := configOf(setup.Config)
	set, err := template.New("prompts").Option("missingkey=error").ParseFS(promptFiles, "prompts/*.tmpl")
	if err != nil {
		return nil, fmt.Errorf("prompts: %w", err)
	}
	t := &textWriter{set: set, texts: make(map[string]string)}
	members := c.members()
	base := promptData{Problem: plain(c.Problem), Context: plain(c.Context), Fence: setup.Fence, Agents: len(members)}
	t.put("system", "system", base)
	t.put("who."+nameJudge, "judge", base.as(cmp.Or(c.Judge.Prompt, builtinJudge)))
	for i := range members {
		m := &members[i]
		d := base.as(m.told)
		d.ID = m.ID
		t.put("who."+m.ID, "agent", d)
		t.put("summarizer."+m.ID, "agent", d.as(""))
		for _, ask := range []struct{ name, focus string }{
			{"propose", m.role.Propose}, {"critique", m.role.Critique}, {"refine", m.role.Refine}, {"summarize", m.role.Summarize},
		} {
			t.put("ask."+ask.name+"."+m.ID, ask.name, promptData{
				Focus: plain(ask.focus), MaxLength: m.summaries.MaxLength,
			})
		}
	}
	t.put("ask.clarify", "clarify", promptData{Questions: cmp.Or(c.Clarification.Questions, DefaultQuestions)})
	for _, name := range []string{schemaConfidence, schemaQuality, schemaVote, "merge", "synthesis", "written"} {
		t.put("ask."+name, name, base)
	}
	return t.texts, t.err
}

func (d promptData) as(who string) promptData {
	d.Who = plain(who)
	return d
}

// textWriter gathers rendered texts until one fails.
type textWriter struct {
	set   *template.Template
	texts map[string]string
	err   error
}

func (t *textWriter) put(name, file string, data promptData) {
	var out strings.Builder
	if err := t.set.ExecuteTemplate(&out, file+".tmpl", data); err != nil && t.err == nil {
		t.err = err
	}
	t.texts[name] = strings.TrimSpace(out.String())
}

// plain makes a text fit to stand in a prompt: valid, and without the runes of private use that mark holes in
// prompts.
func plain(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r >= '\uE000' && r <= '\uE002' {
			return -1
		}
		return r
	}, text))
}

// quote writes what somebody has said, for readers who see all of the debate.
func (b *board) quote(out *strings.Builder, t *flow.Turn) {
	label := labelOf(t)
	if t.Target != "" {
		label += " of " + t.Target
	}
	b.quoteAs(out, fmt.Sprintf("%s, round %d", label, t.Round), t.Text)
}

// quoteOwn writes what stands in somebody's own history: it is about nobody else.
func (b *board) quoteOwn(out *strings.Builder, t *flow.Turn) {
	b.quoteAs(out, fmt.Sprintf("%s, round %d", labelOf(t), t.Round), t.Text)
}

// quoteNow writes what the instruction is about, halved so many times if it would not fit.
func (b *board) quoteNow(out *strings.Builder, t *flow.Turn, halves int) {
	b.quoteAs(out, labelOf(t), cut(t.Text, halves))
}

// labelOf says who speaks, and what as.
func labelOf(t *flow.Turn) string { return t.Speaker + ": " + string(t.Kind) }

func (b *board) quoteAs(out *strings.Builder, label, text string) {
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
