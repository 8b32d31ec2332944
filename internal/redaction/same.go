package redaction

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/text"
)

// SameButTexts reports whether two records, before a redaction and after it, differ in nothing but strings and keys that hold what
// takes the place of a text, and numbers that were one or that are the size of one: scores, times, usage and costs are the same, and so
// is all that is there.
// Otherwise the error is of kind validation and names the place.
func SameButTexts(before, after *flow.Record, fact *flow.Redacted) error {
	old, err := tree(before)
	if err != nil {
		return err
	}
	now, err := tree(after)
	if err != nil {
		return err
	}
	if at := differ(fact, old, now, nil); at != nil {
		return unredacted("texts", "cannot be removed: the record would differ in more than texts, in %s. "+
			"Name a longer text, with the words that stand around it", strings.Join(at, "."))
	}
	return nil
}

// HeldBySetting is the error that a redaction would leave a log that cannot be read, because one of its texts stands in a setting.
// err says which, and why the log cannot be read without it.
func HeldBySetting(err error) error {
	why := strings.ReplaceAll(text.OneLine(err.Error(), 300), "debate: validation: ", "")
	return unredacted("texts", "cannot be removed, since one of them stands in a setting, too: %s. "+
		"Name a longer text, with the words that stand around it", why)
}

// tree returns the JSON of a record, with what its flow adds.
func tree(r *flow.Record) (out any, err error) {
	var shown json.Marshaler = r
	if own, ok := r.Projection().(json.Marshaler); ok {
		shown = own
	}
	data, err := shown.MarshalJSON()
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	return out, decoder.Decode(&out)
}

// differ returns where two values differ in more than texts; nil: nowhere.
func differ(f *flow.Redacted, old, now any, path []string) []string {
	switch a := old.(type) {
	case map[string]any:
		b, ok := now.(map[string]any)
		if !ok || len(b) > len(a) {
			return append(path, "?")
		}
		return differIn(f, a, b, path)
	case []any:
		b, ok := now.([]any)
		if !ok || len(a) != len(b) {
			return append(path, "?")
		}
		for i := range a {
			if at := differ(f, a[i], b[i], append(path, strconv.Itoa(i))); at != nil {
				return at
			}
		}
		return nil
	case string:
		if b, ok := now.(string); ok && (a == b || strings.Contains(b, f.With)) {
			return nil
		}
	default:
		if reflect.DeepEqual(old, now) || removed(f, old, now) {
			return nil
		}
	}
	return append(path, "?")
}

// differIn is differ for the fields of objects.
func differIn(f *flow.Redacted, old, now map[string]any, path []string) []string {
	if replaced(f, old, now) {
		return nil
	}
	_, cited := old["url"] // the passages of a text that was changed are gone
	var missing []string
	for _, key := range slices.Sorted(maps.Keys(old)) {
		value, there := now[key]
		if !there && cited && (key == "start" || key == "end") {
			continue
		}
		if !there {
			missing = append(missing, key)
			continue
		}
		if sized(key, old[key], value) {
			continue
		}
		if at := differ(f, old[key], value, append(path, key)); at != nil {
			return at
		}
	}
	return renamed(f, old, now, missing, path)
}

// renamed is differ for keys that are missing: each has another one in its place, from which a text was removed.
func renamed(f *flow.Redacted, old, now map[string]any, missing, path []string) []string {
	var others []string
	for _, key := range slices.Sorted(maps.Keys(now)) {
		if _, there := old[key]; !there {
			others = append(others, key)
		}
	}
	for _, key := range missing {
		i := slices.IndexFunc(others, func(other string) bool {
			return strings.Contains(other, f.With) && differ(f, old[key], now[other], path) == nil
		})
		if i < 0 {
			return append(path, key)
		}
		others = slices.Delete(others, i, i+1)
	}
	if len(others) > 0 {
		return append(path, others[0])
	}
	return nil
}

// removed reports whether a number was one of the texts that were removed, and has made room for what takes their place.
func removed(f *flow.Redacted, old, now any) bool {
	number, ok := old.(json.Number)
	return ok && now == f.With && slices.ContainsFunc(f.Texts, func(r flow.Removed) bool { return r.Hash == flow.HashOf([]byte(number)) })
}

// sized reports whether a field is a number that is computed from the length of a text, or from how many words it has; see
// [flow.Record.MarshalWith].
func sized(key string, old, now any) bool {
	_, was := old.(json.Number)
	_, is := now.(json.Number)
	return was && is && (strings.HasPrefix(key, "characters") || strings.HasPrefix(key, "words"))
}

// replaced reports whether a file was replaced by the one that takes its place.
func replaced(f *flow.Redacted, old, now map[string]any) bool {
	hash, _ := old["hash"].(string)
	return hash != "" && slices.ContainsFunc(f.Files, func(r flow.Removed) bool { return r.Hash == hash && r.As == now["hash"] })
}
