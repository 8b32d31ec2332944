package web

import (
	"errors"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// Presets returns those of the options. They are read only.
func (h *Handler) Presets() []Preset { return h.options.Presets }

// About returns the config of a preset, to be started with Start: with another topic, problem or task, with an id, and with further
// documents. If the id is empty, the conversation gets a new one.
func (h *Handler) About(preset, topic, id string, documents ...flow.Document) (flow.Config, error) {
	var names []string
	for i := range h.options.Presets {
		names = append(names, h.options.Presets[i].Name)
	}
	i := slices.Index(names, preset)
	switch {
	case i < 0:
		err := text.Absent("preset", "offered here", preset, names...)
		return nil, &flow.Error{Kind: provider.KindValidation, Op: opStart, Field: "preset", Err: err}
	case strings.TrimSpace(topic) == "":
		err := flow.WithMend(errors.New("is blank"), "say what the conversation is about")
		return nil, &flow.Error{Kind: provider.KindValidation, Op: opStart, Field: "topic", Err: err}
	}
	config, err := h.engine.DecodeConfig(h.options.Presets[i].Config)
	if err != nil {
		return nil, err
	}
	return edited(h.engine, config, func(fields map[string]any) {
		delete(fields, "id")
		if id != "" {
			fields["id"] = id
		}
		about := "topic"
		for _, key := range []string{"problem", "task"} { // of deliberations, and of arbitrated work
			if _, ok := fields[key]; ok {
				about = key
			}
		}
		fields[about] = topic
		given, _ := fields["documents"].([]any)
		for i := range documents {
			given = append(given, documents[i])
		}
		if len(given) > 0 {
			fields["documents"] = given
		}
	})
}
