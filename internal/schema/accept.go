package schema

import (
	"math"
	"slices"
	"unicode/utf8"
)

// acceptor accepts values that surely match a schema, in one pass, on a small stack and without memory. It refuses none: a value that it
// does not accept goes to the validator, which alone finds and words the problems. So an acceptor may ask for more than its schema does,
// and never for less.
type acceptor struct {
	kinds    kinds
	fields   map[string]*acceptor
	required []string
	others   *acceptor     // of the fields beside these; nil: any value
	items    *acceptor     // nil: any value
	count    bounds        // of the items
	length   bounds        // of a text, in characters
	number   bounds        // of a number's value
	texts    []string      // the only ones, and nothing else; nil: any value
	choices  [][]*acceptor // of each list, one must accept the value
}

// kinds is a set of kinds of decoded values. A number is whole, or it is a fraction.
type kinds uint8

const (
	isNull kinds = 1 << iota
	isTruth
	isWhole
	isFraction
	isText
	isList
	isObject

	isAny kinds = 1<<iota - 1
)

// bounds are a least and a most. nil: none.
type bounds struct{ least, most *float64 }

func (b bounds) hold(n float64) bool {
	return (b.least == nil || n >= *b.least) && (b.most == nil || n <= *b.most)
}

// acceptorOf returns the acceptor of a decoded schema that the validator has compiled. It returns nil if the schema has a keyword, or a
// form of one, that acceptors do not know.
func acceptorOf(schema any) *acceptor {
	a := &acceptor{kinds: isAny}
	switch schema := schema.(type) {
	case bool:
		if !schema {
			a.kinds = 0
		}
	case map[string]any:
		for keyword, rule := range schema {
			if !a.add(keyword, rule) {
				return nil
			}
		}
	default:
		return nil
	}
	return a
}

// add adds one rule of a schema. It reports whether acceptors know it.
func (a *acceptor) add(keyword string, rule any) (known bool) {
	switch keyword {
	case "title", "description":
		known = true
	case "$schema":
		known = rule == draft
	case "type":
		a.kinds, known = kindsNamed(rule)
	case "enum":
		a.texts, known = textsOf(rule)
	case "minLength":
		a.length.least, known = boundOf(rule)
	case "maxLength":
		a.length.most, known = boundOf(rule)
	case "minimum":
		a.number.least, known = boundOf(rule)
	case "maximum":
		a.number.most, known = boundOf(rule)
	case "minItems":
		a.count.least, known = boundOf(rule)
	case "maxItems":
		a.count.most, known = boundOf(rule)
	case "items":
		a.items = acceptorOf(rule)
		known = a.items != nil
	case "additionalProperties":
		a.others = acceptorOf(rule)
		known = a.others != nil
	case "properties":
		a.fields, known = fieldsOf(rule)
	case "required":
		a.required, known = textsOf(rule)
	case "anyOf", "oneOf":
		var choice []*acceptor
		choice, known = choiceOf(rule)
		known = known && (keyword == "anyOf" || exclusive(choice))
		a.choices = append(a.choices, choice)
	}
	return known
}

// kindsNamed returns the kinds of a rule "type".
func kindsNamed(rule any) (all kinds, known bool) {
	names, several := rule.([]any)
	if !several {
		names = []any{rule}
	}
	for _, name := range names {
		switch name {
		case "null":
			all |= isNull
		case "boolean":
			all |= isTruth
		case "integer":
			all |= isWhole
		case "number":
			all |= isWhole | isFraction
		case "string":
			all |= isText
		case "array":
			all |= isList
		case "object":
			all |= isObject
		default:
			return 0, false
		}
	}
	return all, true
}

// boundOf returns the bound of a rule. The validator compares decimal numbers, and counts with integers: a float64 compares as both do if
// the bound is whole and below 2^53.
func boundOf(rule any) (*float64, bool) {
	n, ok := rule.(float64)
	return &n, ok && n == math.Trunc(n) && math.Abs(n) < 1<<53
}

// textsOf returns the texts of a rule that lists nothing else.
func textsOf(rule any) ([]string, bool) {
	values, ok := rule.([]any)
	texts := make([]string, len(values))
	for i, value := range values {
		if texts[i], ok = value.(string); !ok {
			break
		}
	}
	return texts, ok
}

func fieldsOf(rule any) (map[string]*acceptor, bool) {
	schemas, ok := rule.(map[string]any)
	fields := make(map[string]*acceptor, len(schemas))
	for name, schema := range schemas {
		fields[name] = acceptorOf(schema)
		ok = ok && fields[name] != nil
	}
	return fields, ok
}

func choiceOf(rule any) ([]*acceptor, bool) {
	schemas, ok := rule.([]any)
	choice := make([]*acceptor, len(schemas))
	for i, schema := range schemas {
		choice[i] = acceptorOf(schema)
		ok = ok && choice[i] != nil
	}
	return choice, ok
}

// exclusive reports whether no value has a kind of two of these. One that matches is then the only one. Otherwise an acceptor would have to
// know that a value does not match, which it never does.
func exclusive(choice []*acceptor) bool {
	var taken kinds
	for _, one := range choice {
		if one == nil || taken&one.kinds != 0 {
			return false
		}
		taken |= one.kinds
	}
	return true
}

// kindOf returns the kind of a decoded value, or 0 if the decoder makes no such value.
func kindOf(v any) kinds {
	switch v := v.(type) {
	case nil:
		return isNull
	case bool:
		return isTruth
	case float64:
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return 0
		case v == math.Trunc(v):
			return isWhole
		}
		return isFraction
	case string:
		return isText
	case []any:
		return isList
	case map[string]any:
		return isObject
	}
	return 0
}

// accepts reports whether a value surely matches.
func (a *acceptor) accepts(v any) bool {
	ok := a.kinds&kindOf(v) != 0
	switch v := v.(type) {
	case float64:
		ok = ok && a.number.hold(v)
	case string:
		ok = ok && (a.length == (bounds{}) || a.length.hold(float64(utf8.RuneCountInString(v))))
	case []any:
		ok = ok && a.count.hold(float64(len(v))) && a.acceptsItems(v)
	case map[string]any:
		ok = ok && a.acceptsFields(v)
	}
	return ok && a.lists(v) && a.chooses(v)
}

func (a *acceptor) acceptsItems(items []any) bool {
	if a.items == nil {
		return true
	}
	for _, item := range items {
		if !a.items.accepts(item) {
			return false
		}
	}
	return true
}

func (a *acceptor) acceptsFields(object map[string]any) bool {
	for _, name := range a.required {
		if _, ok := object[name]; !ok {
			return false
		}
	}
	for name, value := range object {
		field, ok := a.fields[name]
		if !ok {
			field = a.others
		}
		if field != nil && !field.accepts(value) {
			return false
		}
	}
	return true
}

// lists reports whether a value is one of the only texts.
func (a *acceptor) lists(v any) bool {
	text, ok := v.(string)
	return a.texts == nil || ok && slices.Contains(a.texts, text)
}

// chooses reports whether one acceptor of each list accepts a value.
func (a *acceptor) chooses(v any) bool {
	for _, choice := range a.choices {
		if !slices.ContainsFunc(choice, func(one *acceptor) bool { return one.accepts(v) }) {
			return false
		}
	}
	return true
}
