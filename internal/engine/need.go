package engine

import (
	"fmt"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// lacks reports what the engine lacks of what a conversation needs.
func (l *Engine) lacks(n flow.Need) error {
	host, _, _ := flow.SplitModel(n.Model)
	switch {
	case n.Model != "" && l.providers[host] == nil:
		return lacking("Providers", unregistered("provider", "Providers", host, l.providers))
	case n.Function != "" && l.functions[n.Function] == nil:
		return lacking("Functions", unregistered("judge or function", "Functions", n.Function, l.functions))
	case n.Tool != "" && l.tools[n.Tool] == nil:
		return lacking("Tools", unregistered("tool", "Tools", n.Tool, l.tools))
	case n.Context != "" && l.contexts[n.Context] == nil:
		return lacking("Contexts", unregistered("context manager", "Contexts", n.Context, l.contexts))
	default:
		return nil
	}
}

func lacking(field string, err error) error {
	return &flow.Error{Kind: provider.KindValidation, Op: "open", Field: field, Err: fmt.Errorf("%w: %w", flow.ErrMissing, err)}
}

// unregistered returns why nothing can be used under a name: nothing is registered there, or nil is. where is the engine's field.
func unregistered[V comparable](what, where, name string, all map[string]V) error {
	var none V
	if v, is := all[name]; is && v == none {
		name = text.OneLine(name, 80)
		return fmt.Errorf("the %s %q is nil: set Engine.%s[%q] to one", what, name, where, name)
	}
	var known []string
	for each, v := range all {
		if v != none {
			known = append(known, each)
		}
	}
	return text.Unregistered(what, "Engine."+where, name, known...)
}

// noFlow returns the error about a flow that the engine does not have.
func (l *Engine) noFlow(name string) error { return unregistered("flow", "Flows", name, l.machines) }
