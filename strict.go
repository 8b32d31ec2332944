package debate

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/agonist-dev/debate/internal/strictjson"
)

// DecodeStrict reads one JSON value, all of it, as configs are read: unlike encoding/json it takes a key only
// as it is written, once, and only if it is known. The error says where. It is for [Flow].Decode.
func DecodeStrict(data []byte, into any) error { return decodeStrict(data, into) }

// decodeStrict reads one JSON value, all of it. Unlike encoding/json it takes a key only as it is
// written, once, and only if it is known; the error says where.
func decodeStrict(data []byte, into any) error {
	tree, err := strictjson.Decode(string(data), strictjson.Limits{Bytes: MaxSnapshot, Depth: 100})
	if err != nil {
		return err
	}
	if at, ok := unknownKey(tree, reflect.TypeOf(into), ""); ok {
		return fmt.Errorf("the key %s is not known", oneLine(at, 120))
	}
	return json.Unmarshal(data, into)
}

// unknownKey finds a key that no field of the type is for.
func unknownKey(tree any, t reflect.Type, at string) (string, bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reads(t) && at != "" {
		return "", false // it decides for itself
	}
	switch v := tree.(type) {
	case []any:
		if t.Kind() != reflect.Slice {
			return "", false
		}
		for i := range v {
			if found, ok := unknownKey(v[i], t.Elem(), fmt.Sprintf("%s[%d]", at, i)); ok {
				return found, true
			}
		}
	case map[string]any:
		for key, value := range ordered(v) {
			inner, ok := member(t, key)
			if !ok {
				return strings.TrimPrefix(at+"."+key, "."), true
			}
			if inner == nil {
				continue
			}
			if found, ok := unknownKey(value, inner, strings.TrimPrefix(at+"."+key, ".")); ok {
				return found, true
			}
		}
	}
	return "", false
}

// reads reports whether a type has a reader of its own.
func reads(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// member yields the type of what an object holds under a key; nil: of any.
func member(t reflect.Type, key string) (reflect.Type, bool) {
	switch t.Kind() {
	case reflect.Map:
		return t.Elem(), true
	case reflect.Struct:
	default:
		return nil, true
	}
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == key && name != "-":
			return field.Type, true
		case field.Anonymous && name == "":
			if inner, ok := member(field.Type, key); ok {
				return inner, true
			}
		}
	}
	return nil, false
}
