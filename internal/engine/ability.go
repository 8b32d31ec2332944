package engine

import (
	"maps"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// unable reports what a config asks of models that they lack by their rows. It asks nobody.
func (l *Engine) unable(p *plan) (f flow.Findings) {
	looked := 0
	for field, d := range flow.Requirements(p.config) {
		if looked++; looked > mostModels {
			break
		}
		l.refuse(&f, field, d)
	}
	l.checkReaders(&f, p)
	return f
}

// refuse reports what the model of a requirement lacks. field is that of the options.
func (l *Engine) refuse(f *flow.Findings, field string, d flow.Requirement) {
	asks := d.Asks()
	if d.Model == "" || len(asks) == 0 {
		return
	}
	row, seat := l.model(d.Model), strings.TrimSuffix(field, "options")
	for _, ability := range asks {
		switch {
		case !row.Lacks(ability):
		case ability == provider.AbilityTemperature:
			f.Addf(seat+"temperature", "%q: %w: it has a temperature of its own", text.OneLine(d.Model, 80), flow.ErrUnsupported)
		case ability == provider.AbilityTools:
			f.Addf(seat+"model", "%q: %w: %q, and its requests offer tools", text.OneLine(d.Model, 80), flow.ErrUnsupported, ability)
		default:
			f.Addf(field+"."+string(ability), "%q: %w", text.OneLine(d.Model, 80), flow.ErrUnsupported)
		}
	}
}

// needed returns what models need to read the files of a config, each ability with the field of the first such file. Text needs nothing: a
// model that reads no files gets it in the messages.
func needed(config flow.Config) map[provider.Ability]string {
	var out map[provider.Ability]string
	for field, f := range flow.Files(config) {
		if f.IsText() {
			continue
		}
		ability := provider.MediaAbility(f.Type)
		if _, known := out[ability]; known {
			continue
		}
		if out == nil {
			out = make(map[provider.Ability]string)
		}
		out[ability] = field
	}
	return out
}

// checkReaders refuses each model that cannot read a file. Everybody reads the documents, fallbacks included, so each of the config's
// models is a reader.
func (l *Engine) checkReaders(f *flow.Findings, p *plan) {
	files := needed(p.config)
	if len(files) == 0 {
		return
	}
	asks := slices.Sorted(maps.Keys(files))
	for _, one := range p.roster().mentions {
		if one.name == "" {
			continue
		}
		row := l.model(one.name)
		for _, ability := range asks {
			if row.Lacks(ability) {
				f.Addf(one.field, "%q: %w: %q, which %s needs", text.OneLine(one.name, 80), flow.ErrUnsupported, ability, files[ability])
			}
		}
	}
}

// rows returns the rows of models that are chosen for a conversation, as its log freezes them.
func (l *Engine) rows(names []string) map[string]flow.Model {
	if len(names) == 0 {
		return nil
	}
	rows := make(map[string]flow.Model, len(names))
	for _, name := range names {
		rows[name] = l.model(name)
	}
	return rows
}
