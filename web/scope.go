package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// notFound is the error about an id that is unknown, or of another scope: nothing tells the two apart.
func notFound() error {
	return &flow.Error{Kind: provider.KindValidation, Op: "read", Err: flow.ErrNotFound}
}

// taken is the error about the id of a new conversation that exists: in another scope, or with another config.
func taken() error {
	err := flow.WithMend(errors.New("the id is taken: draw another"), "draw another id")
	return &flow.Error{Kind: provider.KindConflict, Op: opStart, Field: "id", Err: err}
}

// find describes a conversation of a scope.
func (h *Handler) find(ctx context.Context, id string, labels map[string]string) (store.Info, error) {
	info, err := store.InfoOf(ctx, h.engine.Store, id)
	own, ok := errors.AsType[*flow.Error](err)
	switch {
	case errors.Is(err, flow.ErrNotFound), ok && own.Kind == provider.KindValidation: // no id of a conversation
		return store.Info{}, notFound()
	case err != nil:
		return store.Info{}, &flow.Error{Kind: provider.KindStore, Op: "read", Err: err}
	case !within(info.Labels, labels):
		return store.Info{}, notFound()
	}
	return info, nil
}

// within reports whether labels have all those of a scope.
func within(labels, scope map[string]string) bool {
	return store.Filter{Labels: scope}.Matches(store.Info{Labels: labels})
}

// free returns an error unless a new conversation can have the id. known: there is one of it in the scope.
func (h *Handler) free(ctx context.Context, id string, labels map[string]string) (known bool, err error) {
	if strings.HasPrefix(id, quotaPrefix) {
		err := fmt.Errorf("begins with %q, which is for budgets", quotaPrefix)
		return false, &flow.Error{Kind: provider.KindValidation, Op: opStart, Field: "id", Err: flow.WithMend(err, "draw another id")}
	}
	if id == "" {
		return false, nil
	}
	if err := store.CheckID(id); err != nil {
		return false, err
	}
	info, err := h.find(ctx, id, nil)
	switch {
	case errors.Is(err, flow.ErrNotFound):
		return false, nil
	case err != nil:
		return false, err
	case !within(info.Labels, labels):
		return false, taken()
	default:
		return true, nil
	}
}

// labelled returns a config that has the labels of a scope. One that has another value in their place is refused.
func (h *Handler) labelled(config flow.Config, labels map[string]string) (flow.Config, error) {
	given := config.Settings().Labels
	if within(given, labels) {
		return config, nil
	}
	all := maps.Clone(given)
	if all == nil {
		all = make(map[string]string, len(labels))
	}
	for name, value := range labels {
		if had, ok := all[name]; ok && had != value {
			err := flow.WithMend(errors.New("is not that of your scope"), "leave it out")
			field := "labels." + text.OneLine(name, 80)
			return nil, &flow.Error{Kind: provider.KindValidation, Op: "config", Field: field, Err: err}
		}
		all[name] = value
	}
	return edited(h.engine, config, func(fields map[string]any) { fields["labels"] = all })
}

// edited returns a copy of a config whose JSON was changed.
func edited(e *debate.Engine, config flow.Config, edit func(fields map[string]any)) (flow.Config, error) {
	data, err := flow.EncodeConfig(config)
	if err != nil {
		return nil, err
	}
	fields, err := fieldsOf(data)
	if err != nil {
		return nil, err
	}
	edit(fields)
	if data, err = json.Marshal(fields); err != nil {
		return nil, err
	}
	return e.DecodeConfig(data)
}

// fieldsOf reads the JSON of a config. Numbers stay as they are written.
func fieldsOf(data []byte) (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var fields map[string]any
	err := decoder.Decode(&fields)
	return fields, err
}
