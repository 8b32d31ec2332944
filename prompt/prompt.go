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
// Parts are templates that others contain, flows' templates included. A replaced part changes all of them:
//
//	fence       [Fence]       what the markers around the texts of others mean
//	language    [Language]    in which language a text is written
//	stance      [Debater]     how a speaker stands to what is argued
//	aim         [Judge]       what is judged; people who judge are told it too
//
// Conversations of other flows use some of these too: see [Shared]. A flow of another package adds templates of its own; see [Template].
// [Default] shows the text of each template and part of this package.
//
// A replacement sees the fields of the type beside its name. It stands in the place of the whole text: what it does not print, nobody is
// told. [Parse] asks of it the part "fence", the Fields and the Instructions where it has them. Nothing else is asked: a system prompt that
// does not contain the part "language" leaves the language of a config unsaid. For a turn for which a replaced turn yields no text, the
// embedded one asks.
//
// A replacement is a text with values, conditions and lists, and no program, since it may come with a config of somebody else:
//
//   - It has at most 100,000 bytes, 100 assignments, and 100 conditions, lists and parentheses inside each other.
//   - It calls only and, count, eq, ge, gt, index, le, len, lt, ne, not, or and slice. {{count .Words "word"}} writes "1 word" or
//     "3 words".
//   - {{range}} takes a list of the data or a variable.
//   - {{template}} names a part, and a part contains no other. There is no {{define}} and no {{block}}.
//   - It writes at most 32 MiB, and executes at most 262,144 nodes, such as texts, fields and functions: in one execution, and in all with
//     which Parse tries it.
//
// The templates of a flow itself are the host program's own code, and may do all that text/template can.
//
// The templates turn, assess and verdict also see {{.Round}}, the number of the round. Templates are executed once per debate and
// kind. The round changes from turn to turn, and the number of rounds when a host program amends it. So {{.Round}} and {{.Rounds}} render
// placeholders in these templates, which [Fill] replaces by the numbers.
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

// Set is a complete set of templates, made by [Parse] and [Set.With]. It is immutable and safe for concurrent use.
type Set struct {
	known     map[string]Template // as they are without replacements, by name; shared between sets
	texts     map[string]string   // as they are used, by name
	base      *template.Template  // the parts, beside which every template is parsed
	templates map[string]*template.Template
	buffers   sync.Pool // of *page
}

// Template is a template of a flow outside this package. [Set.Render] executes it.
type Template struct {
	Text string
	// Samples are data that reach all branches of the template and of its possible replacements. There is at least one. If the Instructions
	// of one are [SampleInstructions], a replacement of a template with Fenced or Asks must print {{.Instructions}}.
	Samples []any
	// Fenced says that the template is a system prompt of somebody who reads what others have said. A replacement of it must contain the
	// part "fence", whatever its data hold.
	Fenced bool
	// Asks says that the template asks for a structured answer. A replacement of it must print {{.Fields}}, whatever else its data hold.
	Asks bool
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
//   - is longer, or does more, than a replacement may: see the package,
//   - never renders any text,
//   - lacks the part "fence", which explains the markers, in a system prompt of somebody who reads what others have said,
//   - lacks the fields that an answer has, where a structured answer is asked for, or
//   - lacks the Instructions of a config, in one of these two that sees them.
//
// The error joins one error for each such override. It has a method Template, which returns the name.
func Parse(overrides map[string]string, flows ...map[string]Template) (*Set, error) {
	own, err := embedded()
	if err != nil {
		return nil, err
	}
	all := &Set{known: maps.Clone(own.known), texts: maps.Clone(own.texts), base: own.base, templates: maps.Clone(own.templates)}
	return all.with(overrides, all.add(flows))
}

// overrideError is why an override is refused.
type overrideError struct {
	name string
	error
}

// Template returns the name of the override.
func (e *overrideError) Template() string { return e.name }

func (e *overrideError) Unwrap() error { return e.error }

// With returns the set with further templates replaced. It parses and tries only those, and all of them if a part is replaced. It refuses
// what [Parse] refuses. Without overrides it returns the set itself.
func (s *Set) With(overrides map[string]string) (*Set, error) {
	if len(overrides) == 0 {
		return s, nil
	}
	if s == nil || s.base == nil {
		return nil, errors.New("prompt: the set was not made by Parse")
	}
	return s.with(overrides, nil)
}

// Default returns the text of a template or part of this package as it is without replacements, in the language of text/template. ok is
// false if there is none of this name.
func Default(name string) (text string, ok bool) {
	own, _ := embedded()
	text, ok = own.texts[name]
	return text, ok
}

// Shared reports whether conversations of all flows use a template or part of this package, and not only debates: those about tools,
// refused answers and summaries, the fence and the language.
func Shared(name string) bool {
	return slices.Contains([]string{"again", "tools", "summarizer", "summary", partFence, partLanguage}, name)
}

// Text returns the text of a template or part as the set uses it, in the language of text/template. "": there is none of this name.
func (s *Set) Text(name string) string {
	if s == nil {
		return ""
	}
	return s.texts[name]
}

// embedded returns the templates of this package, parsed and tried once for all sets. The set is never nil.
//
//nolint:gochecknoglobals // read only
var embedded = sync.OnceValues(func() (*Set, error) {
	own := &Set{
		known: make(map[string]Template), texts: make(map[string]string), base: template.New("").Funcs(functions()),
		templates: make(map[string]*template.Template),
	}
	var failures []error
	for name, trials := range samples() {
		file, err := files.ReadFile("template/" + name + ".tmpl")
		if err != nil {
			failures = append(failures, fmt.Errorf("prompt: template %q: %w", name, err))
		}
		own.known[name], own.texts[name] = embeddedTemplate(name, string(file), trials), string(file)
	}
	for _, name := range parts() {
		if _, err := own.base.New(name).Parse(strings.TrimSpace(own.texts[name])); err != nil {
			failures = append(failures, fmt.Errorf("prompt: template %q: %w", name, err))
		}
	}
	made, err := own.with(nil, failures)
	if err != nil {
		return own, err
	}
	return made, nil
})

// add takes over the templates of flows, which are not parsed yet.
func (s *Set) add(flows []map[string]Template) (failures []error) {
	for _, own := range flows {
		for _, name := range slices.Sorted(maps.Keys(own)) {
			switch text, taken := s.texts[name]; {
			case taken && text != own[name].Text:
				failures = append(failures, fmt.Errorf("prompt: template %q: two templates have this name", name))
			case len(own[name].Samples) == 0:
				failures = append(failures, fmt.Errorf("prompt: template %q: has no sample", name))
			case !taken: // what a shared template has to show does not hang on who else shares it
				s.known[name], s.texts[name] = own[name], own[name].Text
			}
		}
	}
	return failures
}

// with parses and tries the templates of a set that are replaced or not parsed yet. failures are those that are known already.
func (s *Set) with(overrides map[string]string, failures []error) (*Set, error) {
	for _, name := range slices.Sorted(maps.Keys(overrides)) {
		if _, ok := s.known[name]; !ok {
			unknown := fmt.Errorf("prompt: %w", text.Unknown("template", name, slices.Collect(maps.Keys(s.known))...))
			failures = append(failures, &overrideError{name, unknown})
		}
	}
	base, err := s.joined(overrides)
	if err != nil {
		return nil, errors.Join(append(failures, err)...)
	}
	out := &Set{known: s.known, texts: maps.Clone(s.texts), base: base, templates: make(map[string]*template.Template, len(s.known))}
	maps.Copy(out.texts, overrides) // an unknown name is a failure
	renewed := slices.ContainsFunc(parts(), func(part string) bool { _, ok := overrides[part]; return ok })
	for _, name := range slices.Sorted(maps.Keys(s.known)) {
		_, overridden := overrides[name]
		if ready := s.templates[name]; ready != nil && !overridden && !renewed {
			out.templates[name] = ready
			continue
		}
		parsed, err := s.known[name].parse(base, name, out.texts[name])
		if err != nil {
			failures = append(failures, &overrideError{name, fmt.Errorf("prompt: template %q: %w", name, err)})
			continue
		}
		out.templates[name] = parsed
	}
	if len(failures) > 0 {
		return nil, errors.Join(failures...)
	}
	return out, nil
}

// parse parses a text beside the parts and tries it. If it takes the place of the template's own, it may hold and must show what a
// replacement may and must.
func (t Template) parse(base *template.Template, name, text string) (*template.Template, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("is not valid UTF-8")
	}
	own := text == t.Text
	if isPart(name) { // it stands in the midst of another text
		text = strings.TrimSpace(text)
	}
	beside, err := base.Clone()
	if err != nil {
		return nil, err
	}
	parsed := beside.New(name)
	if own {
		parsed, err = parsed.Parse(text)
	} else if tree, wrong := replacement(name, text); wrong != nil {
		err = wrong
	} else {
		parsed, err = parsed.AddParseTree(name, tree)
	}
	if err != nil {
		return nil, err
	}
	if err := t.try(parsed); err != nil {
		return nil, err
	}
	if own {
		return parsed, nil
	}
	return parsed, t.shows(name, parsed.Root)
}

// try executes a template with each sample.
func (t Template) try(parsed *template.Template) error {
	var p page
	silent := true
	for _, data := range t.Samples {
		out, err := execute(&p, parsed, data)
		if err != nil {
			return err
		}
		silent = silent && out == ""
	}
	if silent { // the request would end on somebody's speech, or have no system prompt
		return errors.New("yields no text")
	}
	return nil
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
	p, ok := s.buffers.Get().(*page)
	if !ok {
		p = new(page)
	}
	out, err := execute(p, s.templates[name], data)
	if p.text.Cap() <= mostKept {
		p.fresh()
		s.buffers.Put(p)
	}
	if err != nil {
		return "", fmt.Errorf("prompt: template %q: %w", name, err)
	}
	return out, nil
}

// execute returns a copy of the right size, because a debate keeps its prompts as long as it runs. The
// memory of p is used again for the next text.
func execute(p *page, t *template.Template, data any) (string, error) {
	p.text.Reset()
	if err := t.Execute(p, data); err != nil {
		return "", err
	}
	// A template can create invalid UTF-8, which a log would not keep.
	return strings.ToValidUTF8(string(bytes.TrimSpace(p.text.Bytes())), string(unicode.ReplacementChar)), nil
}
