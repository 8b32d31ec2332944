package debate

import (
	"cmp"
	"maps"
	"slices"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider"
)

// What the flow of debates does with its configs.

// formatOf returns the format that a config names or contains.
func formatOf(formats map[string]format.Format, c *Config) (*format.Format, bool) {
	if c.CustomFormat != nil {
		return c.CustomFormat, true
	}
	known, ok := formats[cmp.Or(c.Format, format.FreeForm)]
	return &known, ok
}

// noFormat returns the error about a format that the engine does not have.
func noFormat(name string, formats map[string]format.Format) error {
	return flow.Unregistered("format", "Engine.Formats", name, slices.Collect(maps.Keys(formats))...)
}

// normalizer returns the function that writes out all defaults, including those that a config leaves to its format.
func normalizer(formats map[string]format.Format) func(flow.Config) (flow.Config, error) {
	return func(config flow.Config) (flow.Config, error) {
		c := *config.(*Config)
		if format, ok := formatOf(formats, &c); ok && format.Rounds > 0 && (c.Rounds == 0 || c.Rounds > format.Rounds) {
			c.Rounds = format.Rounds
		}
		normalized := c.withDefaults()
		normalized.ID = ""
		return normalized, nil
	}
}

func freezer(formats map[string]format.Format) func(flow.Config) (any, error) {
	return func(config flow.Config) (any, error) {
		c := config.(*Config)
		known, ok := formatOf(formats, c)
		if !ok {
			err := noFormat(c.Format, formats)
			return nil, &flow.Error{Kind: provider.KindValidation, Op: string(flow.TriggerStart), Field: "format", Err: err}
		}
		frozen := known.Clone()
		if frozen.Decide == format.BySwing && c.Audience == nil {
			frozen.Decide = format.ByJudges
		}
		return frozen, nil
	}
}

func thaw(data []byte) (any, error) {
	f := new(format.Format)
	if err := flow.DecodeStrict("read format", data, f); err != nil {
		return nil, err
	}
	return f, nil
}

func checker(formats, own map[string]format.Format, detectors map[string]Detector) func(flow.Config, any, flow.Registry) []error {
	return func(config flow.Config, frozen any, known flow.Registry) []error {
		c := config.(*Config)
		v := &validation{known: known, formats: formats, own: own, detectors: detectors}
		v.frozen, _ = frozen.(*format.Format)
		v.check(c)
		return v.Findings
	}
}

// fixed returns what a log of a debate refers to: the participants with their sides, and the shape of the debate.
func fixed(config flow.Config) any {
	type seat struct {
		Name string      `json:"name"`
		Side format.Side `json:"side"`
	}
	c := config.(*Config)
	out := struct {
		Format       any    `json:"format"`
		CustomFormat any    `json:"customFormat"`
		Mode         any    `json:"mode"`
		Audience     any    `json:"audience"`
		Participants []seat `json:"participants"`
	}{Format: c.Format, CustomFormat: c.CustomFormat, Mode: c.Mode, Audience: c.Audience}
	for _, p := range c.Participants {
		out.Participants = append(out.Participants, seat{p.Name, p.Side})
	}
	return out
}
