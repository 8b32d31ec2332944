package scripted

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/provider"
)

// node is the part of a JSON schema that an answer is made of.
type node struct {
	Type       any              `json:"type"`
	Enum       []any            `json:"enum"`
	Const      any              `json:"const"`
	Properties map[string]*node `json:"properties"`
	Required   []string         `json:"required"`
	Items      *node            `json:"items"`
	MinItems   int              `json:"minItems"`
	Maximum    *float64         `json:"maximum"`
	AnyOf      []*node          `json:"anyOf"`
	OneOf      []*node          `json:"oneOf"`
	Ref        string           `json:"$ref"`
	Defs       map[string]*node `json:"$defs"`
}

// answer returns a small value that a schema allows: the first of each choice, the highest number if there is one, the same words
// everywhere. Participants are taken by the alphabet, since each judge of a debate is shown them in an order that was drawn for it.
func answer(schema *provider.Schema, words string) string {
	var root node
	if err := json.Unmarshal(schema.JSON, &root); err != nil {
		return words // no schema: the answer is refused as any other text is
	}
	data, _ := json.Marshal((&writer{root: &root, words: words}).value(&root, 0)) //nolint:errchkjson // values that JSON has
	return string(data)
}

// mostValues bounds the values of an answer: a schema may refer to itself.
const mostValues = 4096

// writer writes values for the parts of one schema.
type writer struct {
	root  *node
	words string
	count int // of the values that were written
}

// value returns a value of a part. i is its place in a list, where each value takes another choice.
func (w *writer) value(n *node, i int) any {
	w.count++
	switch {
	case n == nil || w.count > mostValues:
		return nil
	case n.Ref != "":
		return w.value(w.at(n.Ref), i)
	case len(n.Enum) > 0:
		return n.Enum[i%len(n.Enum)]
	case n.Const != nil:
		return n.Const
	case len(n.AnyOf) > 0:
		return w.value(n.AnyOf[0], i)
	case len(n.OneOf) > 0:
		return w.value(n.OneOf[0], i)
	}
	switch n.kind() {
	case "object":
		out := make(map[string]any, len(n.Required))
		for _, key := range n.Required {
			if who := n.Properties[key]; key == "participant" && who != nil && len(who.Enum) > 0 {
				out[key] = byName(who.Enum)[i%len(who.Enum)]
			} else {
				out[key] = w.value(who, i)
			}
		}
		return out
	case "array":
		out := make([]any, min(max(n.MinItems, w.choices(n.Items)), mostValues))
		for at := range out {
			out[at] = w.value(n.Items, at)
		}
		return out
	case "integer", "number":
		if n.Maximum != nil {
			return *n.Maximum
		}
		return 1
	case "boolean":
		return false
	case "null":
		return nil
	default:
		return w.words
	}
}

// byName returns names in the order of the alphabet.
func byName(names []any) []any {
	return slices.SortedFunc(slices.Values(names), func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
}

// choices returns how many objects of a list it takes to name everybody whom they may be about; 0: they are about nobody.
func (w *writer) choices(n *node) int {
	for range mostValues {
		if n == nil || n.Ref == "" {
			break
		}
		n = w.at(n.Ref)
	}
	if n == nil {
		return 0
	}
	most := 0
	for _, property := range n.Properties {
		most = max(most, len(property.Enum))
	}
	return most
}

// at returns the part that a reference names; nil: there is none.
func (w *writer) at(ref string) *node { return w.root.Defs[strings.TrimPrefix(ref, "#/$defs/")] }

// kind returns the type of a schema: the first of several.
func (n *node) kind() string {
	if all, ok := n.Type.([]any); ok && len(all) > 0 {
		first, _ := all[0].(string)
		return first
	}
	kind, _ := n.Type.(string)
	return kind
}
