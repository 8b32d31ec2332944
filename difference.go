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

// sameConfig says where two configs differ: an error of kind conflict that names the field and both
// values. The id does not count, since the log does not hold it twice, nor what is chosen where nobody is asked: that
// of the log holds.
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

// difference finds the first place where the JSON of two values differs: the path of its keys, and what
// each has there. The path is empty if they are equal.
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

// absent stands for a value that is not there.
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

// shown is a value as it stands in an error.
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
