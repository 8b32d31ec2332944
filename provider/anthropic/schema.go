package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openaicompat"
	"github.com/agonist-dev/debate/provider/wire"
)

// maxUnions is the limit of anyOf and lists of types in one schema, from Anthropic's guide to structured
// outputs.
const maxUnions = 16

// optionBounds are the bounds in a schema, as a part of the request.
const optionBounds = "output_config.format.schema.properties"

// format returns the reply format for a schema, nil if the API cannot express it.
func format(s *provider.Schema, t *wire.Terms) *jsonFormat {
	keep := bounds
	if t.Leaves(optionBounds) {
		keep = nil
	}
	strict, ok := openaicompat.StrictSchema(s.JSON, keep)
	if !ok || !expressible(strict) {
		return nil
	}
	return &jsonFormat{Type: "json_schema", Schema: strict}
}

// bounds reports whether the API accepts a bound: an array that is not empty, and some formats. It refuses
// limits of numbers and lengths. The source is Anthropic's guide to structured outputs (2026).
func bounds(keyword string, value json.RawMessage) bool {
	switch keyword {
	case "minItems":
		return slices.Contains([]string{"0", "1"}, string(value))
	case "format":
		formats := []string{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}
		return slices.Contains(formats, wire.Plain(value))
	}
	return false
}

// expressible reports whether a schema in OpenAI's strict form keeps within Anthropic's limits too.
func expressible(strict json.RawMessage) bool {
	var root map[string]any
	if json.Unmarshal(strict, &root) != nil {
		return false
	}
	s := survey{root: root, ok: true, refs: map[string][]string{}}
	for _, home := range []string{"$defs", "definitions"} {
		for name, definition := range members(root[home]) {
			s.at = "#/" + home + "/" + name
			s.schema(definition)
		}
	}
	s.at = "#"
	s.schema(root)
	return s.ok && s.unions <= maxUnions && !s.circular()
}

// survey collects what matters of a whole schema.
type survey struct {
	root   map[string]any
	at     string              // the definition that is being read; "#" for the rest
	refs   map[string][]string // by definition: the definitions that it refers to
	unions int
	ok     bool
}

// members returns the schemas under a keyword that holds them by name.
func members(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func (s *survey) schema(v any) {
	o := members(v)
	if ref, ok := o["$ref"].(string); ok {
		s.refer(ref)
	}
	for _, m := range members(o["properties"]) {
		s.schema(m)
	}
	if items, ok := o["items"]; ok {
		s.schema(items)
	}
	if list, ok := o["anyOf"].([]any); ok {
		s.unions++
		for _, one := range list {
			s.schema(one)
		}
	}
	if _, ok := o["type"].([]any); ok {
		s.unions++
	}
	values, _ := o["enum"].([]any)
	for _, value := range append(values, o["const"]) {
		switch value.(type) {
		case map[string]any, []any:
			s.ok = false
		}
	}
}

// refer records a reference. A reference to anything but a definition at the root is not expressible.
func (s *survey) refer(ref string) {
	for _, home := range []string{"$defs", "definitions"} {
		name, ok := strings.CutPrefix(ref, "#/"+home+"/")
		if _, found := members(s.root[home])[name]; ok && found && !strings.ContainsAny(name, "/~%") {
			s.refs[s.at] = append(s.refs[s.at], ref)
			return
		}
	}
	s.ok = false
}

// circular reports whether a definition leads back to itself.
func (s *survey) circular() bool {
	const open, done = 1, 2
	state := map[string]int{}
	var visit func(at string) bool
	visit = func(at string) bool {
		if state[at] != 0 {
			return state[at] == open
		}
		state[at] = open
		back := slices.ContainsFunc(s.refs[at], visit)
		state[at] = done
		return back
	}
	for at := range s.refs {
		if visit(at) {
			return true
		}
	}
	return false
}
