package demo

import (
	"encoding/json"
	"fmt"

	"github.com/agonist-dev/debate/provider"
)

// node is the part of a JSON schema that the schemas of the flows use.
type node struct {
	Type       any              `json:"type"`
	Enum       []any            `json:"enum"`
	Const      any              `json:"const"`
	Properties map[string]*node `json:"properties"`
	Required   []string         `json:"required"`
	Items      *node            `json:"items"`
	MinItems   int              `json:"minItems"`
	Minimum    float64          `json:"minimum"`
	Maximum    float64          `json:"maximum"`
	AnyOf      []*node          `json:"anyOf"`
	Ref        string           `json:"$ref"`
	Defs       map[string]*node `json:"$defs"`
}

// instance returns a value that matches a schema.
func instance(schema *provider.Schema) (string, error) {
	var root node
	if err := json.Unmarshal(schema.JSON, &root); err != nil {
		return "", fmt.Errorf("read the schema %s: %w", schema.Name, err)
	}
	data, err := json.Marshal(root.value(""))
	return string(data), err
}

func (n *node) value(name string) any {
	switch {
	case len(n.Enum) > 0:
		return n.Enum[0]
	case n.Const != nil:
		return n.Const
	case len(n.AnyOf) > 0:
		return n.AnyOf[0].value(name)
	}
	kind, _ := n.Type.(string)
	if kinds, ok := n.Type.([]any); ok && len(kinds) > 0 {
		kind, _ = kinds[0].(string)
	}
	switch kind {
	case "object":
		out := make(map[string]any)
		for _, key := range n.Required {
			out[key] = n.Properties[key].value(key)
		}
		return out
	case "array":
		out := make([]any, max(n.MinItems, 1))
		for i := range out {
			out[i] = n.Items.value(name)
		}
		return out
	case "integer", "number":
		return max(n.Minimum, min(n.Maximum, 80))
	case "boolean":
		return true
	default:
		return "The " + name + " of the demonstration."
	}
}
