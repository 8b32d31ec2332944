package redaction

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
)

// A string in the JSON of an event is a text, which somebody has written, or an identifier, by which the log refers to something: an
// actor, a model, a call, a state. Only texts may be removed. The Go types of what a log holds say in the tags of their fields which
// strings are identifiers. All other strings are texts, and so are the keys of maps and of JSON without a type.
const (
	tag       = "redact"
	tagName   = "-"      // all strings within are identifiers
	tagKeys   = "keys"   // the keys of the map are identifiers; the type of its values says the rest
	tagSchema = "schema" // the field is a JSON schema: all but its descriptions are identifiers
	tagWhole  = "whole"  // the field is JSON that may be signed: if a text stands there, the field goes, since nobody may change it
)

// shape says which strings of a JSON value are identifiers. nil: none is, and no key of its objects either, and its numbers are as free as
// they are in JSON without a type: no program counts with them.
type shape struct {
	name   bool              // all strings are, unless fields says otherwise
	keys   bool              // all keys of the object are; of a schema: it has schemas by names
	schema bool              // it is a part of a JSON schema
	prose  bool              // it is a description in a JSON schema
	whole  bool              // it goes or stays as a whole
	fields map[string]*shape // of an object, by key
	rest   *shape            // of the items of a list, and of the values of an object that are not in fields
}

// isName reports whether a string of this shape is an identifier.
func (s *shape) isName() bool { return s != nil && (s.name || s.schema && !s.prose) }

// isKey reports whether a key of an object of this shape is an identifier.
func (s *shape) isKey(key string) bool {
	if s == nil {
		return false
	}
	_, known := s.fields[key]
	return known || s.name || s.keys || s.schema
}

// item returns the shape of the items of a list.
func (s *shape) item() *shape {
	if s == nil || s.name || s.schema {
		return s
	}
	return s.rest
}

// under returns the shape of the value under a key of an object.
func (s *shape) under(key string) *shape {
	switch {
	case s == nil:
		return nil
	case s.schema && s.keys:
		return &shape{schema: true}
	case s.schema && !s.prose && slices.Contains([]string{"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"}, key):
		return &shape{schema: true, keys: true}
	case s.schema:
		return &shape{schema: true, prose: s.prose || slices.Contains([]string{"title", "description", "$comment", "examples"}, key)}
	}
	if inner, known := s.fields[key]; known {
		return inner
	}
	return s.item()
}

// with returns a copy of the shape of an object that has another shape under a key.
func (s *shape) with(key string, inner *shape) *shape {
	out := *s
	out.fields = maps.Clone(s.fields)
	out.fields[key] = inner
	return &out
}

// shapes are those of the types that were looked at.
type shapes map[reflect.Type]*shape

// of returns the shape of what encoding/json writes of a type.
func (all shapes) of(t reflect.Type) *shape {
	if t == nil {
		return nil
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if known, ok := all[t]; ok {
		return known
	}
	switch {
	case t == reflect.TypeFor[time.Time]():
		return &shape{name: true}
	case t == reflect.TypeFor[flow.Error](): // its JSON has other keys than its fields. The hint follows from identifiers
		return &shape{name: true, fields: map[string]*shape{"message": nil}}
	case t.Kind() == reflect.Bool, t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64: // also those that are written as text: durations
		return &shape{name: true}
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8: // JSON without a type, or bytes in Base64
		return nil
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array || t.Kind() == reflect.Map:
		return &shape{rest: all.of(t.Elem())}
	case t.Kind() == reflect.Struct:
		// A type that writes its own JSON may have keys there that are no fields.
		s := &shape{fields: make(map[string]*shape)}
		if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()) {
			s.keys, s.rest = true, &shape{} // texts there, and numbers that the type counts with
			for f := range t.Fields() {
				if f.Type == reflect.TypeFor[time.Duration]() { // written as text, under the name of its field
					s.fields[strings.ToLower(f.Name[:1])+f.Name[1:]] = &shape{name: true}
				}
			}
		}
		all[t] = s
		all.fields(s, t)
		return s
	default:
		return nil
	}
}

// fields adds the fields of a type to the shape of an object. As in encoding/json, own fields come before those of embedded types.
func (all shapes) fields(s *shape, t reflect.Type) {
	own, embedded := jsonFields(t)
	for key, f := range own {
		if _, known := s.fields[key]; !known {
			s.fields[key] = all.tagged(f.Type, f.Tag.Get(tag))
		}
	}
	for _, inside := range embedded {
		all.fields(s, inside)
	}
}

// jsonFields returns the fields that encoding/json writes of a struct, by their keys, and the types whose fields it writes as well.
func jsonFields(t reflect.Type) (own map[string]reflect.StructField, embedded []reflect.Type) {
	own = make(map[string]reflect.StructField)
	for f := range t.Fields() {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		inside := f.Type
		if inside.Kind() == reflect.Pointer {
			inside = inside.Elem()
		}
		switch {
		case f.Tag.Get("json") == "-":
		case f.Anonymous && key == "" && inside.Kind() == reflect.Struct:
			embedded = append(embedded, inside)
		case f.IsExported():
			own[cmp.Or(key, f.Name)] = f
		}
	}
	return own, embedded
}

// tagged returns the shape of a field with a tag.
func (all shapes) tagged(t reflect.Type, tag string) *shape {
	switch tag {
	case tagName:
		return &shape{name: true}
	case tagSchema:
		return &shape{schema: true}
	case tagWhole:
		return &shape{whole: true}
	case tagKeys:
		return &shape{keys: true, rest: all.of(t).item()}
	default:
		return all.of(t)
	}
}

// reading knows the types of what a log holds.
type reading struct {
	flow   *flow.Flow // nil: what only a flow knows is JSON without a type
	shapes shapes
	asked  map[string]string // the names of the schemas of calls, by the calls
}

func newReading(f *flow.Flow) *reading {
	return &reading{flow: cmp.Or(f, &flow.Flow{}), shapes: make(shapes), asked: make(map[string]string)}
}

// body returns the shape of an event's body. The events of a log are read in their order.
func (r *reading) body(e *flow.Event) *shape {
	var own *shape
	if foreign, ok := e.Body.(*flow.Foreign); ok {
		for _, sample := range r.flow.Bodies {
			if sample.EventKind() == foreign.Kind {
				own = r.shapes.of(reflect.TypeOf(sample))
			}
		}
		return own
	}
	own = r.shapes.of(reflect.TypeOf(e.Body))
	switch body := e.Body.(type) {
	case *flow.Start:
		return own.with("config", r.shapes.of(r.config())).with("frozen", r.shapes.of(r.frozen(body)))
	case *flow.Intent:
		if body.Schema != "" {
			r.asked[body.Call] = body.Schema
		}
	case *flow.Turn:
		if schema := r.flow.Schemas[r.asked[body.Call]]; schema != nil {
			return own.with("data", r.shapes.of(schema.Shape()))
		}
	case *flow.Sent:
		if sample := r.flow.Payloads[body.Trigger]; sample != nil {
			return own.with("payload", r.shapes.of(reflect.TypeOf(sample)))
		}
	}
	return own
}

// config returns the type of the flow's configs.
func (r *reading) config() reflect.Type {
	if r.flow.Decode == nil {
		return nil
	}
	config, _ := r.flow.Decode([]byte("{}")) // every flow reads it: its own check says what is missing
	return reflect.TypeOf(config)
}

// frozen returns the type of what the flow has frozen. Who folds the log reports what cannot be read.
func (r *reading) frozen(start *flow.Start) reflect.Type {
	frozen, _ := r.flow.ReadFrozen(start.Frozen)
	return reflect.TypeOf(frozen)
}
