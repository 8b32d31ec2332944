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
		return lacking("Providers", "no provider %q is registered", host)
	case n.Function != "" && l.functions[n.Function] == nil:
		return lacking("Functions", "no judge or function %q is registered", n.Function)
	case n.Tool != "" && l.tools[n.Tool] == nil:
		return lacking("Tools", "no tool %q is registered", n.Tool)
	case n.Context != "" && l.contexts[n.Context] == nil:
		return lacking("Contexts", "no context manager %q is registered", n.Context)
	default:
		return nil
	}
}

func lacking(field, format, name string) error {
	err := fmt.Errorf("%w: "+format, flow.ErrMissing, text.OneLine(name, 40))
	return &flow.Error{Kind: provider.KindValidation, Op: "open", Field: field, Err: err}
}
