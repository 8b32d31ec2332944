package agentfile

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// place is where something stands in a file: both numbers count from 1, and 0 means that the number is unknown.
type place struct{ line, column int }

func placeOf(n *yaml.Node) place { return place{n.Line + before, n.Column} }

// finding is what is wrong with a node.
type finding struct {
	node  *yaml.Node
	field string
	err   error
}

var (
	errTwice  = errors.New("is a duplicate")
	errNoJSON = errors.New("cannot be written as JSON")
	errNumber = errors.New("is another number in YAML 1.1 than in YAML 1.2: " +
		"write it in decimal digits without a zero before them, or in quotes " +
		"if it is a text")
)

// oneNumber matches the numbers that both versions of YAML read alike.
var oneNumber = regexp.MustCompile(`^[-+]?(?:0|[1-9][0-9]*|\.[0-9]+)(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?$|^0o[0-7]+$|^0x[0-9a-fA-F]+$`)

// unspeakable finds what JSON cannot express: duplicate keys, keys that are not strings, infinities and NaN, and numbers that the
// versions of YAML read differently. It does not follow
// aliases: what they name is elsewhere in the front matter.
func unspeakable(path string, n *yaml.Node) (found []finding) {
	switch n.Kind {
	case yaml.MappingNode:
		seen := make(map[string]bool)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			at := path + "." + key.Value
			switch tag := key.ShortTag(); {
			case tag != "!!str" && tag != "!!merge":
				found = append(found, finding{key, at, errors.New("is a key that is not a string: write it in quotes")})
			case seen[key.Value]:
				found = append(found, finding{key, at, errTwice})
			}
			seen[key.Value] = true
			found = append(found, unspeakable(at, n.Content[i+1])...)
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			found = append(found, unspeakable(path+"["+strconv.Itoa(i)+"]", item)...)
		}
	case yaml.ScalarNode:
		var number float64
		if n.ShortTag() == "!!float" && n.Decode(&number) == nil && (math.IsNaN(number) || math.IsInf(number, 0)) {
			found = append(found, finding{n, path, errNoJSON})
		} else if tag := n.ShortTag(); (tag == "!!int" || tag == "!!float") && !oneNumber.MatchString(n.Value) {
			found = append(found, finding{n, path, errNumber})
		}
	default: // an alias
	}
	return found
}

// at returns the node of a path such as ".search.domains[0]" within the value of a key: the key that it names, or the item of a
// list. Where the path leads nowhere, it is the last node on the way.
func at(key, value *yaml.Node, path string) *yaml.Node {
	for value.Kind == yaml.AliasNode {
		value = value.Alias
	}
	switch value.Kind {
	case yaml.MappingNode:
		name, ok := strings.CutPrefix(path, ".")
		for i := 0; ok && i+1 < len(value.Content); i += 2 {
			rest, ok := strings.CutPrefix(name, value.Content[i].Value)
			if ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
				return at(value.Content[i], value.Content[i+1], rest)
			}
		}
	case yaml.SequenceNode:
		name, rest, _ := strings.Cut(strings.TrimPrefix(path, "["), "]")
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(value.Content) {
			return at(value.Content[i], value.Content[i], rest)
		}
	default:
	}
	return key
}
