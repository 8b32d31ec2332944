package openaicompat

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/internal/toolschema"
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
	if root.Has("$ref") { // strict mode wants an object at the root
		if root, ok = root.resolve(root.Text("$ref")); !ok {
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

// object is a schema.
type object struct{ toolschema.Object }

func parseObject(data json.RawMessage) (object, bool) {
	o, ok := toolschema.Parse(data)
	return object{o}, ok
}

// types returns the types that "type" lists.
func (o object) types() []string {
	if one := o.Text("type"); one != "" {
		return []string{one}
	}
	var many []string
	_ = json.Unmarshal(o.Get("type"), &many)
	return many
}

func (o object) isObject() bool {
	return slices.Contains(o.types(), "object") || (!o.Has("type") && o.Has("properties"))
}

func (o object) isArray() bool {
	return slices.Contains(o.types(), "array") || (!o.Has("type") && o.Has("items"))
}

// resolve returns the definition that a root's $ref names, together with all definitions.
func (o object) resolve(ref string) (object, bool) {
	for _, home := range []string{"$defs", "definitions"} {
		name, ok := strings.CutPrefix(ref, "#/"+home+"/")
		if !ok {
			continue
		}
		defs, _ := parseObject(o.Get(home))
		root, ok := parseObject(defs.Get(name))
		if !ok || root.Has("$ref") || root.Has(home) {
			return object{}, false
		}
		return object{append(root.Object, toolschema.Field{Name: home, Value: o.Get(home)})}, true
	}
	return object{}, false
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
	if o.Has("allOf") { // a wrapper around one schema adds nothing
		list := o.List("allOf")
		if len(list) != 1 || o.constrains("allOf") {
			return false
		}
		return l.raw(list[0], level, objects)
	}
	if o.Has("$ref") { // strict mode allows nothing next to it
		to := o.Text("$ref") // not the name of an anchor, because anchors are dropped
		if (to == "#" || strings.HasPrefix(to, "#/")) && !o.constrains("$ref") {
			l.out.WriteString(`{"$ref":`)
			l.out.Write(o.Get("$ref"))
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
	if o.Has("anyOf") && o.Has("oneOf") {
		return false
	}
	if o.isArray() && !o.Has("items") {
		return false
	}
	if o.isObject() && !o.Has("properties") {
		return string(o.Get("additionalProperties")) == "false"
	}
	return slices.ContainsFunc([]string{"type", "enum", "const", "anyOf", "oneOf", "properties", "items"}, o.Has)
}

// constrains reports whether the schema has a constraint, apart from the named keyword and mere notes.
func (o object) constrains(but string) bool {
	for _, m := range o.Object {
		if m.Name != but && !slices.Contains(notes, m.Name) && m.Name != "title" && m.Name != "description" {
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
	if !o.Has("type") {
		if t := o.implied(); t != "" {
			l.name(&first, "type")
			l.out.WriteString(`"` + t + `"`)
		}
	}
	for _, m := range o.Object {
		ok := true
		switch m.Name {
		case "type", "title", "description", "enum", "const":
			l.name(&first, m.Name)
			l.out.Write(m.Value)
		case "properties":
			l.name(&first, m.Name)
			ok = l.fields(m.Value, level, objects, &first)
		case "items":
			l.name(&first, m.Name)
			ok = l.raw(m.Value, level, objects)
		case "anyOf", "oneOf":
			l.name(&first, "anyOf")
			ok = l.list(m.Value, level, objects)
		case "$defs", "definitions":
			l.name(&first, m.Name)
			_, ok = l.group(m.Value, level, objects)
		case "required", "additionalProperties": // written with the properties
		default:
			if l.keep != nil && slices.Contains(bounds, m.Name) && l.keep(m.Name, m.Value) {
				l.name(&first, m.Name)
				l.out.Write(m.Value)
				break
			}
			ok = slices.Contains(notes, m.Name) || slices.Contains(bounds, m.Name) || strings.HasPrefix(m.Name, "x-")
		}
		if !ok {
			return false
		}
	}
	if o.isObject() && !o.Has("properties") {
		l.name(&first, "properties")
		l.out.WriteString(`{},"required":[],"additionalProperties":false`)
	}
	l.out.WriteByte('}')
	return true
}

// implied returns the type that other keywords of the schema imply.
func (o object) implied() string {
	switch {
	case o.Has("properties"):
		return "object"
	case o.Has("items"):
		return "array"
	}
	var values []any
	if o.Has("enum") {
		_ = json.Unmarshal(o.Get("enum"), &values)
	} else if o.Has("const") {
		values = make([]any, 1)
		_ = json.Unmarshal(o.Get("const"), &values[0])
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
	names := make([]string, 0, len(o.Object))
	for _, m := range o.Object {
		l.name(&first, m.Name)
		if !l.raw(m.Value, level, objects) {
			return nil, false
		}
		names = append(names, m.Name)
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
