package settings

import (
	"maps"
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
		return agent.get("provider") != nil || agent.get("systemPromptPath") != nil || agent.get(keyEnabled) != nil
	}
	return mark(root.get(keyJudge)) || slices.ContainsFunc(root.get("agents").list(), mark)
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

// translate makes a config out of one in the public program's shape.
func (d *draft) translate(from func(t *translator, root *node) *node) {
	t := &translator{}
	d.root = from(t, d.root)
	d.wrong, d.notes, d.cut = append(d.wrong, t.wrong...), append(d.notes, t.notes...), t.cut
}

// limit is how often an agent may use tools.
type limit struct {
	node *node // nil: it does not say
	uses string
}

// rules say what becomes of the keys of an object of the public program. nil: the key is read elsewhere.
type rules map[string]func(out, value *node)

// as puts a value under another key.
func as(key string) func(out, value *node) {
	return func(out, value *node) { out.set(key, value) }
}

// object translates the keys of an object. refused are keys that the public program has and that say nothing here, each with the reason.
// All others are refused with those that are known.
func (t *translator) object(out, from *node, known rules, refused map[string]string) {
	for _, m := range from.members {
		rule, ok := known[m.key]
		switch why := refused[m.key]; {
		case why != "":
			t.wrong.addf(m.value.Place, "is not supported: %s", why)
		case !ok:
			t.unknown(m, slices.Collect(maps.Keys(known))...)
		case rule != nil:
			rule(out, m.value)
		}
	}
}

// translate returns the config of a deliberation that a file in the public program's shape describes.
func (t *translator) translate(root *node) *node {
	out := objectNode(root.Place)
	t.object(out, root, rules{
		"agents": func(out, list *node) { out.set("agents", t.list(list, t.agent)) },
		keyJudge: func(out, judge *node) { out.set(keyJudge, t.judge(judge)) },
		"debate": nil, // after the agents, for what it says of the history depends on their summaries
	}, nil)
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
	t.object(out, agent, rules{
		keyName: as(keyName), "temperature": as("temperature"), keyModel: nil, "provider": nil,
		"id":               func(out, id *node) { out.set("id", t.id(id)) },
		"role":             func(out, role *node) { out.set("role", roleOf(role)) },
		"systemPromptPath": as("promptFile"), "systemPrompt": t.prompt(agent),
		keyEnabled:      func(out, on *node) { out.set("disabled", t.not(on)) },
		"summarization": func(out, said *node) { out.set("summaries", t.summaries(said)) },
		"tools": func(out, list *node) {
			tools = t.list(list, t.tool)
			out.set("tools", tools)
		},
		"toolCallLimit": func(_, most *node) { uses = limit{most, most.value} },
	}, map[string]string{"summaryPromptPath": ownRole, "clarificationPromptPath": ownRole})
	if given := agent.get("id"); agent.get(keyName) == nil && out.textAt("id") != agent.textAt("id") {
		out.set(keyName, given)
	}
	out.set(keyModel, t.model(agent))
	t.ownTemperature(out)
	if tools != nil && len(tools.items) > 0 {
		t.limits = append(t.limits, uses)
	} else if uses.node != nil {
		t.wrong.addf(uses.node.Place, "limits tools, and the agent has none")
	}
	return out
}

// ownRole is what helps where the public program has a prompt for summaries.
const ownRole = "a role of its own can say how to summarise, in a config with \"flow\": \"deliberation\""

// prompt sets the system prompt that an agent has in the file itself.
func (t *translator) prompt(agent *node) func(out, said *node) {
	return func(out, said *node) {
		if agent.get("systemPromptPath") != nil {
			t.wrong.addf(said.Place, "stands beside systemPromptPath: remove one of them")
			return
		}
		out.set("prompt", said)
	}
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
	vendor, model := agent.get("provider"), agent.get(keyModel)
	switch {
	case vendor == nil:
		return model
	case vendor.form != formText:
		t.wrong.addf(vendor.Place, "is %s, not a text", vendor.form)
		t.cut = append(t.cut, within(agent.Path, keyModel))
		return nil
	case model == nil:
		t.wrong.addf(vendor.Place, "needs a model beside it")
		t.cut = append(t.cut, within(agent.Path, keyModel))
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
	t.object(nil, tool, rules{keyName: nil}, nil)
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
	named := func(key string) func(out, value *node) {
		return func(_, value *node) {
			if value.form != formText {
				t.wrong.addf(value.Place, "is %s, not a text", value.form)
			} else {
				t.notes = append(t.notes, "judge."+key+" has no effect: reports call the one judge \"judge\"")
			}
		}
	}
	const all = "a judge reads all rounds, asks nobody and uses no tools"
	t.object(out, judge, rules{
		keyName: named(keyName), "id": named("id"), keyModel: nil, "provider": nil, "temperature": as("temperature"),
		"role": func(_, role *node) {
			if role.value != deliberation.RoleGeneralist {
				t.wrong.addf(role.Place, "is not supported: a judge has no role but %q; systemPromptPath says who it is",
					deliberation.RoleGeneralist)
			}
		},
		"systemPromptPath": as("promptFile"), "systemPrompt": t.prompt(judge),
		keyEnabled: func(_, on *node) {
			if !on.is(true) {
				t.wrong.addf(on.Place, "is not supported: a deliberation has a judge")
			}
		},
		"summarization": func(_, said *node) {
			if !said.get(keyEnabled).is(false) {
				t.notes = append(t.notes, "judge.summarization has no effect: the judge reads the agents' summaries, or all rounds if there are none")
			}
		},
		"tools": func(_, list *node) {
			if len(list.items) > 0 || list.form != formList {
				t.wrong.addf(list.Place, "is not supported: a judge uses no tools")
			}
		},
	}, map[string]string{"summaryPromptPath": all, "clarificationPromptPath": all, "toolCallLimit": all})
	out.set(keyModel, t.model(judge))
	t.ownTemperature(out)
	return out
}

// ownTemperature leaves out a temperature that the model does not take. Each agent of the public program has to have one.
func (t *translator) ownTemperature(agent *node) {
	vendor, id, ok := flow.SplitModel(agent.textAt(keyModel))
	temperature := agent.get("temperature")
	if !ok || temperature == nil {
		return
	}
	if row, known := flow.LookupModel(vendor, id); known && row.OwnTemperature {
		t.notes = append(t.notes, temperature.Path+" is left out: "+agent.textAt(keyModel)+" has a temperature of its own")
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
	clarifying := func(key string) func(out, value *node) {
		return func(out, value *node) { out.object("clarification", debate.Place).set(key, value) }
	}
	t.object(out, debate, rules{
		"rounds": as("rounds"), "synthesisMethod": as("synthesis"),
		"terminationCondition": func(out, value *node) { out.set("termination", t.termination(value)) },
		"timeoutPerRound":      func(out, value *node) { out.set("roundTimeout", t.milliseconds(value)) },
		"includeFullHistory":   nil, "summarization": nil, "interactiveClarifications": nil,
		"clarificationsMaxPerAgent": clarifying("questions"), "clarificationsMaxIterations": clarifying("iterations"),
		"orchestratorType": func(_, kind *node) { t.orchestrator(kind, debate) },
	}, map[string]string{"trace": "remove it; every conversation is kept, and debate export reads it"})
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
	t.object(out, condition, rules{"type": as("kind"), "threshold": as("threshold")}, nil)
	return out
}

// summaries translates settings of summaries. What is said beside keyEnabled: false applies to nothing.
func (t *translator) summaries(settings *node) *node {
	if settings.form != formObject {
		return settings
	}
	on := settings.get(keyEnabled)
	off := on.is(false)
	out := objectNode(settings.Place)
	if on != nil {
		out.set("off", t.not(on))
	}
	number := func(key string) func(out, value *node) {
		return func(out, value *node) {
			if value.form != formNumber {
				t.wrong.addf(value.Place, "is %s, not a number", value.form)
			} else if !off {
				out.set(key, value)
			}
		}
	}
	t.object(out, settings, rules{
		keyEnabled: nil, "threshold": number("threshold"), "maxLength": number("maxLength"),
		"method": func(_, method *node) {
			if method.value != deliberation.SummaryByLength {
				t.wrong.addf(method.Place, "%w", flow.Unknown("method", method.value, deliberation.SummaryByLength))
			}
		},
	}, map[string]string{"promptPath": ownRole})
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
		if ends := debate.get("terminationCondition").textAt("type"); ends != "" && ends != deliberation.TerminationFixed {
			t.wrong.addf(kind.Place, "is \"classic\", which knows no termination but \"fixed\": remove one of them")
		}
	default:
		t.wrong.addf(kind.Place, "%w", flow.Unknown("orchestrator", kind.value, "state-machine", "classic"))
	}
}
