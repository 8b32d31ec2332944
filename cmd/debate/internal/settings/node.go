package settings

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// form is what a node is, in the words of JSON.
type form int

const (
	formNull form = iota
	formBool
	formNumber
	formText
	formList
	formObject
)

// String names a form as the mistakes of package flow do.
func (f form) String() string {
	return [...]string{"null", "true or false", "a number", "a text", "a list", "an object"}[f]
}

// node is a value of a config file that knows where it stands. Files of either syntax become a tree of nodes. All that is
// done to a config before a flow reads it (translating another program's fields, putting in defaults and flags) moves
// nodes, so that a mistake which is found at the end still has the place where somebody wrote it.
type node struct {
	form    form
	value   string  // of a text; a number and a bool as JSON writes them
	items   []*node // of a list
	members []member
	Place
}

// Keys of many objects.
const (
	keyName    = "name"
	keyModel   = "model"
	keyEnabled = "enabled"
)

// member is a key of an object with its value. The value's place is that of the key.
type member struct {
	key   string
	value *node
}

// textNode, numberNode, boolNode and objectNode make nodes that stand in no file.
func textNode(at Place, value string) *node { return &node{form: formText, value: value, Place: at} }

func numberNode(at Place, value string) *node {
	return &node{form: formNumber, value: value, Place: at}
}

func boolNode(at Place, value bool) *node {
	return &node{form: formBool, value: strconv.FormatBool(value), Place: at}
}

func objectNode(at Place) *node { return &node{form: formObject, Place: at} }

// is reports whether a node is this truth value. A nil node is neither.
func (n *node) is(truth bool) bool {
	return n != nil && n.form == formBool && n.value == strconv.FormatBool(truth)
}

// at returns which member of an object has a key; -1: none, or it is no object.
func (n *node) at(key string) int {
	if n == nil {
		return -1
	}
	return slices.IndexFunc(n.members, func(m member) bool { return m.key == key })
}

// get returns the value under a key of an object; nil: there is none, or no object.
func (n *node) get(key string) *node {
	if at := n.at(key); at >= 0 {
		return n.members[at].value
	}
	return nil
}

// textAt returns the text under a key of an object; "" if it is missing or no text.
func (n *node) textAt(key string) string {
	if v := n.get(key); v != nil && v.form == formText {
		return v.value
	}
	return ""
}

// set puts a value under a key of an object, in the place of another one. nil: it does nothing.
func (n *node) set(key string, value *node) {
	switch at := n.at(key); {
	case value == nil:
	case at >= 0:
		n.members[at].value = value
	default:
		n.members = append(n.members, member{key, value})
	}
}

// remove takes a key out of an object, and returns its value, or nil.
func (n *node) remove(key string) *node {
	at := n.at(key)
	if at < 0 {
		return nil
	}
	value := n.members[at].value
	n.members = append(n.members[:at:at], n.members[at+1:]...)
	return value
}

// object returns the object under a key. If there is none, it makes one.
func (n *node) object(key string, at Place) *node {
	if v := n.get(key); v != nil {
		return v
	}
	v := objectNode(at)
	n.set(key, v)
	return v
}

// find follows the path of a field, such as "agents[1].model", as far as there are nodes. It returns the last node, the
// node that holds it, and the rest of the path: "" if the field was found.
func (n *node) find(path string) (found, parent *node, rest string) {
	path = strings.TrimPrefix(path, ".")
	if path == "" {
		return n, nil, ""
	}
	var next *node
	rest = path
	switch n.form {
	case formObject:
		longest := -1 // a key may hold dots
		for i := range n.members {
			after, ok := strings.CutPrefix(path, n.members[i].key)
			if ok && (after == "" || after[0] == '.' || after[0] == '[') && len(n.members[i].key) > longest {
				longest, next, rest = len(n.members[i].key), n.members[i].value, after
			}
		}
	case formList:
		index, after, ok := strings.Cut(strings.TrimPrefix(path, "["), "]")
		if i, err := strconv.Atoi(index); ok && err == nil && i >= 0 && i < len(n.items) {
			next, rest = n.items[i], after
		}
	default:
	}
	if next == nil {
		return n, nil, path
	}
	found, parent, rest = next.find(rest)
	if found == next {
		parent = n
	}
	return found, parent, rest
}

// placeOf returns where a field of the finished config stands in what a person wrote.
func (n *node) placeOf(field string) Place {
	found, _, rest := n.find(field)
	at := found.Place
	switch {
	case rest == "":
	case at.Path == "" || rest[0] == '[':
		at.Path += rest
	default:
		at.Path += "." + rest
	}
	return at
}

// encode writes a node as JSON.
func (n *node) encode(out *bytes.Buffer) {
	switch n.form {
	case formNull:
		out.WriteString("null")
	case formBool, formNumber:
		out.WriteString(n.value)
	case formText:
		encodeText(out, n.value)
	case formList:
		out.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				out.WriteByte(',')
			}
			item.encode(out)
		}
		out.WriteByte(']')
	case formObject:
		out.WriteByte('{')
		for i, m := range n.members {
			if i > 0 {
				out.WriteByte(',')
			}
			encodeText(out, m.key)
			out.WriteByte(':')
			m.value.encode(out)
		}
		out.WriteByte('}')
	}
}

func encodeText(out *bytes.Buffer, text string) {
	data, err := json.Marshal(text)
	if err != nil { // a string can always be written
		return
	}
	out.Write(data)
}
