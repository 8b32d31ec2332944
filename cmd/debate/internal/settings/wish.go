package settings

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
)

// Wish is what the command line says of a conversation. What is zero is not said. It takes precedence over a file.
type Wish struct {
	Flow     string
	Problem  string   // what the conversation is about: a problem, a topic or a task
	Agents   []string // only those take part, by role, id or name
	Rounds   *int
	Patience *time.Duration // how long an outage is waited for
	AgentDir string         // of an arbiter's agents
	Format   string         // of a debate
	Judge    string         // the model that judges
	Model    string         // the model of everybody else
	Budget   string         // in USD
	Clarify  bool           // the agents may ask a person
	Labels   map[string]string
	Prompts  map[string]string // texts of templates, by their names
	// Texts and Files belong to what the conversation is about. Files are images and PDFs.
	Texts []Text
	Files []flow.File
	// Usual are the defaults of the user: a file goes before them.
	Usual Defaults
	// Unattended applies if the file does not say whether a person can be asked.
	Unattended bool
	// Script is the model that plays all others; "": each is asked itself.
	Script string
	// Has reports whether a vendor can be asked. The default model is of the first vendor that can.
	Has func(vendor string) bool
}

// Flows returns the names of the flows that a conversation can have.
func Flows() []string {
	return []string{deliberation.FlowName, debate.FlowName, arbiter.FlowName}
}

// subject returns the key of what a conversation of the flow is about.
func subject(flow string) string {
	switch flow {
	case debate.FlowName:
		return "topic"
	case arbiter.FlowName:
		return "task"
	default:
		return "problem"
	}
}

// cast returns the key of those who take part.
func cast(flow string) string {
	if flow == debate.FlowName {
		return "participants"
	}
	return "agents"
}

// flag returns the place of a flag of the command line.
func flag(name string) Place { return Place{Path: "--" + name} }

// flags puts what the command line says into a config.
func (d *draft) flags(w *Wish) {
	root := d.root
	if w.Problem != "" {
		root.set(subject(d.flow), textNode(Place{Path: argument}, w.Problem))
	}
	if w.Rounds != nil {
		key := "rounds"
		if d.flow == arbiter.FlowName {
			key = "maxIterations"
		}
		if *w.Rounds < 1 {
			d.wrong.addf(flag("rounds"), "is at least 1")
		} else {
			root.set(key, numberNode(flag("rounds"), strconv.Itoa(*w.Rounds)))
		}
	}
	if w.Patience != nil && *w.Patience <= 0 {
		d.wrong.addf(flag("patience"), "is not longer than 0")
	} else if w.Patience != nil {
		root.set("patience", textNode(flag("patience"), w.Patience.String()))
	}
	if w.Format != "" && d.only("format", debate.FlowName) {
		root.set("format", textNode(flag("format"), w.Format))
	}
	if w.Clarify && d.only("clarify", deliberation.FlowName) {
		root.object("clarification", flag("clarify")).set("on", boolNode(flag("clarify"), true))
		root.set("unattended", boolNode(flag("clarify"), false))
	}
	if root.get("unattended") == nil {
		confirmed := root.get("budget").get("confirm").is(true) // by a person, whom the conversation waits for
		root.set("unattended", boolNode(Place{Path: "unattended"}, w.Unattended && !confirmed))
	}
	if w.Budget != "" {
		d.budget(w.Budget, flag("budget"))
	} else if usual := w.Usual.said.Budget; usual > 0 && root.get("budget") == nil {
		d.budget(usual.String(), w.Usual.at("budget"))
	}
	d.texts("labels", "label", w.Labels)
	d.texts("prompts", "prompt", w.Prompts)
}

// texts adds the texts of a flag to an object of the config, in the order of their keys.
func (d *draft) texts(key, name string, all map[string]string) {
	if len(all) == 0 {
		return
	}
	object := d.root.object(key, flag(name))
	for one, value := range all {
		object.set(one, textNode(flag(name), value))
	}
	slices.SortFunc(object.members, func(a, b member) int { return strings.Compare(a.key, b.key) })
}

// only reports whether the config is of the only flow that a flag is for.
func (d *draft) only(name, flow string) bool {
	if d.flow != flow {
		d.wrong.addf(flag(name), "is for the flow %s, and the flow is %s", flow, d.flow)
	}
	return d.flow == flow
}

// budget limits the cost: at the soft limit the rounds end, so that the same amount is enough for the conclusion.
func (d *draft) budget(usd string, at Place) {
	amount, err := strconv.ParseFloat(strings.TrimPrefix(usd, "$"), 64)
	if err != nil || !(amount > 0) || amount > 1e9 {
		d.wrong.addf(at, "is %q, not an amount of USD such as 0.50", usd)
		return
	}
	limits := d.root.object("budget", at)
	number := strconv.FormatFloat(amount, 'f', -1, 64)
	limits.set("soft", numberNode(at, number))
	limits.set("hard", numberNode(at, number))
}

// models puts the models of the command line into a config that is complete otherwise.
func (d *draft) models(w *Wish) {
	if w.Model != "" {
		at := flag(keyModel)
		for _, agent := range d.root.get(cast(d.flow)).list() {
			replaceModel(agent, w.Model, at)
		}
		for _, key := range []string{keyJudge, "arbiter"} {
			replaceModel(d.root.get(key), w.Model, at)
		}
		for _, judge := range d.root.get("judging").get("judges").list() {
			replaceModel(judge, w.Model, at)
		}
		if s := d.root.textAt("summarizer"); s != "" && s != "none" {
			d.root.set("summarizer", textNode(at, w.Model))
		}
	}
	if w.Judge == "" {
		return
	}
	at := flag("judge")
	switch d.flow {
	case debate.FlowName:
		judge := objectNode(at)
		judge.set(keyModel, textNode(at, w.Judge))
		d.root.object("judging", at).set("judges", &node{form: formList, items: []*node{judge}, Place: at})
	case arbiter.FlowName:
		replaceModel(d.root.object("arbiter", at), w.Judge, at)
	default:
		replaceModel(d.root.object(keyJudge, at), w.Judge, at)
	}
}

// replaceModel makes a model that of an agent or a judge. Those that are no model stay what they are.
func replaceModel(of *node, model string, at Place) {
	if of == nil || of.form != formObject {
		return
	}
	for _, other := range []string{"function", "person", keyJudge} {
		if of.get(other) != nil {
			return
		}
	}
	of.remove("fallbacks")
	of.set(keyModel, textNode(at, model))
}

// choose leaves those who take part that were named at a place, by role, id or name. It reports whether there are all of them.
func (d *draft) choose(names []string, at Place) bool {
	list := d.root.get(cast(d.flow))
	if len(names) == 0 || list == nil || list.form != formList {
		return true
	}
	var there []string
	used := make([]bool, len(names))
	kept := list.items[:0:0]
	for _, one := range list.items {
		if one.get("disabled").is(true) {
			continue
		}
		own := called(one)
		chosen := false
		for i, name := range names {
			if slices.Contains(own, name) || one.textAt("role") == roleOf(textNode(Place{}, name)).value {
				chosen, used[i] = true, true
			}
		}
		if chosen {
			kept = append(kept, one)
		}
		there = append(there, own...)
	}
	found := true
	for i, name := range names {
		if !used[i] {
			found = false
			d.wrong.addf(at, "%w", flow.Unknown(strings.TrimSuffix(cast(d.flow), "s"), name, there...))
		}
	}
	out := *list
	out.items = kept
	out.Place = at // how many they are was chosen there
	d.root.set(cast(d.flow), &out)
	return found
}

// called returns by what somebody can be chosen.
func called(one *node) (all []string) {
	for _, key := range []string{"role", "id", keyName} {
		if own := one.textAt(key); own != "" {
			all = append(all, own)
		}
	}
	return all
}

// nodeOf makes a node of a value of the library.
func nodeOf(at Place, value any) *node {
	data, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	n, _ := parseJSON("", string(data))
	n.move(at, at.Path)
	return n
}

// move gives a node and what it holds another place.
func (n *node) move(at Place, path string) {
	n.Place = at
	n.Path = path
	for i, item := range n.items {
		item.move(at, path+"["+strconv.Itoa(i)+"]")
	}
	for _, m := range n.members {
		m.value.move(at, within(path, m.key))
	}
}

// json returns a node as JSON.
func (n *node) json() []byte {
	var out bytes.Buffer
	n.encode(&out)
	return out.Bytes()
}
