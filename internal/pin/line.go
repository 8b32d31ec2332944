package pin

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// Line is an event in the making: its words, which are joined by spaces.
type Line []string

// Add adds names and their values, but for those that are zero or empty.
func (l *Line) Add(pairs ...any) {
	for i := 0; i+1 < len(pairs); i += 2 {
		v := reflect.ValueOf(pairs[i+1])
		switch {
		case v.IsZero(), (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0:
		case v.Kind() == reflect.Bool:
			*l = append(*l, fmt.Sprint(pairs[i]))
		default:
			*l = append(*l, fmt.Sprintf("%s=%s", pairs[i], valued(v)))
		}
	}
}

// Spend adds the attempt that an event ends, and what it cost.
func (l *Line) Spend(s *flow.Spend) {
	u := s.Usage
	l.call(s.Call, s.Attempt, s.Model)
	l.Add("in", u.Input, "fromCache", u.CachedInput, "toCache", u.CacheWrite, "out", u.Output, "reasoning", u.Reasoning, "cost", s.Cost,
		"atMost", s.AtMost, "brokenOff", s.BrokenOff, "unreported", s.Unreported, "repeated", s.Cached, "standIn", s.StandIn)
}

func (l *Line) call(call string, attempt int, model string) {
	*l = append(*l, short(call)+"#"+strconv.Itoa(attempt), cmp.Or(model, "-"))
}

// valued writes a value without asking its type how: money is the number of its smallest units.
func valued(v reflect.Value) string {
	switch v.Kind() {
	case reflect.String:
		return short(v.String())
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case reflect.Slice:
		if data, ok := reflect.TypeAssert[json.RawMessage](v); ok {
			return short(unordered(data))
		}
		all := make([]string, v.Len())
		for i := range all {
			all[i] = valued(v.Index(i))
		}
		return "[" + strings.Join(all, ",") + "]"
	case reflect.Map:
		var all []string
		for _, key := range v.MapKeys() {
			all = append(all, valued(key)+":"+valued(v.MapIndex(key)))
		}
		slices.Sort(all)
		return "{" + strings.Join(all, ",") + "}"
	default:
		return fmt.Sprintf("%d", v.Interface())
	}
}

// unordered writes JSON with the keys of its objects sorted, so that their order does not count.
func unordered(data json.RawMessage) string {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return string(data)
	}
	sorted, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(sorted)
}

// short writes a short text as it is, and quoted if it is more than a word. Of a long one it writes the length in bytes
// and a hash.
func short(text string) string {
	if len(text) > 48 {
		return fmt.Sprintf("%d~%.4x", len(text), sha256.Sum256([]byte(text)))
	}
	if quoted := strconv.Quote(text); quoted != `"`+text+`"` || strings.ContainsAny(text, " ,:[]{}=") {
		return quoted
	}
	return text
}
