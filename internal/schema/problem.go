package schema

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	validator "github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/agonist-dev/debate/internal/text"
)

const (
	maxProblems = 20  // more of them would only fill the prompt that shows them
	maxNames    = 5   // unknown properties listed in one problem
	maxName     = 32  // bytes of a name that comes from the value
	maxPlace    = 200 // bytes of a path
	maxMessage  = 300 // bytes of a rule in the library's words
)

// Validate returns what is wrong with v, or nil: one line for each place and broken rule, sorted, and the
// same for equal values. It lists at most 20 lines and the number of the others. From v, a line repeats
// only numbers and names, which are cut to 32 bytes and escaped. So it may be shown to a model.
//
// v is a decoded JSON value as [strictjson.Decode] returns it. It is not modified.
func (s *Schema) Validate(v any) (problems []string) {
	defer func() {
		if r := recover(); r != nil { // v is not a JSON value, or the schema never ends
			problems = []string{"(root): cannot be checked"}
		}
	}()
	if s.acceptor != nil && s.acceptor.accepts(v) {
		return nil // almost every answer, in a small part of the time
	}
	err := s.compiled.Validate(v)
	if err == nil {
		return nil
	}
	var invalid *validator.ValidationError
	if !errors.As(err, &invalid) {
		return []string{"(root): cannot be checked"}
	}
	var found []problem
	collect(invalid, &found)
	slices.SortFunc(found, func(a, b problem) int {
		return cmp.Or(strings.Compare(a.place, b.place), strings.Compare(a.rule, b.rule))
	})
	found = slices.Compact(found)
	for i, p := range found {
		if i == maxProblems {
			problems = append(problems, fmt.Sprintf("and %d more problems", len(found)-i))
			break
		}
		problems = append(problems, readable(p.place)+": "+p.rule)
	}
	return problems
}

// problem is a rule that the value at a place (a JSON pointer) breaks.
type problem struct {
	place, rule string
}

// collect gathers the failures at the leaves of the tree. The nodes above them only say that there are
// some.
func collect(e *validator.ValidationError, found *[]problem) {
	switch {
	case len(e.Causes) == 0:
		*found = append(*found, problem{e.InstanceLocation, rule(e)})
	case strings.HasSuffix(e.KeywordLocation, "/minContains"):
		*found = append(*found, problem{e.InstanceLocation, "items of the wanted kind: " + e.Message})
	case e.Message == "oneOf failed", e.Message == "anyOf failed":
		alternatives(e, found)
	default:
		for _, cause := range e.Causes {
			collect(cause, found)
		}
	}
}

// alternatives reports the most helpful problem of a value that matches none of several schemas: what is
// wrong under the schemas that accept its type or, if there are none, which types are accepted.
func alternatives(e *validator.ValidationError, found *[]problem) {
	var types []string
	meant, got := false, ""
	for _, cause := range e.Causes {
		want, is, ok := strings.Cut(strings.TrimPrefix(cause.Message, "expected "), ", but got ")
		here := len(cause.Causes) == 0 && cause.InstanceLocation == e.InstanceLocation
		if ok && here && strings.HasSuffix(cause.KeywordLocation, "/type") {
			types, got = append(types, want), is
			continue
		}
		meant = true
		collect(cause, found)
	}
	if !meant {
		*found = append(*found, problem{e.InstanceLocation, "expected " + strings.Join(types, " or ") + ", but got " + got})
	}
}

// rule returns the broken rule in words, without the value that breaks it.
func rule(e *validator.ValidationError) string {
	switch e.KeywordLocation[strings.LastIndexByte(e.KeywordLocation, '/')+1:] {
	case "additionalProperties":
		if names := quoted().FindAllString(e.Message, -1); names != nil {
			return unknown(names)
		}
	case "format":
		if i := strings.LastIndex(e.Message, " is not valid "); i >= 0 {
			return e.Message[i+len(" is "):]
		}
	}
	return cut(e.Message, maxMessage)
}

// quoted matches the names in the library's message, which come in random order and at full length. It is
// compiled when the first such message comes.
var quoted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`'(?:[^'\\]|\\.)*'`) }) //nolint:gochecknoglobals // read only

func unknown(names []string) string {
	for i, n := range names {
		n = strings.ReplaceAll(n[1:len(n)-1], `\'`, `'`)
		if plain, err := strconv.Unquote(`"` + strings.ReplaceAll(n, `"`, `\"`) + `"`); err == nil {
			n = plain
		}
		names[i] = "'" + escape(n) + "'"
	}
	slices.Sort(names)
	more := ""
	if len(names) > maxNames {
		more = fmt.Sprintf(" and %d more", len(names)-maxNames)
		names = names[:maxNames]
	}
	return "properties that are not allowed: " + strings.Join(names, ", ") + more
}

// readable returns a JSON pointer in a readable form. The names in it come from the value.
func readable(pointer string) string {
	if pointer == "" {
		return "(root)"
	}
	var b strings.Builder
	for step := range strings.SplitSeq(pointer[1:], "/") {
		if plain, err := url.PathUnescape(step); err == nil {
			step = plain
		}
		b.WriteString("/" + escape(step))
	}
	return cut(b.String(), maxPlace)
}

// escape makes a name safe to print.
func escape(name string) string {
	name = strconv.QuoteToASCII(cut(name, maxName))
	return name[1 : len(name)-1]
}

// cut shortens s to at most n bytes, at a character boundary.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return text.Cut(s, n-len("...")) + "..."
}
