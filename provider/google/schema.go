package google

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/internal/toolschema"
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

// lower lowers one schema. level is the number of schemas around it.
func lower(schema json.RawMessage, level int) (json.RawMessage, bool) {
	if level > maxLevels {
		return nil, false
	}
	switch string(bytes.TrimSpace(schema)) {
	case "true", "false": // a schema that nothing satisfies cannot be expressed
		return json.RawMessage("{}"), true
	}
	from, ok := toolschema.Parse(schema)
	if !ok {
		return nil, false
	}
	from = flat(from)
	var to toolschema.Object
	for _, m := range from {
		if from.Has("$ref") && !strings.HasPrefix(m.Name, "$") && m.Name != "definitions" {
			continue // the API allows nothing next to it
		}
		if m, ok = keep(from, m, level); !ok {
			return nil, false
		}
		if m.Value != nil {
			to = append(to, m)
		}
	}
	if properties, ok := toolschema.Parse(to.Get("properties")); ok && !to.Has("propertyOrdering") {
		to = append(to, toolschema.Field{Name: "propertyOrdering", Value: toolschema.Written(properties.Names())})
	}
	return to.JSON(), true
}

// flat returns the schema merged with the one that it wraps in allOf, if it wraps a single one and the
// two have no keyword in common.
func flat(o toolschema.Object) toolschema.Object {
	list := o.List("allOf")
	if len(list) != 1 {
		return o
	}
	inner, ok := toolschema.Parse(list[0])
	if !ok || inner.Has("allOf") || slices.ContainsFunc(inner.Names(), o.Has) {
		return o
	}
	return slices.Concat(o, inner)
}

// keep returns the part of a field that the API supports; its value is nil if that is nothing. ok is
// false if a schema in the field cannot be lowered.
func keep(o toolschema.Object, m toolschema.Field, level int) (kept toolschema.Field, ok bool) {
	value := bytes.TrimSpace(m.Value)
	ok = true
	switch m.Name {
	case "type", "title", "description", "minItems", "maxItems", "minimum", "maximum", "$id", "$anchor", "propertyOrdering":
	case "$ref":
		if rest, old := strings.CutPrefix(o.Text(m.Name), "#/definitions/"); old {
			value = toolschema.Written("#/$defs/" + rest)
		}
	case "format":
		if !slices.Contains([]string{"date-time", "date", "time"}, o.Text(m.Name)) {
			value = nil
		}
	case "const":
		m.Name, value = "enum", slices.Concat([]byte("["), value, []byte("]"))
		if o.Has("enum") || !scalars(value) {
			value = nil
		}
	case "enum":
		if !scalars(value) {
			value = nil
		}
	case "exclusiveMinimum":
		m.Name, value = "minimum", inclusive(o, "minimum", value, 1)
	case "exclusiveMaximum":
		m.Name, value = "maximum", inclusive(o, "maximum", value, -1)
	case "required":
		value = required(o)
	case "items":
		if value[0] == '[' { // a tuple, in an older draft
			value = nil
			break
		}
		value, ok = lower(value, level+1)
	case "additionalProperties":
		switch {
		case o.Has("patternProperties"): // it would forbid what the patterns allow
			value = nil
		case string(value) != "false" && string(value) != "true":
			value, ok = lower(value, level+1)
		}
	case "anyOf", "oneOf", "prefixItems":
		value, ok = lowerList(value, level)
	case "$defs", "definitions":
		m.Name = "$defs"
		value, ok = lowerAll(value, level)
	case "properties":
		value, ok = lowerAll(value, level)
	default:
		value = nil
	}
	return toolschema.Field{Name: m.Name, Value: value}, ok
}

// lowerAll lowers an object of schemas.
func lowerAll(data json.RawMessage, level int) (json.RawMessage, bool) {
	list, ok := toolschema.Parse(data)
	for i := 0; ok && i < len(list); i++ {
		list[i].Value, ok = lower(list[i].Value, level+1)
	}
	return list.JSON(), ok
}

// lowerList lowers an array of schemas.
func lowerList(data json.RawMessage, level int) (json.RawMessage, bool) {
	var list []json.RawMessage
	if json.Unmarshal(data, &list) != nil {
		return nil, false
	}
	for i := range list {
		var ok bool
		if list[i], ok = lower(list[i], level+1); !ok {
			return nil, false
		}
	}
	return toolschema.Joined(list), true
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
func inclusive(o toolschema.Object, name string, bound json.RawMessage, step float64) json.RawMessage {
	n, err := strconv.ParseFloat(string(bound), 64)
	if err != nil || o.Has(name) {
		return nil
	}
	if o.Text("type") == "integer" && n == math.Trunc(n) {
		n += step
	}
	return strconv.AppendFloat(nil, n, 'f', -1, 64)
}

// required returns the required properties that the schema describes.
func required(o toolschema.Object) json.RawMessage {
	var names []string
	_ = json.Unmarshal(o.Get("required"), &names)
	properties, _ := toolschema.Parse(o.Get("properties"))
	names = slices.DeleteFunc(names, func(name string) bool { return !properties.Has(name) })
	if len(names) == 0 {
		return nil
	}
	return toolschema.Written(names)
}
