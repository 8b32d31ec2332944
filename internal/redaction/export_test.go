package redaction

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/agonist-dev/debate/flow"
)

// Strings lists all strings in the JSON of types, by the structs that have them: "flow.Turn text: a text".
func Strings(types ...reflect.Type) []string {
	found := make(map[string]bool)
	seen := make(map[reflect.Type]bool)
	for _, t := range types {
		list(t, shapes{}.of(t), "", seen, found)
	}
	return slices.Sorted(maps.Keys(found))
}

// list adds the strings of a value of a type, which a field holds, and looks into structs once.
func list(t reflect.Type, s *shape, at string, seen map[reflect.Type]bool, found map[string]bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	say := func(what string, name bool) {
		found[at+": "+what+map[bool]string{true: "identifier", false: "text"}[name]] = true
	}
	texts := t.Implements(reflect.TypeFor[interface{ MarshalText() ([]byte, error) }]())
	switch {
	case t == reflect.TypeFor[flow.Error]():
		for key, value := range maps.All(failureKeys()) {
			if _, ok := value.(string); ok {
				found["flow.Error "+key+": "+map[bool]string{true: "identifier", false: "text"}[s.under(key).isName()]] = true
			}
		}
	case s != nil && s.whole:
		found[at+": whole: if a text stands there, all of it goes"] = true
	case t == reflect.TypeFor[time.Time](), t == reflect.TypeFor[flow.Value]():
	case s != nil && s.schema:
		say("JSON schema: ", true)
	case t == reflect.TypeFor[json.RawMessage]():
		say("JSON: keys and strings: ", s.isName())
	case t.Kind() == reflect.String, texts, t == reflect.TypeFor[[]byte]():
		say("", s.isName())
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Array:
		list(t.Elem(), s.item(), at, seen, found)
	case t.Kind() == reflect.Map:
		say("keys: ", s.isKey(""))
		list(t.Elem(), s.under("any"), at, seen, found)
	case t.Kind() == reflect.Struct && !s.isName() && !seen[t]:
		seen[t] = true
		listFields(t, s, seen, found)
	}
}

// listFields is list for the fields of a struct, and for those that it embeds.
func listFields(t reflect.Type, s *shape, seen map[reflect.Type]bool, found map[string]bool) {
	own, embedded := jsonFields(t)
	for key, f := range own {
		list(f.Type, s.under(key), fmt.Sprintf("%s %s", t, key), seen, found)
	}
	for _, inside := range embedded {
		listFields(inside, s, seen, found)
	}
}

// failureKeys is the JSON of a failure of which every field is set.
func failureKeys() map[string]any {
	failure := reflect.New(reflect.TypeFor[flow.Error]()).Elem()
	for f, v := range failure.Fields() {
		switch f.Type.Kind() {
		case reflect.String:
			v.SetString("x")
		case reflect.Int, reflect.Int64:
			v.SetInt(1)
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Interface:
			v.Set(reflect.ValueOf(errors.New("x")))
		default:
			v.Set(reflect.ValueOf(time.Unix(1, 0)))
		}
	}
	keys := make(map[string]any)
	data, err := json.Marshal(failure.Addr().Interface())
	if err == nil {
		err = json.Unmarshal(data, &keys)
	}
	if err != nil {
		keys[err.Error()] = true // the golden file has no such key
	}
	return keys
}
