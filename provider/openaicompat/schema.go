package openaicompat

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/provider/wire"
)

// These are the limits of strict mode, from OpenAI's guide to structured outputs.
const (
	maxObjectLevels = 10
	maxProperties   = 5000
	maxSchemaLevels = 64 // our own, for levels of any kind, so that a schema made of wrappers ends too
)

// StrictSchema reduces a JSON Schema (draft 2020-12) to the subset that OpenAI's strict mode accepts.
// Every object is closed, and all its properties are required. oneOf becomes anyOf. The order of properties
// stays, because models write in that order. Of the bounds, lengths, patterns and formats, those stay that
// keep wants: [OpenAIBounds] for OpenAI. nil: none.
//
// The two schemas accept different values: an optional property may be missing, or a number may be out of
// bounds. So validate replies against the original. ok is false if the schema needs something that strict
// mode cannot express: maps, allOf, not, conditions, values of any type. schema is not modified and not
// kept.
func StrictSchema(schema json.RawMessage, keep func(keyword string, value json.RawMessage) bool) (strict json.RawMessage, ok bool) {
	root, ok := parseObject(schema)
	if !ok {
		return nil, false
	}
	if ref, found := root.get("$ref"); found { // strict mode wants an object at the root
		if root, ok = root.resolve(wire.Plain(ref)); !ok {
			return nil, false
		}
	}
	if !root.isObject() {
		return nil, false
	}
	l := lowering{keep: keep}
	if !l.schema(root, 0, 0) {
		return nil, false
	}
	var compact bytes.Buffer
	if json.Compact(&compact, l.out.Bytes()) != nil {
		return nil, false
	}
	return compact.Bytes(), true
}

// OpenAIBounds reports whether OpenAI's strict mode accepts a bound: a pattern, the formats that it lists, the
// limits of a number and of the length of a list. Its fine-tuned models accept none. The source is OpenAI's
// guide to structured outputs (2026).
func OpenAIBounds(keyword string, value json.RawMessage) bool {
	switch keyword {
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "pattern":
		return true
	case "format":
		return slices.Contains(openAIFormats, wire.Plain(value))
	}
	return false
}

//nolint:gochecknoglobals // read only
var openAIFormats = []string{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}

// member is one field of a JSON object, in the object's order.
type member struct {
	name  string
	value json.RawMessage
}

type object []member

// parseObject reads one level of a JSON object. A repeated name makes it unreadable.
func parseObject(data json.RawMessage) (object, bool) {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	o := object{}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		name, isName := t.(string)
		if err != nil || !isName {
			return nil, false
		}
		m := member{name: name}
		if seen[name] || d.Decode(&m.value) != nil {
			return nil, false
		}
		seen[name] = true
		o = append(o, m)
	}
	_, err := d.Token()
	return o, err == nil
}

func (o object) get(name string) (json.RawMessage, bool) {
	for i := range o {
		if o[i].name == name {
			return o[i].value, true
		}
	}
	return nil, false
}

func (o object) has(name string) bool {
	_, ok := o.get(name)
	return ok
}

// types returns the types that "type" lists.
func (o object) types() []string {
	raw, _ := o.get("type")
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}
	}
	var many []string
	_ = json.Unmarshal(raw, &many)
	return many
}

func (o object) isObject() bool {
	return slices.Contains(o.types(), "object") || (!o.has("type") && o.has("properties"))
}

func (o object) isArray() bool {
	return slices.Contains(o.types(), "array") || (!o.has("type") && o.has("items"))
}

// resolve returns the definition that a root's $ref names, together with all definitions.
func (o object) resolve(ref string) (object, bool) {
	for _, home := range []string{"$defs", "definitions"} {
		name, ok := strings.CutPrefix(ref, "#/"+home+"/")
		if !ok {
			continue
		}
		raw, _ := o.get(home)
		defs, ok := parseObject(raw)
		if !ok {
			return nil, false
		}
		target, found := defs.get(name)
		root, ok := parseObject(target)
		if !found || !ok || root.has("$ref") || root.has(home) {
			return nil, false
		}
		return append(root, member{home, raw}), true
	}
	return nil, false
}

// lowering writes the lowered schema.
type lowering struct {
	out        bytes.Buffer
	keep       func(keyword string, value json.RawMessage) bool // nil: no bounds
	properties int
}

// name starts a field of a JSON object.
func (l *lowering) name(first *bool, name string) {
	if !*first {
		l.out.WriteByte(',')
	}
	*first = false
	quoted, _ := json.Marshal(name) //nolint:errchkjson // a string always marshals
	l.out.Write(quoted)
	l.out.WriteByte(':')
}

// raw lowers a schema that has not been parsed yet.
func (l *lowering) raw(data json.RawMessage, level, objects int) bool {
	o, ok := parseObject(data)
	return ok && l.schema(o, level+1, objects)
}

// schema lowers one schema. level and objects are the numbers of schemas and objects around it.
func (l *lowering) schema(o object, level, objects int) bool {
	if level > maxSchemaLevels {
		return false
	}
	if raw, ok := o.get("allOf"); ok { // a wrapper around one schema adds nothing
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil || len(list) != 1 || o.constrains("allOf") {
			return false
		}
		return l.raw(list[0], level, objects)
	}
	if ref, ok := o.get("$ref"); ok { // strict mode allows nothing next to it
		to := wire.Plain(ref) // not the name of an anchor, because anchors are dropped
		if (to == "#" || strings.HasPrefix(to, "#/")) && !o.constrains("$ref") {
			l.out.WriteString(`{"$ref":`)
			l.out.Write(ref)
			l.out.WriteByte('}')
			return true
		}
		return false
	}
	if !o.typed() {
		return false
	}
	if o.isObject() {
		if objects++; objects > maxObjectLevels {
			return false
		}
	}
	return l.members(o, level, objects)
}

// typed reports whether the schema is specific enough for strict mode, which has no "anything".
func (o object) typed() bool {
	if o.has("anyOf") && o.has("oneOf") {
		return false
	}
	if o.isArray() && !o.has("items") {
		return false
	}
	if o.isObject() && !o.has("properties") {
		closed, _ := o.get("additionalProperties")
		return string(bytes.TrimSpace(closed)) == "false"
	}
	return slices.ContainsFunc([]string{"type", "enum", "const", "anyOf", "oneOf", "properties", "items"}, o.has)
}

// constrains reports whether the schema has a constraint, apart from the named keyword and mere notes.
func (o object) constrains(but string) bool {
	for _, m := range o {
		if m.name != but && !slices.Contains(notes, m.name) && m.name != "title" && m.name != "description" {
			return true
		}
	}
	return false
}

// These keywords are dropped: notes, which strict mode does not know, and bounds that the server does not take.
// Bounds are checked on the reply in any case.
//
//nolint:gochecknoglobals // read only
var (
	notes  = []string{"$schema", "$id", "$comment", "$anchor", "default", "examples", "deprecated", "readOnly", "writeOnly"}
	bounds = []string{
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
		"minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType",
		"minItems", "maxItems", "uniqueItems",
		"minProperties", "maxProperties", "propertyNames", "patternProperties", "dependentRequired",
	}
)

func (l *lowering) members(o object, level, objects int) bool {
	l.out.WriteByte('{')
	first := true
	if !o.has("type") {
		if t := o.implied(); t != "" {
			l.name(&first, "type")
			l.out.WriteString(`"` + t + `"`)
		}
	}
	for _, m := range o {
		ok := true
		switch m.name {
		case "type", "title", "description", "enum", "const":
			l.name(&first, m.name)
			l.out.Write(m.value)
		case "properties":
			l.name(&first, m.name)
			ok = l.fields(m.value, level, objects, &first)
		case "items":
			l.name(&first, m.name)
			ok = l.raw(m.value, level, objects)
		case "anyOf", "oneOf":
			l.name(&first, "anyOf")
			ok = l.list(m.value, level, objects)
		case "$defs", "definitions":
			l.name(&first, m.name)
			_, ok = l.group(m.value, level, objects)
		case "required", "additionalProperties": // written with the properties
		default:
			if l.keep != nil && slices.Contains(bounds, m.name) && l.keep(m.name, m.value) {
				l.name(&first, m.name)
				l.out.Write(m.value)
				break
			}
			ok = slices.Contains(notes, m.name) || slices.Contains(bounds, m.name) || strings.HasPrefix(m.name, "x-")
		}
		if !ok {
			return false
		}
	}
	if o.isObject() && !o.has("properties") {
		l.name(&first, "properties")
		l.out.WriteString(`{},"required":[],"additionalProperties":false`)
	}
	l.out.WriteByte('}')
	return true
}

// implied returns the type that other keywords of the schema imply.
func (o object) implied() string {
	switch {
	case o.has("properties"):
		return "object"
	case o.has("items"):
		return "array"
	}
	var values []any
	if raw, ok := o.get("enum"); ok {
		_ = json.Unmarshal(raw, &values)
	} else if raw, ok := o.get("const"); ok {
		values = make([]any, 1)
		_ = json.Unmarshal(raw, &values[0])
	}
	for _, v := range values {
		if _, ok := v.(string); !ok {
			return ""
		}
	}
	if len(values) == 0 {
		return ""
	}
	return "string"
}

// fields writes an object's properties, all required, and closes it.
func (l *lowering) fields(data json.RawMessage, level, objects int, first *bool) bool {
	names, ok := l.group(data, level, objects)
	if l.properties += len(names); !ok || l.properties > maxProperties {
		return false
	}
	required, err := json.Marshal(names)
	if err != nil {
		return false
	}
	l.name(first, "required")
	l.out.Write(required)
	l.name(first, "additionalProperties")
	l.out.WriteString("false")
	return true
}

// group writes an object of schemas and returns their names.
func (l *lowering) group(data json.RawMessage, level, objects int) ([]string, bool) {
	o, ok := parseObject(data)
	if !ok {
		return nil, false
	}
	l.out.WriteByte('{')
	first := true
	names := make([]string, 0, len(o))
	for _, m := range o {
		l.name(&first, m.name)
		if !l.raw(m.value, level, objects) {
			return nil, false
		}
		names = append(names, m.name)
	}
	l.out.WriteByte('}')
	return names, true
}

// list writes an array of schemas.
func (l *lowering) list(data json.RawMessage, level, objects int) bool {
	var schemas []json.RawMessage
	if json.Unmarshal(data, &schemas) != nil || len(schemas) == 0 {
		return false
	}
	l.out.WriteByte('[')
	for i, s := range schemas {
		if i > 0 {
			l.out.WriteByte(',')
		}
		if !l.raw(s, level, objects) {
			return false
		}
	}
	l.out.WriteByte(']')
	return true
}
