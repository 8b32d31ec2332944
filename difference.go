package debate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
)

// sameConfig reports where two configs differ, as an error of kind conflict that names the field and both values.
// Two differences do not count: the id, which the log does not hold twice, and what is chosen where no person is
// asked. For the latter, the log's choice stays.
func sameConfig(stored, given *Record) error {
	a, err := tree(stored.Config())
	if err != nil {
		return &Error{Kind: KindValidation, Op: string(TriggerStart), Err: err}
	}
	b, err := tree(given.Config())
	if err != nil {
		return &Error{Kind: KindValidation, Op: string(TriggerStart), Err: err}
	}
	for _, side := range []any{a, b} {
		if object, ok := side.(map[string]any); ok {
			delete(object, "id")
			delete(object, "unattended")
		}
	}
	if stored.Flow() != given.Flow() {
		a, b = map[string]any{"flow": stored.Flow()}, map[string]any{"flow": given.Flow()}
	}
	field, left, right := differing("", a, b)
	if field == "" {
		return nil
	}
	other := fmt.Errorf("a debate of this id exists with another value: it has %s, and %s is given", left, right)
	return &Error{Kind: KindConflict, Op: string(TriggerStart), Field: field, Err: other}
}

// difference finds the first place where the JSON of two values differs. It returns the path of keys, and what each
// value has there. If the values are equal, the path is empty.
func difference(a, b any) (path, left, right string, err error) {
	x, err := tree(a)
	if err != nil {
		return "", "", "", err
	}
	y, err := tree(b)
	if err != nil {
		return "", "", "", err
	}
	path, left, right = differing("", x, y)
	return path, left, right, nil
}

func tree(v any) (any, error) {
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

func differing(path string, a, b any) (at, left, right string) {
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
		if at, left, right = differing(inner, under(a, key), under(b, key)); at != "" {
			return at, left, right
		}
	}
	return "", "", ""
}

func differingLists(path string, a, b []any) (at, left, right string) {
	for i := range a {
		if at, left, right = differing(path+"["+strconv.Itoa(i)+"]", a[i], b[i]); at != "" {
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
		return oneLine(string(data), 80)
	}
}
