// Package jsondiff finds where the JSON of two values differs.
package jsondiff

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/agonist-dev/debate/internal/text"
)

// Find finds the first place where the JSON of two values differs. It returns the path of keys, and what each
// value has there. If the values are equal, the path is empty.
func Find(a, b any) (path, left, right string, err error) {
	x, err := Tree(a)
	if err != nil {
		return "", "", "", err
	}
	y, err := Tree(b)
	if err != nil {
		return "", "", "", err
	}
	path, left, right = Compare("", x, y)
	return path, left, right, nil
}

// Tree returns a value as its JSON decodes, with numbers as they are written.
func Tree(v any) (any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var out any
	err = d.Decode(&out)
	return out, err
}

// absent stands for a missing value.
type absent struct{}

// Compare returns the first place at which two decoded values differ, with what each has there, both as JSON. at is
// the path of the place below path, and is empty if the values are equal.
func Compare(path string, a, b any) (at, left, right string) {
	if m, ok := a.(map[string]any); ok {
		if n, ok := b.(map[string]any); ok {
			return differingObjects(path, m, n)
		}
	}
	if l, ok := a.([]any); ok {
		if m, ok := b.([]any); ok && len(l) == len(m) {
			return differingLists(path, l, m)
		}
	}
	if reflect.DeepEqual(a, b) {
		return "", "", ""
	}
	return path, shown(a), shown(b)
}

func differingObjects(path string, a, b map[string]any) (at, left, right string) {
	keys := maps.Clone(a)
	maps.Copy(keys, b)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		inner := key
		if path != "" {
			inner = path + "." + key
		}
		if at, left, right = Compare(inner, under(a, key), under(b, key)); at != "" {
			return at, left, right
		}
	}
	return "", "", ""
}

func differingLists(path string, a, b []any) (at, left, right string) {
	for i := range a {
		if at, left, right = Compare(path+"["+strconv.Itoa(i)+"]", a[i], b[i]); at != "" {
			return at, left, right
		}
	}
	return "", "", ""
}

func under(m map[string]any, key string) any {
	if v, ok := m[key]; ok {
		return v
	}
	return absent{}
}

// shown formats a value for an error text.
func shown(v any) string {
	switch v := v.(type) {
	case absent:
		return "nothing"
	case []any:
		return strconv.Itoa(len(v)) + " of them"
	default:
		data, err := json.Marshal(v)
		if err != nil {
			return "something else"
		}
		return text.OneLine(string(data), 80)
	}
}
