package prompt

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"text/template"
)

// Names of the parts: templates that others contain, flows' templates included, as in {{template "fence" .}}. What a part needs, the data
// of the whole has under the same names.
const (
	partFence    = "fence"
	partLanguage = "language"
	partStance   = "stance"
	partAim      = "aim"
)

// parts returns the names of the parts.
func parts() []string { return []string{partFence, partLanguage, partStance, partAim} }

func isPart(name string) bool { return slices.Contains(parts(), name) }

// Fence holds the values of the part that says what the markers around the texts of others mean.
type Fence struct {
	Fence string // the fence word; "": "word" stands for it
}

// FenceRule returns the part "fence" for a system prompt that is no template. If the set was not made by [Parse], or if a replaced part
// fails with this word, it returns the embedded part.
func (s *Set) FenceRule(word string) string {
	data := Fence{fence(word)}
	if rule, err := s.render(partFence, data); err == nil {
		return rule
	}
	own, _ := embedded()
	rule, _ := own.render(partFence, data)
	return rule
}

// Language holds the values of the part that says in which language a model writes.
type Language struct {
	Language string // "": that of the topic
}

// Samples of what an override must show: see Template.Fenced and Template.Asks. The word is a number of ten digits, as fences have them.
const (
	SampleFence  = "7259043816"
	SampleFields = "[[fields]]"
	// SampleInstructions is what the host program adds. Only samples with a field Instructions that is this text are looked at.
	SampleInstructions = "[[instructions]]"
)

// sparse returns a sample of a template without each of its values in turn, and with each of them alone. The fence word and the fields
// are in all. A replacement that shows what it has to show only where something else is given is found by these.
func sparse(sample any) []any {
	full := reflect.ValueOf(sample)
	if full.Kind() != reflect.Struct {
		return nil
	}
	var out []any
	bare := reflect.New(full.Type()).Elem()
	always := []string{"Fence", "Fields"}
	for _, name := range always {
		if field := bare.FieldByName(name); field.IsValid() {
			field.Set(full.FieldByName(name))
		}
	}
	for i := range full.NumField() {
		if field := full.Type().Field(i); !field.IsExported() || slices.Contains(always, field.Name) {
			continue
		}
		without, alone := reflect.New(full.Type()).Elem(), reflect.New(full.Type()).Elem()
		without.Set(full)
		without.Field(i).SetZero()
		alone.Set(bare)
		alone.Field(i).Set(full.Field(i))
		out = append(out, without.Interface(), alone.Interface())
	}
	return out
}

// instructs reports whether a sample has instructions of the host program.
func instructs(sample any) bool {
	data := reflect.ValueOf(sample)
	if data.Kind() != reflect.Struct {
		return false
	}
	field := data.FieldByName("Instructions")
	return field.IsValid() && field.Kind() == reflect.String && field.String() == SampleInstructions
}

// must is something that an override has to show.
type must struct {
	what, mend string
	asked      func(sample any) bool // of which samples
	shows      func(out string) bool
}

// musts returns what an override of this name has to show. rule is what the part "fence" renders: a replacement contains the part, and one
// of the part itself has both markers. A sample without any value shows neither a fence nor fields.
func (t Template) musts(name, rule string) (all []must) {
	full := func(sample any) bool { return sample != nil && !reflect.ValueOf(sample).IsZero() }
	switch {
	case t.Fenced && name == partFence:
		all = append(all, must{"explains the markers", "write <<<{{.Fence}} …>>> and <<<end {{.Fence}}>>>", full, func(out string) bool {
			return strings.Contains(out, "<<<"+SampleFence) && strings.Contains(out, "<<<end "+SampleFence+">>>")
		}})
	case t.Fenced:
		all = append(all, must{"explains the markers", `use {{template "fence" .}}`, full, func(out string) bool {
			return strings.Contains(out, rule)
		}})
	}
	if t.Asks {
		all = append(all, must{"says which fields the answer has", "use {{.Fields}}", full, func(out string) bool {
			return strings.Contains(out, SampleFields)
		}})
	}
	if t.Fenced || t.Asks {
		all = append(all, must{"shows the instructions of a config", "use {{.Instructions}}", instructs, func(out string) bool {
			return strings.Contains(out, SampleInstructions)
		}})
	}
	return all
}

// lacks returns an error if something is not shown to all whom it concerns. The texts are those of the samples.
func (m must) lacks(samples []any, texts []string) error {
	shown, hidden := 0, 0
	for i, sample := range samples {
		switch {
		case !m.asked(sample):
		case m.shows(texts[i]):
			shown++
		default:
			hidden++
		}
	}
	switch {
	case hidden == 0:
		return nil
	case shown == 0:
		return fmt.Errorf("never %s: %s", m.what, m.mend)
	default:
		return fmt.Errorf("%s only where certain values are given: %s outside of {{if}} and {{with}}", m.what, m.mend)
	}
}

// definesOther refuses a replaced part that defines another one. All templates would contain that too, and nothing would be asked of
// it. What a template that is no part defines is its own.
func definesOther(name, text string) error {
	alone, err := template.New(name).Funcs(functions()).Parse(text)
	if err != nil {
		return err
	}
	for _, t := range alone.Templates() {
		if t.Name() != name && isPart(t.Name()) {
			return fmt.Errorf("defines the part %q: replace it by its own name", t.Name())
		}
	}
	return nil
}

// joined returns the parts of a set, with those replaced that overrides names, as templates that every other one is parsed beside. A
// replaced part that fails is left out: Parse reports it once, and not for every template that contains it.
func (s *Set) joined(overrides map[string]string) (*template.Template, error) {
	base, err := s.base.Clone()
	if err != nil {
		return nil, err
	}
	for _, name := range parts() {
		text, overridden := overrides[name]
		if !overridden {
			continue
		}
		if _, err := s.known[name].parse(s.base, name, text, true); err != nil {
			continue
		}
		part, err := base.New(name).Parse(strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		if err := counted(part, s.base); err != nil {
			return nil, err
		}
	}
	return base, nil
}
