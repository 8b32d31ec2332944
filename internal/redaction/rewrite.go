package redaction

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/agonist-dev/debate/flow"
)

// rewriting says what becomes of the JSON of a body. The path of a value has the keys that lead to it, and of lists nothing.
type rewriting struct {
	leaf   func(path []string, value string) string // returns what a text becomes
	key    func(path []string)                      // sees each key, the last of the path; nil: nobody does
	object func(fields []field) []field             // returns what an object becomes, after its fields; nil: what it is
}

// field is a field of an object.
type field struct {
	key   string
	value json.RawMessage
}

// rewriteBody returns the body of an event as its JSON is rewritten, or nil if nothing changes. The event keeps its own.
func rewriteBody(e *flow.Event, w *rewriting) (flow.Body, error) {
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
	decoder := json.NewDecoder(bytes.NewReader(in.Body))
	decoder.UseNumber()
	c := &changing{rewriting: w, in: decoder}
	if in.Body, err = c.value(nil); err != nil || !c.changed {
		return nil, err
	}
	if line, err = json.Marshal(in); err != nil {
		return nil, err
	}
	var out flow.Event
	if err := out.UnmarshalJSON(line); err != nil {
		return nil, err
	}
	return out.Body, nil
}

// changing rewrites one value.
type changing struct {
	*rewriting

	in      *json.Decoder
	changed bool
}

func (c *changing) value(path []string) (json.RawMessage, error) {
	token, err := c.in.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '[' {
			return c.list(path)
		}
		return c.fields(path)
	case string:
		value := c.leaf(path, t)
		c.changed = c.changed || value != t
		return plainJSON(value)
	default:
		return plainJSON(token)
	}
}

func (c *changing) list(path []string) (json.RawMessage, error) {
	out := []byte("[")
	for c.in.More() {
		value, err := c.value(path)
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

func (c *changing) fields(path []string) (json.RawMessage, error) {
	var all []field
	for c.in.More() {
		token, err := c.in.Token()
		if err != nil {
			return nil, err
		}
		key, _ := token.(string) // a decoder gives no other
		at := append(slices.Clone(path), key)
		if c.key != nil {
			c.key(at)
		}
		value, err := c.value(at)
		if err != nil {
			return nil, err
		}
		all = append(all, field{key, value})
	}
	if _, err := c.in.Token(); err != nil { // the end
		return nil, err
	}
	if c.object != nil {
		now := c.object(all)
		c.changed = c.changed || len(now) != len(all) || len(now) > 0 && &now[0] != &all[0]
		all = now
	}
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

// plainJSON returns the JSON of a token, without escapes for HTML.
func plainJSON(token any) (json.RawMessage, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(token)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}
