package redaction

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/order"
)

// rewriting says what becomes of the JSON of a body. The path of a value has the keys that lead to it, and of lists nothing. name
// means that the string is an identifier.
type rewriting struct {
	leaf   func(path []string, value string, name bool) string         // returns what a string becomes
	key    func(path []string, name bool) string                       // returns what the last key of the path becomes; nil: what it is
	number func(path []string, value string, free bool) (string, bool) // returns the string that takes a number's place, if any; nil: none
	object func(fields []field) []field                                // returns what an object becomes, after its fields; nil: what it is
	gone   func(path []string, value json.RawMessage) bool             // reports whether a field goes that else stays whole; nil: it stays
}

// field is a field of an object.
type field struct {
	key   string
	value json.RawMessage
}

// rewriteBody returns the body of an event, which has this shape, as its JSON is rewritten, or nil if nothing changes. The event
// keeps its own.
func rewriteBody(e *flow.Event, s *shape, w *rewriting) (flow.Body, error) {
	line, err := e.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var in struct {
		Seq  json.RawMessage `json:"seq"`
		At   json.RawMessage `json:"at"`
		Kind json.RawMessage `json:"kind"`
		Body json.RawMessage `json:"body"`
	}
	if err := json.Unmarshal(line, &in); err != nil {
		return nil, err
	}
	body, changed, err := rewritten(in.Body, s, w)
	if err != nil || !changed {
		return nil, err
	}
	in.Body = body
	if line, err = json.Marshal(in); err != nil {
		return nil, err
	}
	var out flow.Event
	if err := out.UnmarshalJSON(line); err != nil {
		return nil, err
	}
	return out.Body, nil
}

// rewritten returns JSON of a shape as it is rewritten, and whether that has changed it.
func rewritten(data json.RawMessage, s *shape, w *rewriting) (json.RawMessage, bool, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	c := &changing{rewriting: w, in: decoder}
	out, err := c.value(nil, s)
	return out, c.changed, err
}

// changing rewrites one value.
type changing struct {
	*rewriting

	in      *json.Decoder
	changed bool
}

func (c *changing) value(path []string, s *shape) (json.RawMessage, error) {
	token, err := c.in.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '[' {
			return c.list(path, s.item())
		}
		return c.fields(path, s)
	case string:
		value := c.leaf(path, t, s.isName())
		c.changed = c.changed || value != t
		return plainJSON(value)
	case json.Number:
		if c.number != nil {
			if value, ok := c.number(path, t.String(), s == nil); ok {
				c.changed = true
				return plainJSON(value)
			}
		}
		return plainJSON(t)
	default:
		return plainJSON(token)
	}
}

func (c *changing) list(path []string, items *shape) (json.RawMessage, error) {
	out := []byte("[")
	for c.in.More() {
		value, err := c.value(path, items)
		if err != nil {
			return nil, err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, value...)
	}
	_, err := c.in.Token() // the end
	return append(out, ']'), err
}

func (c *changing) fields(path []string, s *shape) (json.RawMessage, error) {
	var all []field
	renamed := make(map[int]string) // by field
	for c.in.More() {
		token, err := c.in.Token()
		if err != nil {
			return nil, err
		}
		key, _ := token.(string) // a decoder gives no other
		at := append(slices.Clone(path), key)
		value, gone, err := c.field(at, s.under(key))
		if err != nil {
			return nil, err
		}
		if gone {
			continue
		}
		if c.key != nil {
			if now := c.key(at, s.isKey(key)); now != key {
				renamed[len(all)] = now
			}
		}
		all = append(all, field{key, value})
	}
	if _, err := c.in.Token(); err != nil { // the end
		return nil, err
	}
	c.changed = c.changed || len(renamed) > 0
	rename(all, renamed)
	if c.object != nil {
		now := c.object(all)
		c.changed = c.changed || len(now) != len(all) || len(now) > 0 && &now[0] != &all[0]
		all = now
	}
	return object(all)
}

// field returns the value of a field, and whether the field goes.
func (c *changing) field(path []string, s *shape) (value json.RawMessage, gone bool, err error) {
	if s == nil || !s.whole {
		value, err = c.value(path, s)
		return value, false, err
	}
	if err := c.in.Decode(&value); err != nil {
		return nil, false, err
	}
	gone = c.gone != nil && c.gone(path, value)
	c.changed = c.changed || gone
	return value, gone, nil
}

// object returns the JSON of an object.
func object(all []field) (json.RawMessage, error) {
	out := []byte("{")
	for i := range all {
		key, err := plainJSON(all[i].key)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, key...), ':'), all[i].value...)
	}
	return append(out, '}'), nil
}

// rename gives fields other keys. Where an object would have one twice, it gets a number behind it.
func rename(all []field, keys map[int]string) {
	taken := make(map[string]bool)
	for i := range all {
		if _, ok := keys[i]; !ok {
			taken[all[i].key] = true
		}
	}
	for i, key := range order.ByKey(keys) {
		all[i].key = key
		for n := 2; taken[all[i].key]; n++ {
			all[i].key = fmt.Sprintf("%s %d", key, n)
		}
		taken[all[i].key] = true
	}
}

// plainJSON returns the JSON of a token, without escapes for HTML.
func plainJSON(token any) (json.RawMessage, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(token)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}
