package google

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/provider/wire"
)

const maxLevels = 64 // of a schema

// lowerSchema reduces a JSON Schema (draft 2020-12) to what the API's structured output supports. It
// rewrites a keyword if another one means the same: const becomes an enum of one value, an exclusive
// bound of integers the next integer. It drops all other keywords. So every value that satisfies schema
// satisfies the reduced one, but not the reverse: validate replies against the original. The order of
// properties stays, and is repeated in propertyOrdering, because models write in that order. ok is false
// if schema is not JSON, neither an object nor a boolean, or nested too deeply.
func lowerSchema(schema json.RawMessage) (lowered json.RawMessage, ok bool) {
	if !json.Valid(schema) {
		return nil, false
	}
	return lower(schema, 0)
}

// object is a JSON object with its fields in order.
type object []member

type member struct {
	name  string
	value json.RawMessage
}

// parseObject reads one level of a JSON object. A repeated name makes it unreadable.
func parseObject(data json.RawMessage) (object, bool) {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	var o object
	for d.More() {
		t, err := d.Token()
		name, isName := t.(string)
		m := member{name: name}
		if err != nil || !isName || o.has(name) || d.Decode(&m.value) != nil {
			return nil, false
		}
		o = append(o, m)
	}
	return o, true
}

func (o object) get(name string) json.RawMessage {
	for i := range o {
		if o[i].name == name {
			return o[i].value
		}
	}
	return nil
}

func (o object) has(name string) bool { return o.get(name) != nil }

func (o object) names() []string {
	names := make([]string, len(o))
	for i := range o {
		names[i] = o[i].name
	}
	return names
}

func (o object) json() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(quoted(m.name))
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// quoted encodes a string, or a list of strings.
func quoted[T string | []string](v T) json.RawMessage {
	data, _ := json.Marshal(v) //nolint:errchkjson // strings always marshal
	return data
}

// lower lowers one schema. level is the number of schemas around it.
func lower(schema json.RawMessage, level int) (json.RawMessage, bool) {
	if level > maxLevels {
		return nil, false
	}
	switch string(bytes.TrimSpace(schema)) {
	case "true", "false": // a schema that nothing satisfies cannot be expressed
		return json.RawMessage("{}"), true
	}
	from, ok := parseObject(schema)
	if !ok {
		return nil, false
	}
	from = from.flat()
	var to object
	for _, m := range from {
		if from.has("$ref") && !strings.HasPrefix(m.name, "$") && m.name != "definitions" {
			continue // the API allows nothing next to it
		}
		if m, ok = from.keep(m, level); !ok {
			return nil, false
		}
		if m.value != nil {
			to = append(to, m)
		}
	}
	if properties, ok := parseObject(to.get("properties")); ok && !to.has("propertyOrdering") {
		to = append(to, member{"propertyOrdering", quoted(properties.names())})
	}
	return to.json(), true
}

// flat returns the schema merged with the one that it wraps in allOf, if it wraps a single one and the
// two have no keyword in common.
func (o object) flat() object {
	var list []json.RawMessage
	if json.Unmarshal(o.get("allOf"), &list) != nil || len(list) != 1 {
		return o
	}
	inner, ok := parseObject(list[0])
	if !ok || inner.has("allOf") || slices.ContainsFunc(inner.names(), o.has) {
		return o
	}
	return slices.Concat(o, inner)
}

// keep returns the part of a field that the API supports; its value is nil if that is nothing. ok is
// false if a schema in the field cannot be lowered.
func (o object) keep(m member, level int) (kept member, ok bool) {
	value := bytes.TrimSpace(m.value)
	ok = true
	switch m.name {
	case "type", "title", "description", "minItems", "maxItems", "minimum", "maximum", "$id", "$anchor", "propertyOrdering":
	case "$ref":
		if rest, old := strings.CutPrefix(wire.Plain(value), "#/definitions/"); old {
			value = quoted("#/$defs/" + rest)
		}
	case "format":
		if !slices.Contains([]string{"date-time", "date", "time"}, wire.Plain(value)) {
			value = nil
		}
	case "const":
		m.name, value = "enum", slices.Concat([]byte("["), value, []byte("]"))
		if o.has("enum") || !scalars(value) {
			value = nil
		}
	case "enum":
		if !scalars(value) {
			value = nil
		}
	case "exclusiveMinimum":
		m.name, value = "minimum", o.inclusive("minimum", value, 1)
	case "exclusiveMaximum":
		m.name, value = "maximum", o.inclusive("maximum", value, -1)
	case "required":
		value = o.required()
	case "items":
		if value[0] == '[' { // a tuple, in an older draft
			value = nil
			break
		}
		value, ok = lower(value, level+1)
	case "additionalProperties":
		switch {
		case o.has("patternProperties"): // it would forbid what the patterns allow
			value = nil
		case string(value) != "false" && string(value) != "true":
			value, ok = lower(value, level+1)
		}
	case "anyOf", "oneOf", "prefixItems":
		value, ok = lowerList(value, level)
	case "$defs", "definitions":
		m.name = "$defs"
		value, ok = lowerAll(value, level)
	case "properties":
		value, ok = lowerAll(value, level)
	default:
		value = nil
	}
	return member{m.name, value}, ok
}

// lowerAll lowers an object of schemas.
func lowerAll(data json.RawMessage, level int) (json.RawMessage, bool) {
	list, ok := parseObject(data)
	for i := 0; ok && i < len(list); i++ {
		list[i].value, ok = lower(list[i].value, level+1)
	}
	return list.json(), ok
}

// lowerList lowers an array of schemas.
func lowerList(data json.RawMessage, level int) (json.RawMessage, bool) {
	var list []json.RawMessage
	if json.Unmarshal(data, &list) != nil {
		return nil, false
	}
	b := []byte{'['}
	for i := range list {
		one, ok := lower(list[i], level+1)
		if !ok {
			return nil, false
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, one...)
	}
	return append(b, ']'), true
}

// scalars reports whether a list holds only strings and numbers; the API's enum supports nothing else.
func scalars(data json.RawMessage) bool {
	var list []any
	if json.Unmarshal(data, &list) != nil || len(list) == 0 {
		return false
	}
	return !slices.ContainsFunc(list, func(v any) bool {
		switch v.(type) {
		case string, float64:
			return false
		}
		return true
	})
}

// inclusive writes an exclusive bound as the inclusive bound with the given name: for integers the next
// one, a step away, for other numbers the same number. It returns nil if the schema has the inclusive
// bound too.
func (o object) inclusive(name string, bound json.RawMessage, step float64) json.RawMessage {
	n, err := strconv.ParseFloat(string(bound), 64)
	if err != nil || o.has(name) {
		return nil
	}
	if wire.Plain(o.get("type")) == "integer" && n == math.Trunc(n) {
		n += step
	}
	return strconv.AppendFloat(nil, n, 'f', -1, 64)
}

// required returns the required properties that the schema describes.
func (o object) required() json.RawMessage {
	var names []string
	_ = json.Unmarshal(o.get("required"), &names)
	properties, _ := parseObject(o.get("properties"))
	names = slices.DeleteFunc(names, func(name string) bool { return !properties.has(name) })
	if len(names) == 0 {
		return nil
	}
	return quoted(names)
}
