package flow

import (
	"fmt"
	"slices"
	"strings"
)

// Mermaid draws the rules of the flow and of the lifecycle as a Mermaid state diagram.
func (f *Flow) Mermaid() string {
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n  [*] --> configuring\n")
	inner := f.states()
	var own, outer []Rule
	for _, rule := range f.drawn() {
		if slices.Contains(inner, rule.From) && (slices.Contains(inner, rule.To) || rule.To == StateUnchanged) {
			own = append(own, rule)
		} else {
			outer = append(outer, rule)
		}
	}
	b.WriteString("  state \"previous (the state that was left)\" as previous\n  state running {\n")
	fmt.Fprintf(&b, "    [*] --> %s\n", f.Start)
	for _, edge := range edges(own) {
		fmt.Fprintf(&b, "    %s --> %s: %s\n", edge.from, edge.to, edge.label)
	}
	b.WriteString("  }\n")
	for _, edge := range edges(outer) {
		fmt.Fprintf(&b, "  %s --> %s: %s\n", edge.from, edge.to, edge.label)
	}
	b.WriteString("  completed --> [*]\n  canceled --> [*]\n")
	return b.String()
}

// DOT draws the rules of the flow and of the lifecycle for Graphviz.
func (f *Flow) DOT() string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %q {\n  rankdir=LR;\n  compound=true;\n  node [shape=box, style=rounded];\n", f.Name)
	b.WriteString("  \"[*]\" [shape=point, width=0.15];\n  \"[*]\" -> configuring;\n")
	b.WriteString("  completed [peripheries=2];\n  canceled [peripheries=2];\n  subgraph cluster_running {\n    label=running;\n")
	// Graphviz has no edges of clusters: an edge of running is one of its entry point, clipped at the cluster.
	fmt.Fprintf(&b, "    %q [shape=point, width=0.15];\n", StateRunning)
	for _, state := range f.states() {
		fmt.Fprintf(&b, "    %q;\n", state)
	}
	fmt.Fprintf(&b, "    %q -> %q;\n", StateRunning, f.Start)
	b.WriteString("  }\n")
	for _, edge := range edges(f.drawn()) {
		clip := ""
		if edge.from == StateRunning {
			clip += ", ltail=cluster_running"
		}
		if edge.to == StateRunning {
			clip += ", lhead=cluster_running"
		}
		fmt.Fprintf(&b, "  %q -> %q [label=%q%s];\n", edge.from, edge.to, edge.label, clip)
	}
	b.WriteString("}\n")
	return b.String()
}

// drawn returns the rules of the flow and of the lifecycle. A rule that leaves any of the flow's states unchanged becomes a
// rule of each of them, because no drawing has an edge from a group of states to itself.
func (f *Flow) drawn() []Rule {
	var out []Rule
	for _, rule := range f.Rules {
		if rule.From != StateRunning || rule.To != StateUnchanged {
			out = append(out, rule)
			continue
		}
		for _, state := range f.states() {
			out = append(out, Rule{state, rule.On, rule.To, rule.When})
		}
	}
	return append(out, Lifecycle()...)
}

type edge struct {
	from, to State
	label    string
}

// edges joins the rules between the same two states into one edge. A rule that changes no state is an edge from its state to
// itself, and is marked so.
func edges(rules []Rule) []edge {
	var out []edge
	for _, rule := range rules {
		label := string(rule.On)
		if rule.When.Name != "" {
			label += " [" + rule.When.Name + "]"
		}
		to := rule.To
		if to == StateUnchanged {
			to, label = rule.From, label+" (unchanged)"
		}
		i := slices.IndexFunc(out, func(e edge) bool { return e.from == rule.From && e.to == to })
		if i < 0 {
			out = append(out, edge{rule.From, to, label})
			continue
		}
		out[i].label += ", " + label
	}
	return out
}
