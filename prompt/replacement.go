package prompt

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template/parse"

	"github.com/agonist-dev/debate/internal/text"
)

// A replacement may come with a config that somebody else has written. text/template would run it as a program that loops, recurses and
// keeps what it has made, and a stack that is full ends the process. So a replacement is no program, but a text with values, conditions
// and lists: whatever else stands in it is refused before it is executed.

// Bounds of a replacement.
const (
	mostText      = 100_000 // bytes, as flow.MaxPrompt
	mostNested    = 100     // conditions, lists and parentheses inside each other
	mostVariables = 100     // each can keep a value
)

// calls returns the functions that a replacement may call. None of them makes a long text, and none takes long.
func calls() []string {
	return []string{"and", "count", "eq", "ge", "gt", "index", "le", "len", "lt", "ne", "not", "or", "slice"}
}

// replacement parses a text that takes the place of a template, and refuses what it may not hold. The tree counts what it does.
func replacement(name, content string) (*parse.Tree, error) {
	if len(content) > mostText {
		return nil, fmt.Errorf("has %d bytes: at most %d are possible", len(content), mostText)
	}
	tree, all := parse.New(name), make(map[string]*parse.Tree)
	tree.Mode = parse.SkipFuncCheck // the reading names what may be called
	if _, err := tree.Parse(content, "", "", all); err != nil {
		return nil, err
	}
	for _, other := range slices.Sorted(maps.Keys(all)) {
		if all[other] != tree {
			return nil, fmt.Errorf("defines the template %q with {{define}} or {{block}}: a replacement is one text, so write it where it stands",
				text.OneLine(other, 80))
		}
	}
	r := reading{part: isPart(name)}
	if err := r.list(tree.Root, 0); err != nil {
		return nil, err
	}
	return tree, nil
}

// reading goes through the tree of a replacement. It looks at each node, and puts a step before each list.
type reading struct {
	part      bool // it is that of a part
	variables int  // that are declared
}

// list reads a list that stands inside so many others.
func (r *reading) list(list *parse.ListNode, depth int) error {
	if list == nil {
		return nil
	}
	if depth > mostNested {
		return fmt.Errorf("nests conditions and lists more than %d deep: put them side by side", mostNested)
	}
	work := 1
	for _, node := range list.Nodes {
		n, err := r.node(node, depth)
		if err != nil {
			return err
		}
		work += n
	}
	taken := &parse.TextNode{NodeType: parse.NodeText, Text: step[:min(work, len(step))]}
	list.Nodes = slices.Insert(list.Nodes, 0, parse.Node(taken))
	return nil
}

// node reads a node of a list. It returns what the node costs without the lists inside it, as all that read something do.
func (r *reading) node(node parse.Node, depth int) (work int, err error) {
	switch node := node.(type) {
	case *parse.TextNode, *parse.BreakNode, *parse.ContinueNode:
		return 1, nil
	case *parse.ActionNode:
		return r.pipe(node.Pipe, depth)
	case *parse.IfNode:
		return r.branch(&node.BranchNode, depth)
	case *parse.WithNode:
		return r.branch(&node.BranchNode, depth)
	case *parse.RangeNode:
		switch operand(node.Pipe).(type) {
		case *parse.DotNode, *parse.FieldNode, *parse.VariableNode:
			return r.branch(&node.BranchNode, depth)
		}
		return 0, fmt.Errorf("has {{range %s}}: range takes a list of the data or a variable, as in {{range .Items}}",
			text.OneLine(node.Pipe.String(), 80))
	case *parse.TemplateNode:
		return r.contained(node, depth)
	default:
		return 0, fmt.Errorf("has %s, which no replacement may have", text.OneLine(node.String(), 80))
	}
}

func (r *reading) branch(node *parse.BranchNode, depth int) (work int, err error) {
	if work, err = r.pipe(node.Pipe, depth); err != nil {
		return 0, err
	}
	if err := r.list(node.List, depth+1); err != nil {
		return 0, err
	}
	return work, r.list(node.ElseList, depth+1)
}

// contained reads a template inside a replacement. Parts contain none, so that none contains itself.
func (r *reading) contained(node *parse.TemplateNode, depth int) (work int, err error) {
	name := text.OneLine(node.Name, 80)
	switch {
	case r.part:
		return 0, fmt.Errorf("contains the template %q: a part contains no other, so write the words", name)
	case !isPart(node.Name):
		return 0, fmt.Errorf("contains the template %q: only the parts can be contained, which are %s", name, strings.Join(parts(), ", "))
	}
	return r.pipe(node.Pipe, depth)
}

// pipe reads what stands between two braces or in parentheses.
func (r *reading) pipe(pipe *parse.PipeNode, depth int) (work int, err error) {
	if work = 1; pipe == nil {
		return work, nil
	}
	if depth > mostNested {
		return 0, fmt.Errorf("nests parentheses more than %d deep: use a variable", mostNested)
	}
	for _, variable := range pipe.Decl {
		if variable.Ident[0] == "$" {
			return 0, errors.New("assigns something to $, which is all data: give the variable a name")
		}
		if r.variables++; r.variables > mostVariables {
			return 0, fmt.Errorf("has more than %d assignments: print a value where it is needed", mostVariables)
		}
	}
	for _, command := range pipe.Cmds {
		for _, arg := range command.Args {
			n, err := r.operand(arg, depth)
			if err != nil {
				return 0, err
			}
			work += n
		}
	}
	return work, nil
}

func (r *reading) operand(node parse.Node, depth int) (work int, err error) {
	switch node := node.(type) {
	case *parse.PipeNode:
		return r.pipe(node, depth+1)
	case *parse.ChainNode: // a field of something in parentheses
		work, err = r.operand(node.Node, depth+1)
		return work + len(node.Field), err
	case *parse.IdentifierNode:
		if !slices.Contains(calls(), node.Ident) {
			return 0, fmt.Errorf("calls the function %q: write texts and values side by side, as in {{.Name}}: {{.Side}}. The functions are %s",
				text.OneLine(node.Ident, 80), strings.Join(calls(), ", "))
		}
		return 1, nil
	default:
		const each = 64 // a number of many digits takes longer
		return 1 + len(node.String())/each, nil
	}
}

// operand returns the only operand of what stands between two braces; nil: there are several.
func operand(pipe *parse.PipeNode) parse.Node {
	if pipe == nil || len(pipe.Cmds) != 1 || len(pipe.Cmds[0].Args) != 1 {
		return nil
	}
	return pipe.Cmds[0].Args[0]
}
