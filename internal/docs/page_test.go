// Package docs_test generates the pages under docs/reference that list types: from the types, and from their comments.
package docs_test

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// page is a page that is being written. It describes each struct once.
type page struct {
	*testing.T
	strings.Builder

	sources   sources
	links     map[reflect.Type]string // of the structs that are described, or will be
	open      []reflect.Type          // structs that were named, and are not described yet
	shared    []reflect.Type          // those of them that several flows have
	described []reflect.Type
	written   map[string]bool       // the lines that are written
	defaults  bool                  // fields say what holds without them; else long texts are cut
	whole     map[reflect.Type]bool // structs whose fields stand in others: what is said of each is needed
}

func newPage(t *testing.T, head string) *page {
	t.Helper()
	p := &page{T: t, sources: sources{}, links: map[reflect.Type]string{}, written: map[string]bool{}, whole: map[reflect.Type]bool{}}
	p.WriteString(head)
	for _, folder := range []string{"", "/flow", "/provider", "/format", "/deliberation", "/arbiter"} {
		p.sources.of(t, module+folder)
	}
	return p
}

// entitle says under which heading a struct is described.
func (p *page) entitle(t reflect.Type, title string) {
	p.links[t] = fmt.Sprintf("[%s](#%s)", t.Name(), strings.ToLower(strings.ReplaceAll(title, " ", "-")))
}

// check compares a page with the one that is kept. With -update it is written.
func (p *page) check(name string) {
	p.Helper()
	file, want := filepath.Join(root, "docs", "reference", name), p.String()
	if stage.Update() {
		require.NoError(p, os.WriteFile(file, []byte(want), 0o600))
	}
	got, err := os.ReadFile(file)
	require.NoError(p, err)
	assert.Equal(p, want, string(got), "go test ./internal/docs -update")
}

// row is a line of a struct's list: of one field, or of several of which one sentence speaks.
type row struct {
	keys, types []string
	text        string
}

// structRows lists the fields that a struct has in JSON.
func (p *page) structRows(t reflect.Type) []row {
	p.described = append(p.described, t)
	src := p.sources.of(p.T, t.PkgPath())
	fields := src.fields[t.Name()]
	var rows []row
	spoken := map[string]int{} // the rows, by the comments that they have
	if t == reflect.TypeFor[flow.Error]() {
		return p.errorRows(src)
	}
	for i := range fields {
		f, ok := t.FieldByName(fields[i].name)
		if !ok || !f.IsExported() {
			continue
		}
		key := p.keyOf(f)
		if f.Anonymous && fields[i].key == "" {
			rows = append(rows, row{text: p.inlined(f.Type)})
			continue
		}
		if key == "" {
			continue
		}
		typ, text := p.typeOf(f, t, src), p.said(src, t, fields, i)
		if at, ok := spoken[text]; ok && text != "" {
			rows[at].keys = append(rows[at].keys, key)
			if !slices.Contains(rows[at].types, typ) {
				rows[at].types = append(rows[at].types, typ)
			}
			continue
		}
		spoken[text] = len(rows)
		rows = append(rows, row{[]string{key}, []string{typ}, text})
	}
	return rows
}

// inlined says that the fields of another struct stand among the own ones.
func (p *page) inlined(t reflect.Type) string {
	link := p.link(t)
	p.whole[t] = true
	return "the fields of " + link
}

// keyOf returns the key of a field in JSON. "": it has none. A time that a shadow of the struct writes has the field's name.
func (p *page) keyOf(f reflect.StructField) string {
	key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	switch {
	case key == "-" && f.Type == reflect.TypeFor[time.Duration]():
		return lower(f.Name)
	case key == "-":
		return ""
	default:
		return key
	}
}

func lower(name string) string { return string(unicode.ToLower(rune(name[0]))) + name[1:] }

// said returns what is said of a field, be it by a sentence on several.
func (p *page) said(src *source, t reflect.Type, fields []field, i int) (text string) {
	at := i
	for !fields[i].own && !fields[at].above && at > 0 && fields[at].line-fields[at-1].end <= 1 {
		at--
	}
	all := sentences(fields[at].text)
	if len(all) == 0 || at < i && !fields[at].above || strings.HasPrefix(all[0], "see ") {
		return ""
	}
	name, pick := regexp.MustCompile(`\b`+fields[i].name+`\b`), 0
	if at < i {
		if pick = slices.IndexFunc(all, name.MatchString); pick < 0 {
			return ""
		}
	}
	text = all[pick]
	if p.defaults && pick+1 < len(all) && defaulting.MatchString(all[pick+1]) {
		text += " " + all[pick+1]
	}
	if !p.defaults {
		text = shorter(text)
	}
	return p.plain(src, t, strings.TrimSuffix(text, "."))
}

// shorter cuts what only explains a sentence: what follows a semicolon, or the first colon if more than five words come before it. A
// quotation stays whole.
func shorter(text string) string {
	quoted, colon := false, false
	for i, r := range text {
		switch {
		case r == '"':
			quoted = !quoted
		case quoted:
		case strings.HasPrefix(text[i:], "; "):
			return text[:i]
		case strings.HasPrefix(text[i:], ": ") && !colon:
			if colon = true; len(strings.Fields(text[:i])) > 5 {
				return text[:i]
			}
		}
	}
	return text
}

var (
	defaulting = regexp.MustCompile(`^(If (it|one) is (empty|nil|0|not set)\b|0:|"":|0 means|[A-Z]\w+ 0 means)`)
	subjects   = regexp.MustCompile(`^[A-Z]\w*(?:(?:, | and )[A-Z]\w*)*`)
	copula     = regexp.MustCompile(`^(?:is|are|says|say) `)
	aside      = regexp.MustCompile(`; see \S+$`)
	bracketed  = regexp.MustCompile(`\*?\[([\w.]+)\](\.\w+)?`)
	dotted     = regexp.MustCompile("(^|[\\s(\"])((?:[a-z]+\\.)?[A-Z]\\w*(?:\\.[A-Z]\\w*)+|[a-z]+\\.[A-Z]\\w*)")
	ofConfig   = regexp.MustCompile(`\bConfig\.([A-Z]\w+)`)
	capital    = regexp.MustCompile(`(^|[\s(])((?:[a-z]+\.)?[A-Z]\w*(?:\.[A-Z]\w*)*)`)
)

// claim leaves the verb out of what is said of something: "means that it is over, and that nobody waits".
func claim(text string) string {
	if all, ok := strings.CutPrefix(text, "means that "); ok {
		return strings.NewReplacer(", and that ", ", and ", ", or that ", ", or ", ", that ", ", ").Replace(all)
	}
	return copula.ReplaceAllString(text, "")
}

// plain writes a sentence of a comment for readers of JSON: fields by their keys, constants by their values.
func (p *page) plain(src *source, t reflect.Type, text string) string {
	begins, isField := subjects.FindString(text), true
	for _, name := range regexp.MustCompile(", | and ").Split(begins, -1) {
		_, found := t.FieldByName(name)
		isField = isField && found
	}
	if isField {
		text = claim(strings.TrimSpace(strings.TrimPrefix(text, begins)))
	}
	text = ofConfig.ReplaceAllStringFunc(text, func(found string) string { return "`" + lower(strings.TrimPrefix(found, "Config.")) + "`" })
	keys := map[string]string{}
	for _, f := range src.fields[t.Name()] {
		made, ok := t.FieldByName(f.name)
		if !ok {
			continue
		}
		if keys[f.name] = p.keyOf(made); made.Anonymous && made.Type.Kind() == reflect.Struct && made.Type.NumField() > 0 {
			keys[f.name] = cmp.Or(keys[f.name], p.keyOf(made.Type.Field(0))) // its fields stand in the struct: the first is what it is about
		}
	}
	text = aside.ReplaceAllString(bracketed.ReplaceAllString(text, "$1$2"), "")
	text = capital.ReplaceAllStringFunc(text, func(found string) string {
		word := strings.TrimLeft(found, " (")
		before := found[:len(found)-len(word)]
		if key := keys[word]; key != "" {
			return before + "`" + key + "`"
		}
		home, _, imported := strings.Cut(word, ".")
		if imported {
			if other := p.sources[module+"/"+home]; other != nil && other.values[word[len(home)+1:]] != "" {
				return before + other.values[word[len(home)+1:]]
			}
		} else if value := src.values[word]; value != "" {
			return before + value
		}
		return found
	})
	return dotted.ReplaceAllString(text, "$1`$2`")
}

// typeOf names the type that a field has in JSON.
func (p *page) typeOf(f reflect.StructField, owner reflect.Type, src *source) string {
	if f.Type == reflect.TypeFor[time.Duration]() {
		if strings.HasPrefix(f.Tag.Get("json"), "-") {
			return "duration"
		}
		return "nanoseconds"
	}
	if f.Type.Kind() == reflect.String && f.Type.PkgPath() == "" { // a text for which the package may have names
		prefix := f.Name
		if prefix == "Kind" {
			prefix = owner.Name()
		}
		var named []string
		for name, value := range src.values {
			if strings.HasPrefix(name, prefix) && name != prefix && !unicode.IsDigit(rune(value[1])) {
				named = append(named, value)
			}
		}
		if slices.Sort(named); len(named) > 1 {
			return strings.Join(named, ", ")
		}
	}
	return p.name(f.Type)
}

// name names a type as its JSON shows it.
func (p *page) name(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[time.Time]():
		return "time"
	case reflect.TypeFor[flow.Duration]():
		return "duration"
	case reflect.TypeFor[flow.Money]():
		return "USD"
	case reflect.TypeFor[flow.Value](), reflect.TypeFor[flow.Metadata]():
		return "JSON"
	case reflect.TypeFor[provider.Kind]():
		return "[kind](errors.md)"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return p.name(t.Elem())
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			if strings.HasSuffix(t.String(), "RawMessage") {
				return "JSON"
			}
			return "base64"
		}
		return strings.TrimSuffix("list of "+p.name(t.Elem()), " of text")
	case reflect.Map:
		return strings.TrimSuffix("map of "+p.name(t.Elem()), " of text")
	case reflect.Struct:
		return p.link(t)
	case reflect.Int, reflect.Int64, reflect.Int32, reflect.Uint64:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.Bool:
		return "boolean"
	case reflect.Interface:
		return "JSON"
	}
	if alts := p.alternatives(t); alts != nil {
		return "`" + strings.Join(alts, "`, `") + "`"
	}
	return "text"
}

// alternatives returns the texts that a type of texts can have. nil: it can have others too.
func (p *page) alternatives(t reflect.Type) []string {
	if t.PkgPath() == "" {
		return nil
	}
	alts := p.sources.of(p.T, t.PkgPath()).alts[t.Name()]
	if slices.Contains(alts, "") {
		alts = slices.DeleteFunc(slices.Clone(alts), func(s string) bool { return s == "" })
	}
	free := slices.Contains([]string{"Who", "Detector", "CallKind"}, t.Name()) // of those, the names are examples
	if len(alts) > 1 && len(alts) <= 8 && !free {
		return alts
	}
	return nil
}

// errorRows lists the fields of an error, whose JSON another struct writes.
func (p *page) errorRows(src *source) []row {
	texts := map[string]string{}
	for _, f := range src.fields["Error"] {
		texts[f.name] = f.text
	}
	var rows []row
	for _, f := range src.fields["errorJSON"] {
		text := oneLine(f.text)
		if text == "" {
			text, _, _ = strings.Cut(oneLine(texts[f.name]), ";")
		}
		typ := map[string]string{"int": "integer", "float64": "number", "bool": "boolean", "time.Time": "time"}[f.typ]
		rows = append(rows, row{[]string{f.key}, []string{cmp.Or(typ, "text")}, text})
	}
	return rows
}

// link names a struct, which the page describes.
func (p *page) link(t reflect.Type) string {
	if p.links[t] == "" {
		p.entitle(t, p.title(t))
		if home := path.Base(t.PkgPath()); home == "flow" || home == "provider" {
			p.shared = append(p.shared, t)
		} else {
			p.open = append(p.open, t)
		}
	}
	return p.links[t]
}

// title is the name of a struct, with its package where another heading has it already.
func (p *page) title(t reflect.Type) string {
	for taken, link := range p.links {
		if taken.Name() == t.Name() || strings.HasSuffix(link, "(#"+strings.ToLower(t.Name())+")") {
			return t.Name() + " of " + path.Base(t.PkgPath())
		}
	}
	return t.Name()
}

// list writes rows, one line each. Neighbours of which nothing is said share a line, and so do rows that the page has already.
func (p *page) list(rows []row) {
	var silent, again []string
	flush := func() {
		if silent != nil {
			p.WriteString("- " + strings.Join(silent, ", ") + "\n")
		}
		silent = nil
	}
	for _, r := range rows {
		keys := "`" + strings.Join(r.keys, "`, `") + "`"
		if r.text == "those of a `debate.Config`" {
			r.text = "as of a [debate](#debate)"
		} else if types := strings.Join(r.types, "; "); types != "text" {
			keys += " (" + types + ")"
		}
		line := "- " + keys + ": " + r.text + "\n"
		switch {
		case len(r.keys) == 0:
			flush()
			p.WriteString("- " + r.text + "\n")
		case r.text == "":
			silent = append(silent, keys)
		case p.written[line]:
			again = append(again, "`"+strings.Join(r.keys, "`, `")+"`")
		default:
			flush()
			p.WriteString(line)
			p.written[line] = true
		}
	}
	flush()
	if again != nil {
		p.WriteString("- as above: " + strings.Join(again, ", ") + "\n")
	}
}

// rest describes the structs that were named and are not described yet, and those that they name.
func (p *page) rest(open *[]reflect.Type) {
	for len(*open) > 0 {
		t := (*open)[0]
		*open = (*open)[1:]
		_, anchor, _ := strings.Cut(strings.TrimSuffix(p.links[t], ")"), "#")
		title := t.Name()
		if anchor != strings.ToLower(title) {
			title += " of " + path.Base(t.PkgPath())
		}
		fmt.Fprintf(p, "\n### %s\n\n", title)
		rows := p.structRows(t)
		for i := range rows {
			if !p.defaults && !p.whole[t] && len(rows[i].keys) > 0 {
				rows[i].text = ""
			}
		}
		p.list(rows)
	}
}
