package arbiter

import (
	"cmp"
	"embed"
	"fmt"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/prompt"
)

//go:embed prompts/*.tmpl
var promptFiles embed.FS

// PromptData is what the templates of arbitrated work see. A host program replaces them in Engine.Prompts or in Config.Prompts, by these
// names:
//
//	arbiter.system   Task, Fence, Language, Agents, Who   the arbiter's system prompt
//	arbiter.agent    these, Name                          an agent's system prompt
//	arbiter.decide   Fields                               asks the arbiter for a decision
//	arbiter.execute  Fields                               asks an agent for its result
//
// The other fields are empty there. What precedes an instruction, such as the plan, is not part of its template. A replacement of a
// system prompt must explain the markers, with {{template "fence" .}}, and that of an instruction must contain {{.Fields}}.
type PromptData struct {
	Task     string
	Fence    string // the word in the markers around what others have said
	Language string // in which everybody writes
	Agents   []AgentData
	Who      string // what the config says of the arbiter or the agent
	Name     string // of the agent
	Fields   string // those of the answer, each with what it holds
}

// AgentData is an agent as others see it.
type AgentData struct {
	Name, Description string
	Tools             []string
}

// Names of texts.
const (
	textArbiter = "arbiter.system"
	textAgent   = "agent."
	textDecide  = "decide"
	textBegin   = "decide.begin" // before anything is done that could complete the task
	textExecute = "execute"

	textAssignment = "assignment" // the mark of an agent's assignment

	templatePrefix = FlowName + "."
)

// templates returns those of the flow. The samples stand for all there can be.
func templates() map[string]prompt.Template {
	full := PromptData{
		Task: "Task", Fence: prompt.SampleFence, Language: "German", Who: "Who", Name: "Ada", Fields: prompt.SampleFields,
		Agents: []AgentData{{"Ada", "Plans.", []string{"read_file"}}, {"Ben", "", nil}},
	}
	out := make(map[string]prompt.Template)
	for _, name := range []string{"system", "agent", "decide", "execute"} {
		if text, err := promptFiles.ReadFile("prompts/" + name + ".tmpl"); err == nil { // it is embedded
			system := name == "system" || name == "agent"
			out[templatePrefix+name] = prompt.Template{
				Text: string(text), Samples: []any{full, PromptData{}}, Fenced: system, Asks: !system,
			}
		}
	}
	return out
}

// texts renders the prompts, once for the work.
func texts(setup flow.Setup) (map[string]string, error) {
	c := setup.Config.(*Config)
	data := PromptData{
		Task: prompt.Plain(c.Task), Fence: setup.Fence, Language: prompt.Plain(cmp.Or(c.Language, "the language of the task")),
		Who: prompt.Plain(c.Arbiter.Prompt),
	}
	for i := range c.Agents {
		a := &c.Agents[i]
		data.Agents = append(data.Agents, AgentData{a.Name, prompt.Plain(a.Description), a.Tools})
	}
	out := map[string]string{textAssignment: markAssignment}
	put := func(name, template string, data PromptData) (err error) {
		out[name], err = setup.Prompts.Render(templatePrefix+template, data)
		return err
	}
	if err := put(textArbiter, "system", data); err != nil {
		return nil, err
	}
	for i := range c.Agents {
		data.Name, data.Who = c.Agents[i].Name, prompt.Plain(c.Agents[i].Prompt)
		if err := put(textAgent+data.Name, "agent", data); err != nil {
			return nil, err
		}
	}
	for name, completes := range map[string]bool{textDecide: true, textBegin: false} {
		if err := put(name, "decide", PromptData{Fields: rulingFields(nil, nil, completes).String()}); err != nil {
			return nil, err
		}
	}
	return out, put(textExecute, "execute", PromptData{Fields: resultFields(nil).String()})
}

// Bounds of what the arbiter reads, in bytes.
const (
	mostShown = 16 << 10 // of the output of an execution
	mostOfAll = 64 << 10 // of the outputs of agents that were selected together
	mostPlan  = 32 << 10 // of the descriptions in a plan: with many steps each is cut to its share
	mostRow   = 100      // of an output in the table
	mostRows  = 50       // of the table: the number of its lines

	roomForRest = 3 << 10 // bytes that the instruction has beside the table, as a rule
)

// situation is what the arbiter reads before it decides: the plan, why its decision before has failed, the table of executions, and
// what was done last or why that has failed. It is read once for each decision: each text is copied as rarely as can be.
func (w *Work) situation(out *strings.Builder) {
	table := w.table()
	out.Grow(len(table) + roomForRest)
	if w.plan != nil {
		w.show(out, "The plan", "plan", w.planText())
	} else {
		out.WriteString("There is no plan yet.\n")
	}
	if w.undecided != "" {
		w.show(out, "Why your last decision has failed", "failure", clipped(w.undecided, mostShown))
	}
	if len(w.executions) == 0 {
		out.WriteString("Nobody has acted yet.")
		return
	}
	w.show(out, "The executions so far", "executions", table)
	most := shown(len(w.batch))
	for i, e := range w.batch {
		what := "What " + e.Agent + " has reported last"
		if e.Result == Failed {
			what = "Why " + e.Agent + " has failed"
		}
		said := e.Output
		if said == "" {
			said = e.Error
		}
		if i > 0 {
			out.WriteString("\n")
		}
		out.WriteString(what + ":\n")
		out.WriteString(w.Quote(e.Agent, shortened(said, most)))
	}
}

// shown is how many bytes the arbiter reads of each output of so many agents.
func shown(agents int) int { return min(mostShown, mostOfAll/max(1, agents)) }

// show writes a title and a quotation.
func (w *Work) show(out *strings.Builder, title, speaker, text string) {
	out.WriteString(title + ":\n")
	out.WriteString(w.Quote(speaker, text))
	out.WriteString("\n")
}

// table lists the executions, one line each.
func (w *Work) table() string {
	first, size := max(0, len(w.executions)-mostRows), mostRow
	for _, e := range w.executions[first:] {
		size += len(e.row)
	}
	var out strings.Builder
	out.Grow(size)
	if first > 0 {
		fmt.Fprintf(&out, "(%d earlier ones are left out)\n", first)
	}
	for _, e := range w.executions[first:] {
		if e.row == "" {
			out.WriteString(e.line())
		} else {
			out.WriteString(e.row)
		}
	}
	return strings.TrimSpace(out.String())
}

// line is the execution in the table. It is kept once the execution has ended.
func (e *Execution) line() string {
	said := e.Output
	if e.Result == Failed {
		said = e.Error
	}
	step := ""
	if e.Step != noStep {
		step = fmt.Sprintf(", step %d", e.Step)
	}
	if e.UsedUp {
		step += ", at its limit of replies"
	}
	said = strings.Join(strings.Fields(clipped(said, 2*mostRow)), " ") // white space aside
	result := string(e.Result)
	if e.Result == Success {
		result = "reports success"
	}
	return fmt.Sprintf("%d. %s%s: %s: %s\n", e.Iteration, e.Agent, step, result, clipped(said, mostRow))
}

// planText writes the plan, one line for each step. Agents make plans: one that is too long would fit no window, and nobody could
// shorten it.
func (w *Work) planText() string {
	var out strings.Builder
	each := w.plan.share()
	for i := range w.plan.Steps {
		s := &w.plan.Steps[i]
		what := strings.Join(strings.Fields(s.Description), " ")
		if len(what) > each {
			what = clipped(what, each) + "…"
		}
		fmt.Fprintf(&out, "%d. [%s] %s", s.Index, s.Status, what)
		if s.Agent != "" {
			fmt.Fprintf(&out, " (%s)", s.Agent)
		}
		out.WriteString("\n")
	}
	switch {
	case w.plan.IsComplete:
		out.WriteString("The plan is complete.")
	case w.plan.CurrentStepIndex < len(w.plan.Steps):
		fmt.Fprintf(&out, "The current step is %d (counted from 0).", w.plan.CurrentStepIndex)
	default:
		out.WriteString("No step is left.")
	}
	return out.String()
}

// share is how much of a description the plan shows, in bytes.
func (p *Plan) share() int { return mostPlan / max(1, len(p.Steps)) }

// shortened returns the beginning of a text, and says so if it was longer.
func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return clipped(text, most) + "\n[… it was longer, and is cut here]"
}
