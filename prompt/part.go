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
)

// lacks returns why the text that an override of this name has rendered from a sample is refused; "": it is not. rule is what the part
// "fence" renders: a replacement contains the part, and one of the part itself has both markers. A sample without any value shows neither a
// fence nor fields.
func (t Template) lacks(name, out, rule string, sample any) string {
	if sample == nil || reflect.ValueOf(sample).IsZero() {
		return ""
	}
	marks := strings.Contains(out, "<<<"+SampleFence) && strings.Contains(out, "<<<end "+SampleFence+">>>")
	switch {
	case t.Fenced && name == partFence && !marks:
		return "never explains the markers: write <<<{{.Fence}} …>>> and <<<end {{.Fence}}>>>"
	case t.Fenced && name != partFence && !strings.Contains(out, rule):
		return `never explains the markers: use {{template "fence" .}}`
	case t.Asks && !strings.Contains(out, SampleFields):
		return "never says which fields the answer has: use {{.Fields}}"
	default:
		return ""
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
