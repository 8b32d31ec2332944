package toolschema

import "strings"

// Node is the part of a JSON schema that it takes to make a value which the schema allows.
type Node struct {
	Type       any              `json:"type"`
	Enum       []any            `json:"enum"`
	Const      any              `json:"const"`
	Properties map[string]*Node `json:"properties"`
	Required   []string         `json:"required"`
	Items      *Node            `json:"items"`
	MinItems   int              `json:"minItems"`
	Minimum    float64          `json:"minimum"`
	Maximum    *float64         `json:"maximum"`
	AnyOf      []*Node          `json:"anyOf"`
	OneOf      []*Node          `json:"oneOf"`
	Ref        string           `json:"$ref"`
	Defs       map[string]*Node `json:"$defs"`
}

// Plain returns the node that says what a value is: that to which references lead, whose definitions root has, and the first of
// alternatives. It returns nil if there is none.
func (n *Node) Plain(root *Node) *Node {
	for range maxLevels {
		switch {
		case n == nil:
			return nil
		case n.Ref != "":
			n = root.Defs[strings.TrimPrefix(n.Ref, "#/$defs/")]
		case len(n.Enum) > 0 || n.Const != nil:
			return n
		case len(n.AnyOf) > 0:
			n = n.AnyOf[0]
		case len(n.OneOf) > 0:
			n = n.OneOf[0]
		default:
			return n
		}
	}
	return nil
}

// Kind returns the type of a value: the first of several; "" of nil.
func (n *Node) Kind() string {
	if n == nil {
		return ""
	}
	if all, ok := n.Type.([]any); ok && len(all) > 0 {
		first, _ := all[0].(string)
		return first
	}
	kind, _ := n.Type.(string)
	return kind
}
