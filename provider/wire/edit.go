package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// holds reports whether a JSON object has a value at a path.
func holds(object []byte, path []string) bool {
	found := false
	_ = members(object, func(name string, value json.RawMessage) {
		if name == path[0] && !found {
			found = len(path) == 1 || holds(value, path[1:])
		}
	})
	return found
}

// members calls take with the members of a JSON object, in their order. It fails if data is no object.
func members(data []byte, take func(name string, value json.RawMessage)) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errNoObject
	}
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		var value json.RawMessage
		if err != nil || !ok || d.Decode(&value) != nil {
			return errNoObject
		}
		take(name, value)
	}
	return nil
}

// without returns a JSON object without the fields of some options, or with their other names. The rest of it
// stays as it is. cut are the names of the options that it had. An object that becomes empty is left out too.
func without(object []byte, options []Option) (edited []byte, cut []string) {
	e := edit{options: options}
	which := make([]int, len(options))
	for i, o := range options {
		which[i] = i
		e.paths = append(e.paths, strings.Split(o.Name, "."))
		e.instead = append(e.instead, o.Instead)
		if at := strings.LastIndexByte(o.Name, '.') + 1; o.Instead != "" && holds(object, strings.Split(o.Name[:at]+o.Instead, ".")) {
			e.instead[i] = "" // it is there already
		}
	}
	edited, _ = e.object(object, 0, which)
	slices.Sort(e.cut)
	return edited, slices.Compact(e.cut)
}

// edit removes or renames fields of a JSON object.
type edit struct {
	options []Option
	paths   [][]string // of the options
	instead []string   // their other names; "": none
	cut     []string   // names of the options that were there
}

// object edits an object at a depth, with the options whose paths lead to it. kept reports whether anything is
// left of it. What is no object stays as it is.
func (e *edit) object(data []byte, depth int, which []int) (edited []byte, kept bool) {
	var b bytes.Buffer
	b.WriteByte('{')
	err := members(data, func(name string, value json.RawMessage) {
		name, value = e.member(name, value, depth, which)
		if name == "" {
			return
		}
		if kept {
			b.WriteByte(',')
		}
		kept = true
		quoted, _ := json.Marshal(name)
		b.Write(quoted)
		b.WriteByte(':')
		b.Write(value)
	})
	if err != nil {
		return data, true
	}
	b.WriteByte('}')
	return b.Bytes(), kept
}

// member edits one field. The name is "" if nothing is left of it.
func (e *edit) member(name string, value json.RawMessage, depth int, which []int) (string, json.RawMessage) {
	var inner []int
	for _, i := range which {
		switch path := e.paths[i]; {
		case path[depth] != name:
		case depth < len(path)-1:
			inner = append(inner, i)
		default:
			e.cut = append(e.cut, e.options[i].Name)
			return e.instead[i], value
		}
	}
	if len(inner) == 0 {
		return name, value
	}
	edited, kept := e.object(value, depth+1, inner)
	if !kept {
		return "", nil
	}
	return name, edited
}
