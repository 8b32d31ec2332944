package prompt

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"text/template/parse"
)

// shown is what a replacement has to show, whatever its data hold: a part, or the value of a field where there is one. It is looked for in
// the tree. Texts that were rendered of samples would tell less, since a template can know the samples.
type shown struct {
	what, mend  string
	part, field string // one of them
}

// shows returns an error if the tree of a replacement lacks something that the template has to show.
func (t Template) shows(name string, root *parse.ListNode) error {
	if t.Fenced && name == partFence {
		if !marks(root) {
			return fmt.Errorf("never explains the markers: write <<<{{.%s}} …>>> and <<<end {{.%[1]s}}>>> outside of {{if}} and {{with}}",
				fieldFence)
		}
		return nil
	}
	var all []shown
	if t.Fenced {
		all = append(all, shown{what: "explains the markers", mend: `use {{template "fence" .}}`, part: partFence})
	}
	if t.Asks {
		all = append(all, shown{what: "says which fields the answer has", mend: "use {{.Fields}}", field: fieldFields})
	}
	if (t.Fenced || t.Asks) && slices.ContainsFunc(t.Samples, instructs) {
		all = append(all, shown{what: "shows the instructions of a config", mend: "use {{.Instructions}}", field: fieldInstructions})
	}
	for i := range all {
		s := &all[i]
		switch always, ever := s.in(root, dotAll); {
		case always:
		case !ever:
			return fmt.Errorf("never %s: %s", s.what, s.mend)
		default:
			return fmt.Errorf("%s only where certain values are given: %s outside of {{if}} and {{with}}", s.what, s.mend)
		}
	}
	return nil
}

// Fields of data that replacements have to show.
const (
	fieldFence        = "Fence"
	fieldFields       = "Fields"
	fieldInstructions = "Instructions"
)

// instructs reports whether a sample has instructions of the host program.
func instructs(sample any) bool {
	data := reflect.Indirect(reflect.ValueOf(sample))
	if data.Kind() != reflect.Struct {
		return false
	}
	field, ok := data.Type().FieldByName(fieldInstructions)
	if !ok {
		return false
	}
	value, err := data.FieldByIndexErr(field.Index) // it may be that of an embedded pointer
	return err == nil && value.Kind() == reflect.String && value.String() == SampleInstructions
}

// dot is what a dot stands for.
type dot uint8

const (
	dotAll   dot = iota // all data
	dotValue            // the value of the field
	dotOther            // something else
)

// in reports whether a list shows it on each way through, and whether it does on some.
func (s *shown) in(list *parse.ListNode, at dot) (always, ever bool) {
	if list == nil {
		return false, false
	}
	for _, node := range list.Nodes {
		here, some := s.by(node, at)
		always, ever = always || here, ever || some
	}
	return always, ever
}

// by reports the same of a node.
func (s *shown) by(node parse.Node, at dot) (always, ever bool) {
	switch node := node.(type) {
	case *parse.ActionNode:
		_, itself := operand(node.Pipe).(*parse.DotNode)
		here := len(node.Pipe.Decl) == 0 && (itself && at == dotValue || s.value(node.Pipe, at))
		return here, here
	case *parse.TemplateNode:
		here := s.part != "" && node.Name == s.part && whole(node.Pipe, at)
		return here, here
	case *parse.IfNode:
		return s.branch(&node.BranchNode, at, at)
	case *parse.WithNode:
		inside := dotOther
		if s.value(node.Pipe, at) {
			inside = dotValue
		}
		return s.branch(&node.BranchNode, at, inside)
	case *parse.RangeNode:
		_, ever = s.branch(&node.BranchNode, at, dotOther)
		return false, ever
	default:
		return false, false
	}
}

// branch reports the same of a condition. Where there is no value, none has to be shown.
func (s *shown) branch(node *parse.BranchNode, at, inside dot) (always, ever bool) {
	first, some := s.in(node.List, inside)
	second, others := s.in(node.ElseList, at)
	return first && (second || s.value(node.Pipe, at)), some || others
}

// value reports whether something is the value of the field, and nothing else.
func (s *shown) value(pipe *parse.PipeNode, at dot) bool {
	if s.field == "" {
		return false
	}
	switch node := operand(pipe).(type) {
	case *parse.FieldNode:
		return at == dotAll && slices.Equal(node.Ident, []string{s.field})
	case *parse.VariableNode:
		return slices.Equal(node.Ident, []string{"$", s.field})
	default:
		return false
	}
}

// whole reports whether something is all data.
func whole(pipe *parse.PipeNode, at dot) bool {
	switch node := operand(pipe).(type) {
	case *parse.DotNode:
		return at == dotAll
	case *parse.VariableNode:
		return slices.Equal(node.Ident, []string{"$"})
	default:
		return false
	}
}

// marks reports whether a replaced part "fence" shows both markers with the word in them.
func marks(root *parse.ListNode) bool {
	word := shown{field: fieldFence}
	begins, ends := false, false
	for i, node := range root.Nodes {
		if action, ok := node.(*parse.ActionNode); !ok || i == 0 || !word.value(action.Pipe, dotAll) {
			continue
		}
		before, _ := root.Nodes[i-1].(*parse.TextNode)
		if before == nil {
			continue
		}
		begins = begins || bytes.HasSuffix(before.Text, []byte("<<<"))
		if i+1 < len(root.Nodes) && bytes.HasSuffix(before.Text, []byte("<<<end ")) {
			after, ok := root.Nodes[i+1].(*parse.TextNode)
			ends = ends || ok && bytes.HasPrefix(after.Text, []byte(">>>"))
		}
	}
	return begins && ends
}
