package settings

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/deliberation/evaluation"
)

// OpenEvaluation makes the config of an evaluation. about says what is scored, and whether a person can be asked. The
// evaluators come from a file, unless path is empty, or are one for each of the models. The error joins an [Error] for each mistake
// that can be seen without an engine. If it is about some fields only, the settings are returned too, so that Check can find
// the others.
func OpenEvaluation(path string, models []string, about *evaluation.Config) (*Settings, error) {
	d := &draft{flow: evaluation.FlowName, root: objectNode(Place{})}
	if path != "" {
		source, err := Open(path)
		if err != nil {
			return nil, err
		}
		d.file, d.root, d.wrong = source.File, source.root, source.wrong
	}
	if d.root.get("agents") != nil {
		d.translate((*translator).evaluation)
	}
	d.scored(about)
	d.evaluators(models)
	promptsOf(d.root)
	return d.settings(d.decode())
}

// SavedSolution returns what is to be scored of a debate that dialectic has saved, as JSON: its problem, its context and its final
// solution.
func SavedSolution(data []byte) (evaluation.Config, error) {
	var saved struct {
		Problem       string `json:"problem"`
		Context       string `json:"context"`
		FinalSolution *struct {
			Description     string   `json:"description"`
			Tradeoffs       []string `json:"tradeoffs"`
			Recommendations []string `json:"recommendations"`
		} `json:"finalSolution"`
	}
	if err := json.Unmarshal(data, &saved); err != nil {
		return evaluation.Config{}, errors.New("is no debate that dialectic has saved: it is no JSON of that form")
	}
	if saved.Problem == "" || saved.FinalSolution == nil {
		return evaluation.Config{}, errors.New("is no debate with a solution that dialectic has saved: problem or finalSolution is missing")
	}
	var solution strings.Builder
	solution.WriteString(strings.TrimSpace(saved.FinalSolution.Description))
	for _, part := range []struct {
		title string
		items []string
	}{{"Trade-offs", saved.FinalSolution.Tradeoffs}, {"Recommendations", saved.FinalSolution.Recommendations}} {
		if len(part.items) > 0 {
			solution.WriteString("\n\n## " + part.title + "\n\n- " + strings.Join(part.items, "\n- "))
		}
	}
	return evaluation.Config{Problem: saved.Problem, Context: saved.Context, Solution: solution.String()}, nil
}

// scored puts what is scored into the config. A file cannot say it: that is a stored solution.
func (d *draft) scored(about *evaluation.Config) {
	for _, part := range []struct{ key, text string }{
		{"problem", about.Problem}, {"context", about.Context}, {"solution", about.Solution},
	} {
		if said := d.root.remove(part.key); said != nil {
			d.wrong.addf(said.Place, "is that of the deliberation: remove it")
		}
		if part.text != "" {
			d.root.set(part.key, textNode(Place{Path: part.key}, part.text))
		}
	}
	if d.root.get("unattended") == nil {
		d.root.set("unattended", boolNode(Place{Path: "unattended"}, about.Unattended))
	}
}

// evaluators adds an evaluator for each model. Without any, the file has to have one.
func (d *draft) evaluators(models []string) {
	list := d.root.get("evaluators")
	switch {
	case len(models) > 0:
		at := flag("evaluator")
		list = &node{form: formList, Place: at}
		for i, model := range models {
			one := objectNode(at)
			one.set("id", textNode(at, "evaluator-"+strconv.Itoa(i+1)))
			one.set(keyModel, textNode(at, model))
			list.items = append(list.items, one)
		}
		d.root.set("evaluators", list)
	case list == nil:
		d.wrong.addf(Place{File: d.file}, "has no evaluators")
		d.cut = append(d.cut, "evaluators")
	}
}

// Evaluates reports whether a file holds evaluators, and no conversation: it has the key evaluators, or nothing but agents as the public
// program lists its evaluators, none of whom has a role or uses a tool.
func (s *Source) Evaluates() bool {
	if s.root.get("evaluators") != nil {
		return true
	}
	agents, known := s.root.get("agents").list(), new(translator).evaluator(nil)
	odd := func(m member) bool { _, ok := known[m.key]; return !ok }
	none := func(one *node) bool { return one.form != formObject || slices.ContainsFunc(one.members, odd) }
	return len(s.root.members) == 1 && len(agents) > 0 && !slices.ContainsFunc(agents, none)
}

// evaluation returns the config of an evaluation that a file of evaluators in the public program's shape describes.
func (t *translator) evaluation(root *node) *node {
	out := objectNode(root.Place)
	t.object(out, root, rules{"agents": func(out, list *node) { out.set("evaluators", t.evaluators(list, out)) }}, nil)
	return out
}

// evaluators translates the evaluators that are on. What they have in common goes into the config.
func (t *translator) evaluators(list, out *node) *node {
	on := *list
	on.items = nil
	var waits []*node // how long each may take
	for _, one := range list.items {
		enabled := one.get(keyEnabled)
		if enabled != nil && enabled.form != formBool {
			t.wrong.addf(enabled.Place, "is %s, not true or false", enabled.form)
		}
		translated := one
		if one.form == formObject {
			translated = objectNode(one.Place)
			t.object(translated, one, t.evaluator(one), map[string]string{
				"userPromptPath": "what evaluators read is the same for all; systemPromptPath says who one is",
			})
			translated.set(keyModel, t.model(one))
		}
		if enabled.is(false) {
			continue
		}
		on.items = append(on.items, translated)
		waits = append(waits, one.get("timeout"))
	}
	if list.form == formList && len(list.items) > 0 && len(on.items) == 0 {
		t.wrong.addf(list.Place, "are all off: at least one has to be enabled")
		t.cut = append(t.cut, list.Path)
	}
	for i, wait := range waits {
		if first := waits[0]; valueOf(wait) != valueOf(first) {
			t.wrong.addf(cmp.Or(wait, first, on.items[i]).Place, "differs between the evaluators: all share one timeout")
			return &on
		}
	}
	if len(waits) > 0 && waits[0] != nil {
		out.set("turnTimeout", t.milliseconds(waits[0]))
	}
	return &on
}

// valueOf returns what a scalar says; "": there is none.
func valueOf(n *node) string {
	if n == nil {
		return ""
	}
	return n.value
}

// evaluator says what becomes of the keys of an evaluator.
func (t *translator) evaluator(one *node) rules {
	return rules{
		"id": as("id"), keyModel: nil, "provider": nil, "timeout": nil, keyEnabled: nil,
		keyName: func(out, name *node) {
			switch {
			case name.form != formText:
				t.wrong.addf(name.Place, "is %s, not a text", name.form)
			case one.get("id") == nil:
				out.set("id", name)
			default:
				t.notes = append(t.notes, name.Path+" has no effect: evaluators are called by their ids")
			}
		},
		"systemPromptPath": as("promptFile"), "systemPrompt": t.prompt(one),
	}
}
