package cassette

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// walk returns a copy of a value in which each text, number and truth value is what leaf returns for it. A place is something like
// ".messages[1].text". Fields without JSON are left out: data of parts, causes of errors. Lists and maps without elements become nil.
func walk(place string, v reflect.Value, leaf func(place string, v reflect.Value) reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(walk(place, v.Elem(), leaf))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ","); name != "-" {
				out.Field(i).Set(walk(place+"."+name, v.Field(i), leaf))
			}
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			if out.IsNil() {
				out.Set(reflect.MakeMap(v.Type()))
			}
			name := leaf(place+"["+key.String()+"]", key)
			out.SetMapIndex(name, walk(place+"."+key.String(), v.MapIndex(key), leaf))
		}
	case reflect.Slice:
		if v.Len() > 0 && v.Type().Elem().Kind() == reflect.Uint8 { // JSON of another author
			return leaf(place, v)
		}
		for i := range v.Len() {
			out.Set(reflect.Append(out, walk(fmt.Sprintf("%s[%d]", place, i), v.Index(i), leaf)))
		}
	default:
		return leaf(place, v)
	}
	return out
}

// rewritten returns what walk makes of the value that a pointer points to; nil for nil.
func rewritten[T any](place string, value *T, leaf func(place string, v reflect.Value) reflect.Value) *T {
	if value == nil {
		return nil
	}
	out := new(T)
	reflect.ValueOf(out).Elem().Set(walk(place, reflect.ValueOf(value).Elem(), leaf))
	return out
}
