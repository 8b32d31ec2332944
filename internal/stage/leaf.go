package stage

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Leaf is a place in a config that can be changed.
type Leaf struct {
	Path   string // as an error names it
	Change func() // gives it another value
}

// Leaves returns every place of a config in which its JSON can differ: each field, each element of a list or a map, and the length of
// each. config is a pointer. holds is told of each pointer, list and map whether there is anything in it to go into; nil: nobody is.
func Leaves(config any, holds func(path string, full bool)) []Leaf {
	if holds == nil {
		holds = func(string, bool) {}
	}
	return leavesOf("", reflect.ValueOf(config).Elem(), holds)
}

func leavesOf(path string, v reflect.Value, holds func(path string, full bool)) []Leaf {
	inner := func(name string) string { return strings.TrimPrefix(path+"."+name, ".") }
	set := func(other any) []Leaf {
		return []Leaf{{path, func() { v.Set(reflect.ValueOf(other).Convert(v.Type())) }}}
	}
	if v.Type() == reflect.TypeFor[json.RawMessage]() {
		return []Leaf{{path + ".a.b[1]", func() { v.SetBytes([]byte(`{"a":{"b":[1,3]}}`)) }}}
	}
	switch v.Kind() {
	case reflect.String:
		return set(v.String() + "x")
	case reflect.Bool:
		return set(!v.Bool())
	case reflect.Int, reflect.Int64:
		return set(v.Int() + 1)
	case reflect.Float64:
		return set(v.Float() + 0.125)
	case reflect.Pointer:
		holds(path, !v.IsNil())
		if v.IsNil() {
			return nil
		}
		return append(leavesOf(path, v.Elem(), holds), Leaf{path, func() { v.SetZero() }})
	case reflect.Struct:
		var all []Leaf
		for f, field := range v.Fields() {
			if !f.IsExported() {
				continue
			}
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Anonymous && name == "" { // its fields stand beside the others
				all = append(all, leavesOf(path, field, holds)...)
				continue
			}
			if name == "-" { // written by a type of its own
				name = strings.ToLower(f.Name[:1]) + f.Name[1:]
			}
			all = append(all, leavesOf(inner(name), field, holds)...)
		}
		return all
	case reflect.Slice:
		holds(path, v.Len() > 0)
		all := []Leaf{{path, func() { v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem()))) }}}
		if v.Type().Elem().Kind() == reflect.Uint8 { // the bytes of a file
			return all
		}
		for i := range v.Len() {
			all = append(all, leavesOf(fmt.Sprintf("%s[%d]", path, i), v.Index(i), holds)...)
		}
		return all
	case reflect.Map:
		holds(path, v.Len() > 0)
		all := []Leaf{{inner("zulu"), func() {
			if v.IsNil() {
				v.Set(reflect.MakeMap(v.Type()))
			}
			v.SetMapIndex(reflect.ValueOf("zulu").Convert(v.Type().Key()), reflect.Zero(v.Type().Elem()))
		}}}
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			for _, l := range leavesOf(inner(key.String()), value, holds) {
				all = append(all, Leaf{l.Path, func() { l.Change(); v.SetMapIndex(key, value) }})
			}
		}
		return all
	default:
		return []Leaf{{path + " is a " + v.Kind().String() + ": a sort that is not known", func() {}}} // no error names that
	}
}
