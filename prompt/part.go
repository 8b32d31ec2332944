package prompt

import (
	"slices"
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

// Values of samples, for templates that have to show something: see [Template]. The word is a number, as fences have them.
const (
	SampleFence  = "7259043816"
	SampleFields = "[[fields]]"
	// SampleInstructions is what the host program adds.
	SampleInstructions = "[[instructions]]"
)

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
		part, err := s.known[name].parse(s.base, name, text)
		if err != nil {
			continue
		}
		if _, err := base.AddParseTree(name, part.Tree); err != nil {
			return nil, err
		}
	}
	return base, nil
}
