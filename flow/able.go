package flow

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// This file checks that models can do what is asked of them.

// Models yields the models that the conversation may ask, as "provider/model", with their prices and sizes: those of its
// start, and those that were chosen since.
func (r *Record) Models() iter.Seq2[string, Model] {
	return func(yield func(string, Model) bool) {
		for i := range r.models {
			if !yield(r.models[i].name, r.models[i].Model) {
				return
			}
		}
	}
}

// knows adds the row of a model. If the model is known, its prices and sizes stay, and it lacks what the row lacks too.
func (r *Record) knows(name string, row Model) {
	known := r.model(name)
	switch {
	case known == nil:
		r.models = append(r.models, namedModel{name, row})
	case len(row.Lacks) > 0:
		lacks := slices.Concat(known.Lacks, row.Lacks)
		slices.Sort(lacks)
		known.Lacks = slices.Compact(lacks)
	}
}

// demandOf returns what an actor's requests ask for beyond text. "": nobody's.
func (r *Record) demandOf(by string) Demand {
	if by == "" {
		return Demand{}
	}
	for _, d := range Demands(r.config) {
		if d.By == by {
			return d
		}
	}
	return Demand{}
}

// able returns why a model surely cannot do what is asked of it; nil: it can, or nothing is known of it. Every model reads the
// files. A model that takes over, as fallbacks do, is asked without what it lacks: no demand is given for it.
func (c *Core) able(model string, d Demand, files []File) error {
	if c.unable == nil || model == "" || model == NoSummarizer {
		return nil
	}
	var media []provider.Ability
	for i := range files {
		if ability := provider.MediaAbility(files[i].Type); !slices.Contains(media, ability) {
			media = append(media, ability)
		}
	}
	if err := c.unable(model, d, media); err != nil {
		return fmt.Errorf("%q: %w", text.OneLine(model, 80), err)
	}
	return nil
}

// Unreadable returns which models that the rest of the conversation may ask surely cannot read its files. A conversation whose
// log was made of another one's can have such models. The error joins one error of kind validation for each field of the
// config. nil: there is none.
func (c *Core) Unreadable() error {
	if c.record.start == nil {
		return nil
	}
	return c.unreadable("config", c.record.Files())
}

// unreadable finds the models that the rest of the conversation may ask and that surely cannot read files.
func (c *Core) unreadable(op string, files []File) error {
	if len(files) == 0 {
		return nil
	}
	var found []error
	seen := make(map[string]bool)
	for _, n := range c.mayAsk(c.record.terms, nil) {
		if seen[n.Model] {
			continue
		}
		seen[n.Model] = true
		if err := c.able(n.Model, Demand{}, files); err != nil {
			found = append(found, &Error{Kind: provider.KindValidation, Op: op, Field: c.record.fieldOf(n.Model), Err: err})
		}
	}
	return errors.Join(found...)
}

// fieldOf returns the field of the config that names a model first, or the actor for whom it was chosen, as a field of an
// [Amendment].
func (r *Record) fieldOf(model string) string {
	for field, name := range r.config.Models() {
		if name == model {
			return field
		}
	}
	for i := range r.swaps {
		if swap := &r.swaps[i]; swap.model == model || slices.Contains(swap.fallbacks, model) {
			return "models." + text.OneLine(swap.by, 80)
		}
	}
	return "models"
}
