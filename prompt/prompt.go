// Package prompt renders what a debate tells its models: the system prompts of those who speak, judge,
// vote and summarise, and the instruction of each call.
//
// The texts are text/template files embedded in the package. A host replaces any of them by name:
//
//	debater     [Debater]     system prompt of a speaker
//	turn        [Turn]        instruction before a turn, a question or an answer
//	judge       [Judge]       system prompt of a judge
//	assess      [Assess]      instruction before the assessment of a round
//	findings    [Findings]    what the program measured, added to an instruction
//	verdict     [Verdict]     instruction before the final verdict
//	again       [Again]       instruction after an answer that was not accepted
//	tools       [Tools]       instruction after what tools have answered
//	assign      [Assign]      instruction to find positions for the speakers
//	voter       [Voter]       system prompt of a member of the audience
//	ballot      [Ballot]      instruction before a vote
//	summarizer  [Summarizer]  system prompt of the minute-taker
//	summary     [Summary]     instruction before a summary
//
// A replacement sees the fields of the type beside its name; turn, assess and verdict see {{.Round}}
// too, which is where the number of the round will stand. Templates are meant to be executed once
// per debate and kind: what changes from turn to turn is the round, a placeholder in the rendered
// text until [Fill] writes the number.
//
// Values are data: nothing in a topic, a position or a name is read as a template, and a value can
// not hold the placeholder. Values that are empty leave no trace in the text.
package prompt

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/template"
	"unicode"
	"unicode/utf8"
)

//go:embed template/*.tmpl
var files embed.FS

// Set is a complete set of templates, made by [Parse]. It is immutable and safe for concurrent use.
type Set struct {
	templates map[string]*template.Template
	buffers   sync.Pool // of *bytes.Buffer
}

// Parse yields the embedded templates, with those replaced that overrides names. It costs as much as
// dozens of renderings: a program parses once and shares the Set.
//
// Every template is tried on sample data. The error joins one error for each override that has an
// unknown name, is not valid UTF-8, does not parse, does not execute, formats a value with a verb that does not
// suit it, or never yields any text; each of
// them says which.
func Parse(overrides map[string]string) (*Set, error) {
	var failures []error
	trials := samples()
	for _, name := range slices.Sorted(maps.Keys(overrides)) {
		if _, ok := trials[name]; !ok {
			failures = append(failures, fmt.Errorf("prompt: template %q: unknown name", name))
		}
	}
	set := &Set{templates: make(map[string]*template.Template, len(trials))}
	for _, name := range slices.Sorted(maps.Keys(trials)) {
		text, ok := overrides[name]
		if !ok {
			file, err := files.ReadFile("template/" + name + ".tmpl")
			if err != nil {
				failures = append(failures, fmt.Errorf("prompt: template %q: %w", name, err))
				continue
			}
			text = string(file)
		}
		parsed, err := parse(name, text, trials[name])
		if err != nil {
			failures = append(failures, fmt.Errorf("prompt: template %q: %w", name, err))
			continue
		}
		set.templates[name] = parsed
	}
	if len(failures) > 0 {
		return nil, errors.Join(failures...)
	}
	return set, nil
}

func parse(name, text string, trials []any) (*template.Template, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("is not valid UTF-8")
	}
	parsed, err := template.New(name).Parse(text)
	if err != nil {
		return nil, err
	}
	silent := true
	var b bytes.Buffer
	for _, data := range trials {
		out, err := execute(&b, parsed, data)
		if err != nil {
			return nil, err
		}
		if strings.Contains(out, "%!") && !strings.Contains(text, "%!") { // fmt's mark
			return nil, errors.New("formats a value with a verb that does not suit it: numbers and names are texts here")
		}
		silent = silent && out == ""
	}
	if silent {
		// Without a word the request would end on somebody's speech, or have no system prompt.
		return nil, errors.New("yields no text")
	}
	return parsed, nil
}

// Names yields the names of the set's templates, sorted; a set that [Parse] has not made has none.
func (s *Set) Names() []string {
	if s == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(s.templates))
}

func (s *Set) render(name string, data any) (string, error) {
	if s == nil || s.templates[name] == nil {
		return "", fmt.Errorf("prompt: template %q: the set was not made by Parse", name)
	}
	b, ok := s.buffers.Get().(*bytes.Buffer)
	if !ok {
		b = new(bytes.Buffer)
	}
	defer s.buffers.Put(b)
	out, err := execute(b, s.templates[name], data)
	if err != nil {
		return "", fmt.Errorf("prompt: template %q: %w", name, err)
	}
	return out, nil
}

// execute leaves b's memory to the next text: what it yields is a copy of the right size, because a
// debate keeps its prompts as long as it runs.
func execute(b *bytes.Buffer, t *template.Template, data any) (string, error) {
	b.Reset()
	if err := t.Execute(b, data); err != nil {
		return "", err
	}
	// A template can make up, or cut out, bytes that are no text, and a log would not keep them.
	return strings.ToValidUTF8(string(bytes.TrimSpace(b.Bytes())), string(unicode.ReplacementChar)), nil
}
