package demo

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/internal/toolschema"
	"github.com/agonist-dev/debate/provider"
)

// answer returns a value that matches a schema, and says something sensible in each of its fields.
func (s *scene) answer(schema *provider.Schema) (string, error) {
	var root toolschema.Node
	if err := json.Unmarshal(schema.JSON, &root); err != nil {
		return "", fmt.Errorf("read the schema %s: %w", schema.Name, err)
	}
	if s.scale = 100; strings.HasPrefix(schema.Name, "assessment") { // of a round; schemas of debates have no bounds
		s.scale = 10
	}
	value := (&writer{s, &root}).value(&root, "", 0)
	if fields, ok := value.(map[string]any); ok {
		s.decide(fields, &root)
	}
	data, err := json.Marshal(value)
	return string(data), err
}

// writer writes a value for a schema.
type writer struct {
	scene *scene
	root  *toolschema.Node
}

// value returns the value of a field. i is its number in a list.
func (w *writer) value(n *toolschema.Node, field string, i int) any {
	switch n = n.Plain(w.root); {
	case n == nil:
		return nil
	case len(n.Enum) > 0:
		return n.Enum[i%len(n.Enum)]
	case n.Const != nil:
		return n.Const
	}
	switch n.Kind() {
	case "object":
		return w.object(n, field, i)
	case "array":
		return w.list(n, field, i)
	case "integer", "number":
		return w.scene.number(n, field, i)
	case "boolean":
		return w.scene.truth(field)
	case "null":
		return nil
	}
	texts := w.scene.texts(field)
	return texts[i%len(texts)]
}

// object returns an object. The keys of marks and findings are names, so their values differ by key.
func (w *writer) object(n *toolschema.Node, field string, i int) any {
	out := make(map[string]any)
	for at, key := range n.Required {
		if field == "scores" || field == "criteria" {
			out[key] = w.value(n.Properties[key], field, at)
		} else {
			out[key] = w.value(n.Properties[key], key, i)
		}
	}
	return out
}

// list returns a list: of one value for each name, where a name of the schema makes it about somebody; of the authors,
// where they are to be ranked; else of as many as there is to say, about another person (i) beginning with another text.
func (w *writer) list(n *toolschema.Node, field string, i int) any {
	if field == "ranking" {
		return append([]string{}, w.scene.authors...)
	}
	count := max(len(w.scene.texts(field)), n.MinItems)
	if people := about(n.Items); people > 0 {
		count = people
	} else if n.Items.Kind() == "object" {
		count = max(len(w.scene.texts("text")), n.MinItems)
	}
	out := make([]any, count)
	for at := range out {
		out[at] = w.value(n.Items, field, i+at)
	}
	return out
}

// about returns how many people the objects of a list are about; 0: they are about nobody in particular.
func about(n *toolschema.Node) int {
	if n == nil {
		return 0
	}
	for _, key := range []string{"participant", "name", "criterion"} {
		if who := n.Properties[key]; who != nil && len(who.Enum) > 0 {
			return len(who.Enum)
		}
	}
	return 0
}

// number returns a mark. It grows with the rounds and differs between people.
func (s *scene) number(n *toolschema.Node, field string, i int) any {
	high := s.scale
	if n.Maximum != nil {
		high = *n.Maximum
	}
	share := min(0.58+0.1*float64(max(s.round, 1)), 0.9) - 0.05*float64(i)
	if field == "confidence" && s.round == 0 { // of a solution or a verdict
		share = 0.82
	}
	number := n.Minimum + share*(high-n.Minimum)
	if n.Kind() == "integer" {
		return int(number)
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(number, 'f', 1, 64), 64)
	if err != nil { // it was just written
		return number
	}
	return rounded
}

func (s *scene) truth(field string) bool {
	switch field {
	case "repetitive", "drifting", "diminishingReturns", "convergenceReached":
		return false
	default:
		return true
	}
}

// decide corrects what depends on the conversation: whom an arbiter selects, and how a listener votes.
func (s *scene) decide(answer map[string]any, schema *toolschema.Node) {
	if _, ok := answer["move"]; ok {
		s.move(answer, schema)
	}
	if schema.Properties["planUpdates"] != nil {
		answer["planUpdates"] = s.plan()
	}
	if _, ok := answer["vote"]; ok {
		answer["vote"] = "undecided"
		if strings.Contains(s.last, "The debate is over") {
			answer["vote"] = s.pick("for", "against")
		}
	}
}

// left matches how an arbiter is told how far the work is.
func left() *regexp.Regexp { return regexp.MustCompile(`(\d+) of (\d+) iterations are left`) }

// move lets each agent act once, in their order, and then completes the work.
func (s *scene) move(answer map[string]any, schema *toolschema.Node) {
	var agents, moves []any
	if n := schema.Properties["agents"]; n != nil && n.Items != nil {
		agents = n.Items.Enum
	}
	if n := schema.Properties["move"]; n != nil {
		moves = n.Enum
	}
	acted := 0
	if found := left().FindStringSubmatch(s.last); found != nil {
		still, _ := strconv.Atoi(found[1]) // they are digits
		all, _ := strconv.Atoi(found[2])
		acted = all - still
	}
	answer["summary"], answer["agents"] = "", []any{}
	switch {
	case acted < len(agents):
		answer["move"], answer["agents"] = "select", []any{agents[acted]}
		answer["reason"] = fmt.Sprintf("%v is next: build on what is there, and say what is still missing.", agents[acted])
	case len(moves) > 0:
		answer["move"] = moves[len(moves)-1] // complete, wherever it is legal
		answer["reason"] = "Each agent has done its part, and the last one found nothing that stands in the way."
		answer["summary"] = s.texts("solution")[0]
	}
}
