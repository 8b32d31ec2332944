// Package toolschema reduces the schemas of tools to what the APIs of all vendors take. Adapters read further schemas with its [Object],
// and models that are none read a schema as a [Node], to make a value for it.
package toolschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Bounds of a lowered schema.
const (
	maxLevels = 24       // of schemas within schemas; what is deeper may be anything
	maxBytes  = 64 << 10 // of what is given, and of what is made of it
)

// None is the schema of a tool that takes no arguments.
const None = `{"type":"object","properties":{}}`

// anything is a schema that every value satisfies.
const anything = `{}`

// property reports whether all vendors take the name of an argument. Anthropic's refusal quotes ^[a-zA-Z0-9_.-]{1,64}$.
func property(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
	return name != "" && len(name) <= 64 && strings.Trim(name, letters) == ""
}

//nolint:gochecknoglobals // read only
var types = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

// Lower reduces the JSON schema of a tool's arguments to what all vendors take: an object with properties at the root, without
// anyOf, oneOf and allOf there, lists with items, and no keyword that one of them refuses. The order of properties stays.
// References are written out; one that leads back into itself, or outside of the schema, becomes anything.
//
// Every value that satisfies schema satisfies the lowered one, but for arguments whose names no vendor takes: they are left out. The
// reverse does not hold, so a tool checks what it gets. What has no other words is said in descriptions: formats, patterns, and which
// arguments belong together.
//
// An empty schema means no arguments. The error says why a schema cannot be lowered: it is no schema of an object, it requires an
// argument whose name vendors refuse, or it is longer than 64 KiB. schema is not changed and not kept.
func Lower(schema json.RawMessage) (json.RawMessage, error) {
	schema = bytes.TrimSpace(schema)
	if len(schema) > maxBytes {
		return nil, fmt.Errorf("its schema has more than %d bytes", maxBytes)
	}
	switch string(schema) {
	case "", "null", "true", anything:
		return json.RawMessage(None), nil
	}
	root, ok := Parse(schema)
	if !json.Valid(schema) || !ok {
		return nil, errNoObject
	}
	l := lowering{whole: root, open: []string{"#"}}
	o := l.flat(root, 0)
	if root.Has("$ref") && len(o.types()) == 0 && !o.Has("anyOf") && !o.Has("oneOf") { // it leads nowhere
		return nil, errNoObject
	}
	if o, ok = l.arguments(o, 0); !ok {
		return nil, errNoObject
	}
	for _, name := range o.texts("required") {
		if !property(name) {
			return nil, fmt.Errorf("it requires the argument %.80q, and vendors take only names of 1 to 64 letters, digits, '_', '.' and '-'", name)
		}
	}
	lowered := l.object(o, 0).JSON()
	if len(lowered) > maxBytes {
		return nil, fmt.Errorf("its schema has more than %d bytes once its references are written out", maxBytes)
	}
	return lowered, nil
}

var errNoObject = errors.New("its parameters are no JSON schema of an object")

// lowering lowers one schema.
type lowering struct {
	whole Object   // what references lead into
	open  []string // the references that are being written out
	size  int      // the bytes that were written out for references
}

// flat returns a schema with what it refers to, and with what allOf adds to it. What stands in the schema itself takes precedence.
func (l *lowering) flat(o Object, depth int) Object {
	for o.Has("$ref") {
		ref := o.Text("$ref")
		o = o.without("$ref")
		target, ok := l.whole.find(ref)
		if !ok || slices.Contains(l.open, ref) || l.size > maxBytes {
			break
		}
		l.open = append(l.open, ref)
		l.size += len(target.JSON())
		o = with(o, target)
	}
	parts := o.List("allOf")
	o = o.without("allOf")
	for _, part := range parts {
		if inner, ok := Parse(part); ok && depth < maxLevels {
			before := len(l.open)
			o = with(o, l.flat(inner, depth+1))
			l.open = l.open[:before] // what the parts say is beside it, not within
		}
	}
	return o
}

// with adds to a schema what holds beside it: its properties, what it requires, and the keywords that the schema lacks.
func with(o, more Object) Object {
	for _, f := range more {
		switch own := o.Get(f.Name); {
		case own == nil:
			o = o.set(f.Name, f.Value)
		case f.Name == "properties":
			ours, _ := Parse(own)
			theirs, _ := Parse(f.Value)
			for _, p := range theirs {
				if !ours.Has(p.Name) {
					ours = append(ours, p)
				}
			}
			o = o.set(f.Name, ours.JSON())
		case f.Name == "required":
			o = o.set(f.Name, Written(union(o.texts(f.Name), more.texts(f.Name))))
		}
	}
	return o
}

func union(a, b []string) []string {
	out := append([]string{}, a...)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// types returns the types that a schema names, those that keywords imply included. nil: any.
func (o Object) types() []string {
	named := o.texts("type")
	if one := o.Text("type"); one != "" {
		named = []string{one}
	}
	var out []string
	for _, t := range named {
		if t = strings.ToLower(t); slices.Contains(types, t) {
			out = union(out, []string{t})
		}
	}
	switch {
	case len(out) > 0:
	case o.Has("properties"):
		return []string{"object"}
	case o.Has("items"), o.Has("prefixItems"):
		return []string{"array"}
	}
	return out
}

// arguments returns the schema of an object with the properties of all its alternatives, because no vendor takes alternatives at the
// root. ok is false if no object satisfies it.
func (l *lowering) arguments(o Object, depth int) (merged Object, ok bool) {
	if kinds := o.types(); o.Has("type") && !slices.Contains(kinds, "object") || depth > maxLevels {
		return nil, false
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		parts := o.List(keyword)
		o = o.without(keyword)
		if len(parts) == 0 {
			continue
		}
		var needs [][]string
		for _, part := range parts {
			inner, ok := Parse(part)
			if !ok {
				continue
			}
			before := len(l.open)
			inner, ok = l.arguments(l.flat(inner, depth), depth+1)
			l.open = l.open[:before]
			if ok {
				needs = append(needs, inner.texts("required"))
				o = besides(o, inner)
			}
		}
		if len(needs) == 0 {
			return nil, false
		}
		o = o.needing(needs)
	}
	return o, true
}

// besides adds the properties of an alternative. A property that several alternatives describe is one of what they say.
func besides(o, alternative Object) Object {
	ours, _ := Parse(o.Get("properties"))
	theirs, _ := Parse(alternative.Get("properties"))
	for _, p := range theirs {
		own := ours.Get(p.Name)
		switch {
		case own == nil:
			ours = append(ours, p)
		case bytes.Equal(own, p.Value):
		default:
			either := []json.RawMessage{own, p.Value}
			if former, ok := Parse(own); ok && len(former) == 1 && former.Has("anyOf") {
				either = append(former.List("anyOf"), p.Value)
			}
			ours = ours.set(p.Name, Object{{"anyOf", Joined(either)}}.JSON())
		}
	}
	if ours == nil {
		return o
	}
	return o.set("properties", ours.JSON())
}

// needing requires what all alternatives require, and says in words what each of them does.
func (o Object) needing(needs [][]string) Object {
	all := needs[0]
	var words []string
	for _, names := range needs {
		all = slices.DeleteFunc(slices.Clone(all), func(name string) bool { return !slices.Contains(names, name) })
		if said := strings.Join(names, " and "); said != "" && !slices.Contains(words, said) {
			words = append(words, said)
		}
	}
	if len(all) > 0 {
		o = o.set("required", Written(union(o.texts("required"), all)))
	}
	if len(words) > 1 {
		o = o.saying("Give one of these: " + strings.Join(words, "; or ") + ".")
	}
	return o
}

// saying adds a sentence to the description.
func (o Object) saying(sentence string) Object {
	return o.set("description", Written(strings.TrimSpace(o.Text("description")+" "+sentence)))
}

// schema lowers a schema within another.
func (l *lowering) schema(data json.RawMessage, level int) json.RawMessage {
	o, ok := Parse(data)
	if !ok || level > maxLevels { // true, or false, for which there are no words
		return json.RawMessage(anything)
	}
	before := len(l.open)
	defer func() { l.open = l.open[:before] }()
	o = l.flat(o, 0)
	kinds := o.types()
	to := append(o.notes(), o.bounds(kinds)...)
	switch len(kinds) {
	case 0:
	case 1:
		to = append(Object{{"type", Written(kinds[0])}}, to...)
	default:
		to = append(Object{{"type", Written(kinds)}}, to...)
	}
	if slices.Contains(kinds, "object") {
		to = with(to, l.object(o, level))
	}
	if slices.Contains(kinds, "array") {
		to = to.set("items", l.items(o, level))
	}
	var either []json.RawMessage
	for _, one := range slices.Concat(o.List("anyOf"), o.List("oneOf")) {
		either = append(either, l.schema(one, level+1))
	}
	if len(either) > 0 {
		to = to.set("anyOf", Joined(either))
	}
	return to.JSON()
}

// object lowers what a schema says of objects. At the root, level 0, it is the whole schema.
func (l *lowering) object(o Object, level int) Object {
	to := Object{{"type", json.RawMessage(`"object"`)}}
	if level == 0 {
		to = append(to, o.notes()...)
	}
	properties, _ := Parse(o.Get("properties"))
	described := Object{}
	for _, p := range properties {
		if property(p.Name) {
			described = append(described, Field{p.Name, l.schema(p.Value, level+1)})
		}
	}
	to = append(to, Field{"properties", described.JSON()})
	required := slices.DeleteFunc(o.texts("required"), func(name string) bool { return !described.Has(name) })
	if len(required) > 0 {
		to = append(to, Field{"required", Written(union(nil, required))})
	}
	switch more := bytes.TrimSpace(o.Get("additionalProperties")); {
	case len(more) == 0, o.Has("patternProperties"), len(described) < len(properties) && string(more) == "false":
	case string(more) == "true", string(more) == "false":
		to = append(to, Field{"additionalProperties", more})
	case more[0] == '{':
		to = append(to, Field{"additionalProperties", l.schema(more, level+1)})
	}
	return to
}

// items lowers what a schema says of the items of a list. Those of a tuple are one of what it says of each.
func (l *lowering) items(o Object, level int) json.RawMessage {
	each := o.List("prefixItems")
	if tuple := o.List("items"); tuple != nil {
		each = tuple
	} else if _, ok := Parse(o.Get("items")); ok {
		each = append(each, o.Get("items"))
	}
	var lowered []json.RawMessage
	for _, one := range each {
		if made := l.schema(one, level+1); !slices.ContainsFunc(lowered, func(s json.RawMessage) bool { return bytes.Equal(s, made) }) {
			lowered = append(lowered, made)
		}
	}
	switch len(lowered) {
	case 0:
		return json.RawMessage(anything)
	case 1:
		return lowered[0]
	default:
		return Object{{"anyOf", Joined(lowered)}}.JSON()
	}
}

// notes returns the title and the description, which says too what vendors refuse: most formats, patterns, values other than strings and
// numbers.
func (o Object) notes() Object {
	var to Object
	if title := o.Text("title"); title != "" {
		to = append(to, Field{"title", Written(title)})
	}
	if description := o.Text("description"); description != "" {
		to = append(to, Field{"description", Written(description)})
	}
	switch format := o.Text("format"); format {
	case "", "int32", "int64", "uint32", "uint64", "float", "double":
	case "date-time":
		to = append(to, Field{"format", o.Get("format")})
	default:
		to = to.saying("Format: " + format + ".")
	}
	if pattern := o.Text("pattern"); pattern != "" {
		to = to.saying("Pattern: " + pattern)
	}
	if values, plain := o.values(); !plain { // Gemini takes no others
		to = to.saying("One of " + string(Joined(values)) + ".")
	}
	return to
}

// bounds returns which values a schema allows, as far as all vendors have words for it.
func (o Object) bounds(kinds []string) Object {
	var to Object
	if values, plain := o.values(); plain && len(values) > 0 {
		to = append(to, Field{"enum", Joined(values)})
	}
	for _, name := range []string{"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"} {
		if _, ok := o.number(name); ok {
			to = append(to, Field{name, o.Get(name)})
		}
	}
	whole := len(kinds) == 1 && kinds[0] == "integer"
	for _, b := range []struct {
		name, exclusive string
		step            float64
	}{{"minimum", "exclusiveMinimum", 1}, {"maximum", "exclusiveMaximum", -1}} {
		n, ok := o.number(b.exclusive)
		if !ok || to.Has(b.name) {
			continue
		}
		if whole && n == math.Trunc(n) { // the next integer
			n += b.step
		}
		to = append(to, Field{b.name, strconv.AppendFloat(nil, n, 'f', -1, 64)})
	}
	if d := o.Get("default"); d != nil {
		to = append(to, Field{"default", d})
	}
	return to
}

// number returns a field that is a number.
func (o Object) number(name string) (n float64, ok bool) {
	raw := o.Get(name)
	ok = raw != nil && string(raw) != "null" && json.Unmarshal(raw, &n) == nil
	return n, ok
}

// values returns the values of an enum, or the only one that const allows; nil: there are none. plain is false if not all of them are
// strings and numbers.
func (o Object) values() (values []json.RawMessage, plain bool) {
	values = o.List("enum")
	if only := o.Get("const"); only != nil && len(values) == 0 {
		values = []json.RawMessage{only}
	}
	return values, !slices.ContainsFunc(values, func(v json.RawMessage) bool { return strings.IndexByte("\"-0123456789", v[0]) < 0 })
}
