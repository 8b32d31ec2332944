package prompt

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"
)

// A template is a program. What a host program replaces may come with a config that somebody else has written: however it loops, its
// execution ends soon, with an error.

// Bounds of the execution of a template, in bytes, far above what a prompt has.
const (
	mostOutput = 32 << 20  // of all that it writes, steps included
	mostValue  = 128 << 10 // of what one function returns: a template can keep thousands of values
	mostAtOnce = 1 << 20   // of what printf is asked to write
	mostKept   = 1 << 20   // of the memory that is used again
)

var errLong = fmt.Errorf("yields more than %d MiB: it may loop without end", mostOutput>>20)

// page takes what a template writes, up to mostOutput.
type page struct{ bytes.Buffer }

func (p *page) Write(text []byte) (int, error) {
	if p.Len()+len(text) > mostOutput {
		return 0, errLong
	}
	return p.Buffer.Write(text)
}

// step is what a counted template writes for each repetition and each call of another template, so that one that loops and says nothing
// reaches mostOutput soon: its length is what a repetition costs. No prompt has its rune, which is of private use.
const (
	step  = eight + eight + eight + eight + eight + eight + eight + eight
	eight = "\uE003\uE003\uE003\uE003\uE003\uE003\uE003\uE003"
)

// counted makes all templates that stand beside t, but not in base, write their steps.
func counted(t, base *template.Template) error {
	for _, one := range t.Templates() {
		known := base.Lookup(one.Name())
		if one.Tree == nil || parse.IsEmptyTree(one.Root) || known != nil && known.Tree == one.Tree {
			continue
		}
		tree := one.Tree.Copy() // another set may share it
		steps(tree.Root)
		prepend(tree.Root)
		if _, err := t.AddParseTree(one.Name(), tree); err != nil {
			return err
		}
	}
	return nil
}

// steps adds a step to each repetition in a list.
func steps(list *parse.ListNode) {
	if list == nil {
		return
	}
	for _, node := range list.Nodes {
		switch node := node.(type) {
		case *parse.IfNode:
			steps(node.List)
			steps(node.ElseList)
		case *parse.WithNode:
			steps(node.List)
			steps(node.ElseList)
		case *parse.RangeNode:
			steps(node.List)
			steps(node.ElseList)
			prepend(node.List)
		}
	}
}

func prepend(list *parse.ListNode) {
	list.Nodes = slices.Insert(list.Nodes, 0, parse.Node(&parse.TextNode{NodeType: parse.NodeText, Text: []byte(step)}))
}

// functions are those that every template may call. count writes a number with its noun: {{count .Words "word"}}. The others are those of
// text/template that return texts, with a bound.
func functions() template.FuncMap {
	return template.FuncMap{
		"count":    count,
		"print":    func(args ...any) (string, error) { return joinedBy(fmt.Sprint, args) },
		"println":  func(args ...any) (string, error) { return joinedBy(fmt.Sprintln, args) },
		"html":     func(args ...any) (string, error) { return joinedBy(template.HTMLEscaper, args) },
		"js":       func(args ...any) (string, error) { return joinedBy(template.JSEscaper, args) },
		"urlquery": func(args ...any) (string, error) { return joinedBy(template.URLQueryEscaper, args) },
		"printf":   printf,
	}
}

var errValue = fmt.Errorf("a function returns more than %d KiB", mostValue>>10)

// joinedBy writes all arguments with a function that writes each of them once.
func joinedBy(write func(...any) string, args []any) (string, error) {
	size := 0
	for _, arg := range args {
		if text, ok := arg.(string); ok {
			size += len(text)
		}
	}
	if size > mostValue {
		return "", errValue
	}
	return short(write(args...))
}

// printf is that of text/template for formats whose widths and precisions have at most three digits.
func printf(format string, args ...any) (string, error) {
	if wide(format) {
		return "", errors.New("printf: a width or a precision has at most three digits")
	}
	longest := 1000
	for _, arg := range args {
		text, ok := arg.(string)
		if !ok {
			text = fmt.Sprint(arg)
		}
		longest = max(longest, len(text))
	}
	if verbs := strings.Count(format, "%"); verbs > mostAtOnce/longest { // several verbs may write one argument
		return "", errValue
	}
	return short(fmt.Sprintf(format, args...))
}

// wide reports whether a verb of a format has a number of more than three digits, or takes one from an argument.
func wide(format string) bool {
	verb, digits := false, 0
	for i := range len(format) {
		switch c := format[i]; {
		case c == '%':
			verb, digits = true, 0
		case !verb:
		case '0' <= c && c <= '9':
			if digits++; digits > 3 {
				return true
			}
		case c == '*':
			return true
		case strings.IndexByte("+-# .[]", c) >= 0:
			digits = 0
		default:
			verb = false
		}
	}
	return false
}

func short(text string) (string, error) {
	if len(text) > mostValue {
		return "", errValue
	}
	return text, nil
}
