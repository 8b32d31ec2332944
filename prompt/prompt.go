// Package prompt renders the texts that a debate sends to its models: the system prompts of speakers,
// judges, voters and summarisers, and the instruction of each call.
//
// The texts are text/template files that are embedded in the package. A host program can replace each of
// them by name:
//
//	debater     [Debater]     system prompt of a speaker
//	turn        [Turn]        instruction before a turn, a question or an answer
//	judge       [Judge]       system prompt of a judge
//	assess      [Assess]      instruction before the assessment of a round
//	findings    [Findings]    what the program measured, added to an instruction
//	verdict     [Verdict]     instruction before the final verdict
//	again       [Again]       instruction after an answer that was not accepted
//	tools       [Tools]       instruction after what tools have answered
//	assign      [AssignPositions]
//	                          instruction to find positions for the speakers
//	voter       [Voter]       system prompt of a member of the audience
//	ballot      [Ballot]      instruction before a vote
//	summarizer  [Summarizer]  system prompt of the summarizer
//	summary     [Summary]     instruction before a summary
//
// A flow of another package adds templates of its own; see [Template].
//
// A replacement sees the fields of the type beside its name. The templates turn, assess and verdict also
// see {{.Round}}, the number of the round. Templates are executed once per debate and kind. The round changes from turn to
// turn, and the number of rounds when a host program amends it. So {{.Round}} and {{.Rounds}} render placeholders in
// these templates, which [Fill] replaces by the numbers.
//
// Values are data: nothing in a topic, a position or a name is executed as a template, and no value can
// contain the placeholder. Topics, positions and personas may come from users: if they have several lines, each line
// after the first begins with "> ". Instructions, roles and guidance are the host program's own and trusted: they keep
// their lines, headings included. Empty values leave no trace in the text.
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

	"github.com/agonist-dev/debate/internal/text"
)

//go:embed template/*.tmpl
var files embed.FS

// Set is a complete set of templates, made by [Parse]. It is immutable and safe for concurrent use.
type Set struct {
	templates map[string]*template.Template
	buffers   sync.Pool // of *bytes.Buffer
}

// Template is a template of a flow outside this package. [Set.Render] executes it.
type Template struct {
	Text string
	// Samples are data that reach all branches of the template and of its possible replacements. There is at least one.
	Samples []any
}

// Parse returns the embedded templates and those of the flows, with those replaced that overrides names. It costs as
// much as dozens of renderings, so a program should parse once and share the Set. Flows may share a template. Otherwise
// no two templates have the same name.
//
// Parse tries every template on sample data. It fails if an override
//
//   - has an unknown name,
//   - is not valid UTF-8,
//   - does not parse or execute,
//   - formats a value with a verb that does not suit it, or
//   - never renders any text.
//
// The error joins one error for each such override, with its name.
func Parse(overrides map[string]string, flows ...map[string]Template) (*Set, error) {
	trials, texts, failures := known(flows)
	for _, name := range slices.Sorted(maps.Keys(overrides)) {
		if _, ok := trials[name]; !ok {
			failures = append(failures, fmt.Errorf("prompt: %w", text.Unknown("template", name, slices.Collect(maps.Keys(trials))...)))
		}
	}
	set := &Set{templates: make(map[string]*template.Template, len(trials))}
	for _, name := range slices.Sorted(maps.Keys(trials)) {
		text, overridden := overrides[name]
		if ready := embedded()[name]; ready != nil && !overridden && !sampled(flows, name) {
			set.templates[name] = ready
			continue
		}
		if !overridden {
			text = texts[name]
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

// sampled reports whether a flow has samples of its own for a template.
func sampled(flows []map[string]Template, name string) bool {
	return slices.ContainsFunc(flows, func(own map[string]Template) bool {
		_, ok := own[name]
		return ok
	})
}

// embedded returns the templates of this package, parsed and tried once for all sets. One with a mistake is left out, so that Parse
// reports it.
//
//nolint:gochecknoglobals // read only
var embedded = sync.OnceValue(func() map[string]*template.Template {
	ready := make(map[string]*template.Template)
	trials, texts, _ := known(nil)
	for name, text := range texts {
		if parsed, err := parse(name, text, trials[name]); err == nil {
			ready[name] = parsed
		}
	}
	return ready
})

// known returns the samples and the texts of all templates.
func known(flows []map[string]Template) (trials map[string][]any, texts map[string]string, failures []error) {
	trials, texts = samples(), make(map[string]string)
	for _, name := range slices.Sorted(maps.Keys(trials)) {
		file, err := files.ReadFile("template/" + name + ".tmpl")
		if err != nil {
			failures = append(failures, fmt.Errorf("prompt: template %q: %w", name, err))
		}
		texts[name] = string(file)
	}
	for _, own := range flows {
		for _, name := range slices.Sorted(maps.Keys(own)) {
			switch text, taken := texts[name]; {
			case taken && text != own[name].Text:
				failures = append(failures, fmt.Errorf("prompt: template %q: two templates have this name", name))
			case len(own[name].Samples) == 0:
				failures = append(failures, fmt.Errorf("prompt: template %q: has no sample", name))
			default:
				texts[name], trials[name] = own[name].Text, own[name].Samples
			}
		}
	}
	return trials, texts, failures
}

// functions are those that every template may call. count writes a number with its noun: {{count .Words "word"}}.
func functions() template.FuncMap { return template.FuncMap{"count": count} }

func parse(name, text string, trials []any) (*template.Template, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("is not valid UTF-8")
	}
	parsed, err := template.New(name).Funcs(functions()).Parse(text)
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
		if strings.Contains(out, "%!") && !strings.Contains(text, "%!") { // the mark of package fmt
			return nil, errors.New("formats a value with a verb that does not suit it: numbers and names are texts here")
		}
		silent = silent && out == ""
	}
	if silent {
		// Without any text, the request would end on somebody's speech, or have no system prompt.
		return nil, errors.New("yields no text")
	}
	return parsed, nil
}

// Names returns the names of the set's templates, sorted. A Set that [Parse] has not made has none.
func (s *Set) Names() []string {
	if s == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(s.templates))
}

// Render executes a template of a flow. Each template of this package has a method of its own, which also makes its
// data safe.
func (s *Set) Render(name string, data any) (string, error) { return s.render(name, data) }

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

// execute returns a copy of the right size, because a debate keeps its prompts as long as it runs. The
// memory of b is used again for the next text.
func execute(b *bytes.Buffer, t *template.Template, data any) (string, error) {
	b.Reset()
	if err := t.Execute(b, data); err != nil {
		return "", err
	}
	// A template can create invalid UTF-8, which a log would not keep.
	return strings.ToValidUTF8(string(bytes.TrimSpace(b.Bytes())), string(unicode.ReplacementChar)), nil
}
