package scripted

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/internal/toolschema"
	"github.com/agonist-dev/debate/provider"
)

// answer returns a small value that a schema allows: the first of each choice, the highest number if there is one, the same words
// everywhere. Participants are taken by the alphabet, since each judge of a debate is shown them in an order that was drawn for it.
func answer(schema *provider.Schema, words string) string {
	var root toolschema.Node
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
	root  *toolschema.Node
	words string
	count int // of the values that were written
}

// value returns a value of a part. i is its place in a list, where each value takes another choice.
func (w *writer) value(n *toolschema.Node, i int) any {
	w.count++
	switch n = n.Plain(w.root); {
	case n == nil || w.count > mostValues:
		return nil
	case len(n.Enum) > 0:
		return n.Enum[i%len(n.Enum)]
	case n.Const != nil:
		return n.Const
	}
	switch n.Kind() {
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
func (w *writer) choices(n *toolschema.Node) (most int) {
	if n = n.Plain(w.root); n == nil {
		return 0
	}
	for _, property := range n.Properties {
		most = max(most, len(property.Enum))
	}
	return most
}
