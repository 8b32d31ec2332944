package toolschema

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Object is a JSON object with its fields in order.
type Object []Field

// Field is a member of an [Object].
type Field struct {
	Name  string
	Value json.RawMessage
}

// Parse reads one level of a JSON object. A repeated name makes it unreadable.
func Parse(data json.RawMessage) (Object, bool) {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	o := Object{}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		f := Field{Name: name}
		if err != nil || !ok || seen[name] || d.Decode(&f.Value) != nil {
			return nil, false
		}
		o, seen[name] = append(o, f), true
	}
	_, err := d.Token() // the end
	return o, err == nil
}

// Get returns the value of a field; nil: there is none.
func (o Object) Get(name string) json.RawMessage {
	for i := range o {
		if o[i].Name == name {
			return o[i].Value
		}
	}
	return nil
}

// Has reports whether there is a field.
func (o Object) Has(name string) bool { return o.Get(name) != nil }

// Text returns a field that is a string; "": it is none.
func (o Object) Text(name string) string {
	var s string
	if json.Unmarshal(o.Get(name), &s) != nil {
		return ""
	}
	return s
}

// List returns a field that is a list; nil: it is none.
func (o Object) List(name string) []json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(o.Get(name), &list) != nil {
		return nil
	}
	return list
}

// texts returns the strings of a field that is a list.
func (o Object) texts(name string) []string {
	var out []string
	for _, raw := range o.List(name) {
		var s string
		if json.Unmarshal(raw, &s) == nil {
			out = append(out, s)
		}
	}
	return out
}

// without returns the object without some fields. o is not changed.
func (o Object) without(names ...string) Object {
	return slices.DeleteFunc(slices.Clone(o), func(f Field) bool { return slices.Contains(names, f.Name) })
}

// set returns the object with a field of this value. o is not changed.
func (o Object) set(name string, value json.RawMessage) Object {
	o = slices.Clone(o)
	for i := range o {
		if o[i].Name == name {
			o[i].Value = value
			return o
		}
	}
	return append(o, Field{name, value})
}

// Names returns the names of the fields.
func (o Object) Names() []string {
	names := make([]string, len(o))
	for i := range o {
		names[i] = o[i].Name
	}
	return names
}

// JSON writes the object.
func (o Object) JSON() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(Written(f.Name))
		b.WriteByte(':')
		b.Write(f.Value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// Written writes a string, or a list of strings, as JSON without escaping.
func Written[T string | []string](v T) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) //nolint:errchkjson // strings always can
	return bytes.TrimSpace(b.Bytes())
}

// Joined writes a list of values as JSON.
func Joined(list []json.RawMessage) json.RawMessage {
	out := json.RawMessage{'['}
	for i, value := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, value...)
	}
	return append(out, ']')
}

// find returns the object that a reference within the same schema names, such as "#/$defs/leaf".
func (o Object) find(ref string) (Object, bool) {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, false
	}
	if decoded, err := url.PathUnescape(path); err == nil {
		path = decoded
	}
	at := o
	if path == "" {
		return at, true
	}
	if path[0] != '/' { // the name of an anchor
		return nil, false
	}
	steps := strings.Split(path[1:], "/")
	for i := 0; i < len(steps); i++ {
		name := strings.NewReplacer("~1", "/", "~0", "~").Replace(steps[i])
		value := at.Get(name)
		if list := at.List(name); list != nil && i+1 < len(steps) { // "#/anyOf/0"
			i++
			n, err := strconv.Atoi(steps[i])
			if err != nil || n < 0 || n >= len(list) {
				return nil, false
			}
			value = list[n]
		}
		if at, ok = Parse(value); !ok {
			return nil, false
		}
	}
	return at, true
}
