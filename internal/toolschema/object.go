package toolschema

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// object is a JSON object with its fields in order.
type object []field

type field struct {
	name  string
	value json.RawMessage
}

// parse reads one level of a JSON object. Of a repeated name, the first field counts.
func parse(data json.RawMessage) (object, bool) {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	o := object{}
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		f := field{name: name}
		if err != nil || !ok || d.Decode(&f.value) != nil {
			return nil, false
		}
		if !o.has(name) {
			o = append(o, f)
		}
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

// text returns a field that is a string; "": it is none.
func (o object) text(name string) string {
	var s string
	if json.Unmarshal(o.get(name), &s) != nil {
		return ""
	}
	return s
}

// list returns a field that is a list; nil: it is none.
func (o object) list(name string) []json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(o.get(name), &list) != nil {
		return nil
	}
	return list
}

// texts returns the strings of a field that is a list.
func (o object) texts(name string) []string {
	var out []string
	for _, raw := range o.list(name) {
		var s string
		if json.Unmarshal(raw, &s) == nil {
			out = append(out, s)
		}
	}
	return out
}

// without returns the object without some fields. o is not changed.
func (o object) without(names ...string) object {
	return slices.DeleteFunc(slices.Clone(o), func(f field) bool { return slices.Contains(names, f.name) })
}

// set returns the object with a field of this value. o is not changed.
func (o object) set(name string, value json.RawMessage) object {
	o = slices.Clone(o)
	for i := range o {
		if o[i].name == name {
			o[i].value = value
			return o
		}
	}
	return append(o, field{name, value})
}

func (o object) json() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(written(f.name))
		b.WriteByte(':')
		b.Write(f.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// written writes a string, or a list of strings, as JSON without escaping.
func written[T string | []string](v T) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // strings always can
	return bytes.TrimSpace(b.Bytes())
}

// joined writes a list of values as JSON.
func joined(list []json.RawMessage) json.RawMessage {
	return slices.Concat([]byte{'['}, bytes.Join(asBytes(list), []byte{','}), []byte{']'})
}

func asBytes(list []json.RawMessage) [][]byte {
	out := make([][]byte, len(list))
	for i := range list {
		out[i] = list[i]
	}
	return out
}

// find returns the object that a reference within the same schema names, such as "#/$defs/leaf".
func (o object) find(ref string) (object, bool) {
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
		value := at.get(name)
		if list := at.list(name); list != nil && i+1 < len(steps) { // "#/anyOf/0"
			i++
			n, err := strconv.Atoi(steps[i])
			if err != nil || n < 0 || n >= len(list) {
				return nil, false
			}
			value = list[n]
		}
		if at, ok = parse(value); !ok {
			return nil, false
		}
	}
	return at, true
}
