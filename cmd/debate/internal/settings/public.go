package settings

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/text"
)

// foreign reports whether a file has the shape of the public program dialectic: its sections, or what only its agents have.
func foreign(root *node) bool {
	if root.get("flow") != nil {
		return false
	}
	if root.get("debate") != nil {
		return true
	}
	mark := func(agent *node) bool {
		return agent.get("provider") != nil || agent.get("systemPromptPath") != nil || agent.get("enabled") != nil
	}
	if judge := root.get(keyJudge); judge != nil && mark(judge) {
		return true
	}
	agents := root.get("agents")
	return agents != nil && slices.ContainsFunc(agents.items, mark)
}

// translator makes the config of a deliberation out of the fields of the public program. It moves nodes, so that what the
// flow says of them later names the field that was written.
type translator struct {
	wrong mistakes
	notes []string
	cut   []string // what is left out because of a mistake

	summarised bool // somebody's history is summarised
	limits     []limit
}

// limit is how often an agent may use tools.
type limit struct {
	node *node // nil: it does not say
	uses string
}

// translate returns the config of a deliberation that a file in the public program's shape describes.
func (t *translator) translate(root *node) *node {
	out := objectNode(root.Place)
	for _, m := range root.members {
		switch m.key {
		case "agents":
			out.set("agents", t.list(m.value, t.agent))
		case keyJudge:
			out.set(keyJudge, t.judge(m.value))
		case "debate":
			// after the agents, for what it says of the history depends on their summaries
		default:
			t.unknown(m, "agents", keyJudge, "debate")
		}
	}
	debate := root.get("debate")
	if debate == nil {
		t.notes = append(t.notes, "there is no section debate: its defaults apply")
		debate = objectNode(root.Place)
	}
	t.debate(out, debate)
	t.toolLimit(out)
	return out
}

// unknown refuses a key, and lists those that are known there.
func (t *translator) unknown(m member, known ...string) {
	t.wrong.addf(m.value.Place, "%w", text.UnknownKey(m.key, known...))
}

// list translates the items of a list. What is no list of objects stays as it is, and the flow says so.
func (t *translator) list(list *node, item func(*node) *node) *node {
	out := *list
	out.items = nil
	for _, one := range list.items {
		out.items = append(out.items, item(one))
	}
	return &out
}

func (t *translator) agent(agent *node) *node {
	if agent.form != formObject {
		return agent
	}
	out := objectNode(agent.Place)
	var tools *node
	uses := limit{uses: strconv.Itoa(deliberation.DefaultToolCalls)}
	for _, m := range agent.members {
		switch m.key {
		case keyName, "temperature":
			out.set(m.key, m.value)
		case "id":
			out.set("id", t.id(m.value))
		case "role":
			out.set("role", roleOf(m.value))
		case "model", "provider":
		case "systemPromptPath":
			out.set("promptFile", m.value)
		case "systemPrompt":
			t.prompt(out, agent, m.value)
		case "enabled":
			out.set("disabled", t.not(m.value))
		case "summarization":
			out.set("summaries", t.summaries(m.value))
		case "tools":
			tools = t.list(m.value, t.tool)
			out.set("tools", tools)
		case "toolCallLimit":
			uses = limit{m.value, m.value.value}
		case "summaryPromptPath", "clarificationPromptPath":
			t.wrong.addf(m.value.Place, "is not supported: a role of its own can say how to summarise, in a config with \"flow\": "+
				"\"deliberation\"")
		default:
			t.unknown(m, "id", keyName, "role", "model", "provider", "temperature", "systemPrompt", "systemPromptPath", "enabled",
				"summarization", "tools", "toolCallLimit")
		}
	}
	if given := agent.get("id"); agent.get(keyName) == nil && out.textAt("id") != agent.textAt("id") {
		out.set(keyName, given)
	}
	out.set("model", t.model(agent))
	t.ownTemperature(out)
	if tools != nil && len(tools.items) > 0 {
		t.limits = append(t.limits, uses)
	} else if uses.node != nil {
		t.wrong.addf(uses.node.Place, "limits tools, and the agent has none")
	}
	return out
}

// prompt sets a system prompt that the file has itself.
func (t *translator) prompt(out, agent, text *node) {
	if agent.get("systemPromptPath") != nil {
		t.wrong.addf(text.Place, "is given beside systemPromptPath: keep one of them")
		return
	}
	out.set("prompt", text)
}

// id returns an id that an agent can have here. The ids of calls are divided by dots, and some names are the library's own. People see the
// name of the agent: that of the file, or the id that the file gives.
func (t *translator) id(given *node) *node {
	if given.form != formText {
		return given // the flow says what is wrong with it
	}
	mended := []byte(given.value)
	for i, c := range mended {
		if c == '.' && (i == 0 || i+1 < len(mended) && mended[i+1] != ' ') {
			mended[i] = '-'
		}
	}
	id := string(mended)
	if slices.Contains([]string{"judge", "person", "synthesizer", "assigner"}, strings.ToLower(id)) {
		id = "agent-" + id
	}
	if id == given.value {
		return given
	}
	t.notes = append(t.notes, given.Path+" is "+strconv.Quote(id)+" here")
	return textNode(given.Place, id)
}

// model joins provider and model by a slash. Without a provider, the model names it itself.
func (t *translator) model(agent *node) *node {
	vendor, model := agent.get("provider"), agent.get("model")
	switch {
	case vendor == nil:
		return model
	case vendor.form != formText:
		t.wrong.addf(vendor.Place, "is %s, not a text", vendor.form)
		t.cut = append(t.cut, within(agent.Path, "model"))
		return nil
	case model == nil:
		t.wrong.addf(vendor.Place, "needs a model beside it")
		t.cut = append(t.cut, within(agent.Path, "model"))
		return nil
	case model.form != formText:
		return model // the flow says what is wrong with it
	}
	return textNode(model.Place, vendor.value+"/"+model.value)
}

// roleOf returns a role by the name that it has here.
func roleOf(role *node) *node {
	switch role.value {
	case "kiss":
		return textNode(role.Place, deliberation.RoleSimplicity)
	case "datamodeling":
		return textNode(role.Place, deliberation.RoleDataModeling)
	}
	return role
}

func (t *translator) not(value *node) *node {
	if value.form != formBool {
		t.wrong.addf(value.Place, "is %s, not true or false", value.form)
		return nil
	}
	return boolNode(value.Place, !value.is(true))
}

func (t *translator) tool(tool *node) *node {
	if tool.form != formObject {
		return tool
	}
	for _, m := range tool.members {
		if m.key != keyName {
			t.unknown(m, keyName)
		}
	}
	name := tool.get(keyName)
	if name == nil {
		t.wrong.addf(tool.Place, "has no name")
		return textNode(tool.Place, "?")
	}
	return name
}

// toolLimit sets how often agents may use tools in a phase. Here that is one number for all.
func (t *translator) toolLimit(out *node) {
	for _, one := range t.limits {
		if one.uses != t.limits[0].uses {
			at := one.node
			if at == nil {
				at = t.limits[0].node
			}
			t.wrong.addf(at.Place, "differs between the agents: all that have tools share one limit (%d if they name none)",
				deliberation.DefaultToolCalls)
			return
		}
	}
	if len(t.limits) > 0 {
		out.set("toolCalls", t.limits[0].node)
	}
}

func (t *translator) judge(judge *node) *node {
	if judge.form != formObject {
		return judge
	}
	out := objectNode(judge.Place)
	for _, m := range judge.members {
		switch m.key {
		case keyName, "id":
			if m.value.form != formText {
				t.wrong.addf(m.value.Place, "is %s, not a text", m.value.form)
			} else {
				t.notes = append(t.notes, "judge."+m.key+" has no effect: reports call the one judge \"judge\"")
			}
		case "role":
			if m.value.value != deliberation.RoleGeneralist {
				t.wrong.addf(m.value.Place, "is not supported: a judge has no role but %q; systemPromptPath says who it is",
					deliberation.RoleGeneralist)
			}
		case "model", "provider":
		case "temperature":
			out.set(m.key, m.value)
		case "systemPromptPath":
			out.set("promptFile", m.value)
		case "systemPrompt":
			t.prompt(out, judge, m.value)
		case "enabled":
			if !m.value.is(true) {
				t.wrong.addf(m.value.Place, "is not supported: a deliberation has a judge")
			}
		case "summarization":
			if !m.value.get("enabled").is(false) {
				t.notes = append(t.notes, "judge.summarization has no effect: the judge reads the agents' summaries, or all rounds if there are none")
			}
		case "tools":
			if len(m.value.items) > 0 || m.value.form != formList {
				t.wrong.addf(m.value.Place, "is not supported: a judge uses no tools")
			}
		case "summaryPromptPath", "clarificationPromptPath", "toolCallLimit":
			t.wrong.addf(m.value.Place, "is not supported: a judge reads all rounds, asks nobody and uses no tools")
		default:
			t.unknown(m, keyName, "id", "model", "provider", "temperature", "systemPrompt", "systemPromptPath", "enabled")
		}
	}
	out.set("model", t.model(judge))
	t.ownTemperature(out)
	return out
}

// ownTemperature leaves out a temperature that the model does not take. Each agent of the public program has to have one.
func (t *translator) ownTemperature(agent *node) {
	vendor, id, ok := flow.SplitModel(agent.textAt("model"))
	temperature := agent.get("temperature")
	if !ok || temperature == nil {
		return
	}
	if row, known := flow.LookupModel(vendor, id); known && row.OwnTemperature {
		t.notes = append(t.notes, temperature.Path+" is left out: "+agent.textAt("model")+" has a temperature of its own")
		agent.remove("temperature")
	}
}

func (t *translator) debate(out, debate *node) {
	if debate.form != formObject {
		t.wrong.addf(debate.Place, "is %s, not an object", debate.form)
		return
	}
	full := debate.get("includeFullHistory")
	system := debate.get("summarization")
	if system != nil {
		out.set("summaries", t.summaries(system))
	} else {
		t.summarised = true // by default
	}
	for _, m := range debate.members {
		switch m.key {
		case "rounds":
			out.set("rounds", m.value)
		case "terminationCondition":
			out.set("termination", t.termination(m.value))
		case "synthesisMethod":
			out.set("synthesis", m.value)
		case "timeoutPerRound":
			out.set("roundTimeout", t.milliseconds(m.value))
		case "includeFullHistory", "summarization", "interactiveClarifications":
		case "clarificationsMaxPerAgent":
			out.object("clarification", debate.Place).set("questions", m.value)
		case "clarificationsMaxIterations":
			out.object("clarification", debate.Place).set("iterations", m.value)
		case "orchestratorType":
			t.orchestrator(m.value, debate)
		case "trace":
			t.wrong.addf(m.value.Place, "is not supported: remove it; every conversation is kept, and debate export reads it")
		default:
			t.unknown(m, "rounds", "terminationCondition", "synthesisMethod", "timeoutPerRound", "includeFullHistory", "summarization",
				"interactiveClarifications", "clarificationsMaxPerAgent", "clarificationsMaxIterations", "orchestratorType")
		}
	}
	if asks := debate.get("interactiveClarifications"); asks != nil {
		out.object("clarification", debate.Place).set("on", asks)
	}
	t.history(out, full)
}

// history says what agents read of earlier rounds. Without the full history they read their own, which is summarised; if
// summaries are off too, they read none.
func (t *translator) history(out, full *node) {
	switch {
	case full == nil:
		out.set("includeFullHistory", boolNode(Place{Path: "debate.includeFullHistory"}, true))
	case full.is(false) && t.summarised:
	case full.is(false):
		out.set("includeFullHistory", full)
		out.remove("summaries") // they are off, and there is nothing that they could be of
		for _, agent := range out.get("agents").list() {
			agent.remove("summaries")
		}
	default:
		out.set("includeFullHistory", full)
	}
}

// list returns the items of a node; none if it is nil.
func (n *node) list() []*node {
	if n == nil {
		return nil
	}
	return n.items
}

func (t *translator) termination(condition *node) *node {
	if condition.form != formObject {
		return condition
	}
	out := objectNode(condition.Place)
	for _, m := range condition.members {
		switch m.key {
		case "type":
			out.set("kind", m.value)
		case "threshold":
			out.set("threshold", m.value)
		default:
			t.unknown(m, "type", "threshold")
		}
	}
	return out
}

// summaries translates settings of summaries. What is said beside "enabled": false applies to nothing.
func (t *translator) summaries(settings *node) *node {
	if settings.form != formObject {
		return settings
	}
	on := settings.get("enabled")
	off := on.is(false)
	out := objectNode(settings.Place)
	if on != nil {
		out.set("off", t.not(on))
	}
	for _, m := range settings.members {
		switch m.key {
		case "enabled":
		case "threshold", "maxLength":
			if m.value.form != formNumber {
				t.wrong.addf(m.value.Place, "is %s, not a number", m.value.form)
			} else if !off {
				out.set(m.key, m.value)
			}
		case "method":
			if m.value.value != deliberation.SummaryByLength {
				t.wrong.addf(m.value.Place, "%w", flow.Unknown("method", m.value.value, deliberation.SummaryByLength))
			}
		case "promptPath":
			t.wrong.addf(m.value.Place, "is not supported: a role of its own can say how to summarise, in a config with \"flow\": "+
				"\"deliberation\"")
		default:
			t.unknown(m, "enabled", "threshold", "maxLength", "method")
		}
	}
	t.summarised = t.summarised || !off
	return out
}

// milliseconds turns a number of milliseconds into the text of a duration.
func (t *translator) milliseconds(value *node) *node {
	n, err := strconv.ParseInt(value.value, 10, 64)
	if value.form != formNumber || err != nil || n < 1 || n > math.MaxInt64/int64(time.Millisecond) {
		t.wrong.addf(value.Place, "is not a whole number of milliseconds, 1 at least")
		return nil
	}
	return textNode(value.Place, (time.Duration(n) * time.Millisecond).String())
}

// orchestrator accepts the name of an implementation where this one does the same.
func (t *translator) orchestrator(kind, debate *node) {
	switch kind.value {
	case "state-machine":
	case "classic":
		condition := debate.get("terminationCondition")
		if condition != nil && condition.textAt("type") != "" && condition.textAt("type") != deliberation.TerminationFixed {
			t.wrong.addf(kind.Place, "is \"classic\", which knows no termination but \"fixed\": remove one of them")
		}
	default:
		t.wrong.addf(kind.Place, "%w", flow.Unknown("orchestrator", kind.value, "state-machine", "classic"))
	}
}
