package settings

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// parseYAML reads a text as one document of YAML. Anchors and merge keys are resolved; what comes out of them counts.
//
// If the root is nil, the mistakes are of the whole text.
func parseYAML(name string, data []byte) (root *node, wrong mistakes) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document, second yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		wrong.addf(Place{name, 1, 1, ""}, "is empty")
		return nil, wrong
	} else if err != nil {
		return nil, mistakes{yamlMistake(name, string(data), err)}
	}
	p := &yamlParser{name: name}
	if err := decoder.Decode(&second); err == nil {
		p.wrong.addf(p.place(&second, ""), "begins a second document: a config is one")
	} else if !errors.Is(err, io.EOF) {
		return nil, mistakes{yamlMistake(name, string(data), err)}
	}
	if len(document.Content) != 1 {
		wrong.addf(Place{name, 1, 1, ""}, "is empty")
		return nil, wrong
	}
	if root = p.value(document.Content[0], p.place(document.Content[0], ""), 0); p.full {
		return nil, p.wrong
	}
	return root, p.wrong
}

// yamlMistake places an error of the parser, which names at most a line.
func yamlMistake(name, text string, err error) *Error {
	at := Place{File: name, Line: 1, Column: 1}
	said := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(said, "line "); ok {
		number, rest, _ := strings.Cut(rest, ": ")
		if line, err := strconv.Atoi(number); err == nil && line > 0 {
			at.Line, said = line, rest
		}
	}
	indent := indentOf(text, at.Line)
	at.Column = 1 + len(indent)
	switch odd := strings.Contains(said, "found character that cannot start any token"); {
	case odd && strings.Contains(indent, "\t"):
		said = "the line is indented by a tab, and YAML takes blanks alone"
	case odd:
		said = "a value cannot begin with this character, such as @, ` or %: put quotes around the value"
	}
	return &Error{at, errors.New("is no YAML: " + said)}
}

// indentOf returns the blanks and tabs with which a line begins.
func indentOf(text string, number int) string {
	lines := strings.SplitN(text, "\n", number+1)
	if number > len(lines) {
		return ""
	}
	line := lines[number-1]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// yamlParser turns the nodes of the YAML parser into those of this package.
type yamlParser struct {
	name string
	tally
}

func (p *yamlParser) place(y *yaml.Node, path string) Place {
	return Place{p.name, max(y.Line, 1), max(y.Column, 1), path}
}

func (p *yamlParser) value(y *yaml.Node, at Place, depth int) *node {
	n := &node{Place: at}
	if !p.count(at, depth) {
		return n
	}
	if (y.Kind == yaml.SequenceNode || y.Kind == yaml.MappingNode) && y.ShortTag() != usualTag(y.Kind) {
		p.refuseTag(at, y)
		return n
	}
	switch y.Kind {
	case yaml.AliasNode:
		return p.value(y.Alias, at, depth+1) // one that holds itself ends at the bound
	case yaml.SequenceNode:
		n.form = formList
		for i, item := range y.Content {
			n.items = append(n.items, p.value(item, p.place(item, at.Path+"["+strconv.Itoa(i)+"]"), depth+1))
		}
	case yaml.MappingNode:
		n.form = formObject
		p.object(n, y, depth)
	default:
		p.scalar(n, y)
	}
	return n
}

// usualTag returns the tag of a list or a mapping for which the file names none.
func usualTag(kind yaml.Kind) string {
	if kind == yaml.SequenceNode {
		return "!!seq"
	}
	return "!!map"
}

// The numbers of YAML 1.2's core schema.
var (
	coreInt   = regexp.MustCompile(`^[-+]?[0-9]+$`)
	coreFloat = regexp.MustCompile(`^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$`)
)

// coreNumber returns a number of the core schema of YAML 1.2 as JSON writes it: 010 is ten. The parser also knows the numbers of YAML
// 1.1, in which 010 is eight and 1_000 a thousand. What only those are is refused, because the two versions read it differently.
func coreNumber(value string) (string, error) {
	sign, digits := "", strings.TrimPrefix(value, "+")
	if rest, negative := strings.CutPrefix(digits, "-"); negative {
		sign, digits = "-", rest
	}
	switch {
	case coreInt.MatchString(value):
		return sign + cmp.Or(strings.TrimLeft(digits, "0"), "0"), nil
	case strings.HasPrefix(value, "0o"), strings.HasPrefix(value, "0x"):
		base := 8
		if value[1] == 'x' {
			base = 16
		}
		if n, err := strconv.ParseUint(value[2:], base, 64); err == nil {
			return strconv.FormatUint(n, 10), nil
		}
	case coreFloat.MatchString(value):
		if number, err := strconv.ParseFloat(value, 64); err == nil {
			data, err := json.Marshal(number)
			return string(data), err
		}
		return "", errors.New("is no number that JSON can say")
	case strings.HasPrefix(digits, "."):
		return "", errors.New("is no number that JSON can say")
	}
	return "", fmt.Errorf("is the number %.40q of YAML 1.1 alone: write it in decimal digits, or in quotes if it is a text", value)
}

// refuseTag reports a tag that would give a value a meaning that JSON does not have.
func (p *yamlParser) refuseTag(at Place, y *yaml.Node) {
	p.wrong.addf(at, "has the tag %s, which a config cannot have", y.ShortTag())
}

func (p *yamlParser) object(n *node, y *yaml.Node, depth int) {
	seen := make(map[string]bool)
	var merged []*yaml.Node
	for i := 0; i+1 < len(y.Content) && !p.full; i += 2 {
		key, value := y.Content[i], y.Content[i+1]
		for key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		at := p.place(y.Content[i], within(n.Path, key.Value))
		switch {
		case key.Kind != yaml.ScalarNode || key.Tag == "!!null":
			p.wrong.addf(p.place(y.Content[i], n.Path), "has a key that is no text")
		case key.Style&yaml.TaggedStyle != 0 && key.ShortTag() != "!!str":
			p.refuseTag(p.place(y.Content[i], n.Path), key)
		case key.Tag == "!!merge":
			merged = append(merged, value)
		case seen[key.Value]:
			p.wrong.addf(at, "is a duplicate")
		default:
			seen[key.Value] = true
			n.members = append(n.members, member{key.Value, p.value(value, at, depth+1)})
		}
	}
	for _, value := range merged {
		p.merge(n, seen, value, depth+1)
	}
}

// merge adds the keys of another mapping, or of several, that an object does not have itself.
func (p *yamlParser) merge(n *node, seen map[string]bool, y *yaml.Node, depth int) {
	from := p.value(y, p.place(y, n.Path), depth)
	all := []*node{from}
	if from.form == formList {
		all = from.items
	}
	for _, one := range all {
		if one.form != formObject {
			if !p.full {
				p.wrong.addf(p.place(y, n.Path), "merges what is no mapping")
			}
			return
		}
		for _, m := range one.members {
			if !seen[m.key] {
				seen[m.key] = true
				n.members = append(n.members, m)
			}
		}
	}
}

// scalar reads a scalar as the core schema of YAML 1.2 does. A date is the text that it is.
func (p *yamlParser) scalar(n *node, y *yaml.Node) {
	switch tag := y.ShortTag(); tag {
	case "!!str", "!!timestamp":
		n.form, n.value = formText, y.Value
	case "!!null":
	case "!!bool":
		var v bool
		if err := y.Decode(&v); err != nil {
			p.wrong.addf(n.Place, "%w", err)
			return
		}
		n.form, n.value = formBool, strconv.FormatBool(v)
	case "!!int", "!!float":
		value, err := coreNumber(y.Value)
		if err != nil {
			p.wrong.addf(n.Place, "%w", err)
			return
		}
		n.form, n.value = formNumber, value
	default:
		p.refuseTag(n.Place, y)
	}
}
