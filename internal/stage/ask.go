package stage

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
)

// SentField is a field of a schema as it is sent.
type SentField struct {
	Path    string // "requirements.text": from the top, through objects and lists
	Decides bool   // its value is a number, true or false, or some of several: a mark or a decision
}

// name returns the last part of the path.
func (f SentField) name() string { return f.Path[strings.LastIndexByte(f.Path, '.')+1:] }

// above returns the path of the field that holds this one; "": it stands at the top.
func (f SentField) above() string {
	i := strings.LastIndexByte(f.Path, '.')
	return f.Path[:max(0, i)]
}

// FieldsSent returns the fields of a schema in their order, those of each object behind it.
func FieldsSent(t testing.TB, schema json.RawMessage) []SentField {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(schema))
	root := decodeOrdered(t, d)
	var out []SentField
	root.fields("", &out)
	return out
}

// ordered is a JSON value whose keys have kept their order.
type ordered struct {
	keys   []string
	values map[string]*ordered
	items  []*ordered
	leaf   json.Token
}

func decodeOrdered(t testing.TB, d *json.Decoder) *ordered {
	t.Helper()
	token, err := d.Token()
	require.NoError(t, err)
	switch token {
	case json.Delim('{'):
		out := &ordered{values: make(map[string]*ordered)}
		for d.More() {
			key, failure := d.Token()
			require.NoError(t, failure)
			name, _ := key.(string)
			out.keys, out.values[name] = append(out.keys, name), decodeOrdered(t, d)
		}
		_, err = d.Token()
		require.NoError(t, err)
		return out
	case json.Delim('['):
		out := &ordered{}
		for d.More() {
			out.items = append(out.items, decodeOrdered(t, d))
		}
		_, err = d.Token()
		require.NoError(t, err)
		return out
	default:
		return &ordered{leaf: token}
	}
}

// at returns the value under a key; an empty value: there is none.
func (o *ordered) at(key string) *ordered {
	if o == nil || o.values[key] == nil {
		return &ordered{}
	}
	return o.values[key]
}

// fields gathers the properties of a schema, of what its lists hold, and of the first of its alternatives.
func (o *ordered) fields(path string, out *[]SentField) {
	if either := o.at("oneOf").items; len(either) > 0 {
		either[0].fields(path, out)
		return
	}
	o.at("items").fieldsOf(path, out)
	properties := o.at("properties")
	for _, key := range properties.keys {
		inner, value := properties.values[key], key
		if path != "" {
			value = path + "." + key
		}
		*out = append(*out, SentField{Path: value, Decides: inner.decides()})
		inner.fields(value, out)
	}
}

// fieldsOf is fields for the schema of a list's items, which may be missing.
func (o *ordered) fieldsOf(path string, out *[]SentField) {
	if len(o.keys) > 0 {
		o.fields(path, out)
	}
}

func (o *ordered) decides() bool {
	kind := o.at("type").leaf
	return kind == "number" || kind == "integer" || kind == "boolean" || len(o.at("enum").items) > 0 || len(o.at("items").at("enum").items) > 0
}

var (
	askedLine  = regexp.MustCompile(`^( *)- ("[^"]+"(?:, "[^"]+")*)(?::|$)`)
	askedNames = regexp.MustCompile(`"([^"]+)"`)
)

const asksFields = "Only one JSON object, with these fields in this order:\n\n"

// FieldsAsked returns the paths of the fields that an instruction asks for, in their order; nil: it asks for none.
func FieldsAsked(text string) []string {
	_, list, ok := strings.Cut(text, asksFields)
	if !ok {
		return nil
	}
	var out, above []string
	for line := range strings.Lines(list) {
		m := askedLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			break
		}
		above = above[:min(len(above), len(m[1])/2)]
		name := ""
		for _, one := range askedNames.FindAllStringSubmatch(m[2], -1) {
			name = one[1]
			out = append(out, strings.Join(append(slices.Clone(above), name), "."))
		}
		above = append(above, name)
	}
	return out
}

// AssertAsked compares the instruction of a request with its schema: both name the same fields, in the same order. A value for each of
// several names has its words in the line of the whole.
func AssertAsked(t testing.TB, req *provider.Request) {
	t.Helper()
	require.NotNil(t, req.Schema, req.ID)
	asked := FieldsAsked(req.Last.Text)
	require.NotEmpty(t, asked, "%s: %s", req.ID, req.Last.Text)
	nested := map[string]bool{"": true}
	for _, path := range asked {
		nested[SentField{Path: path}.above()] = true
	}
	var sent []string
	for _, f := range FieldsSent(t, req.Schema.JSON) {
		if nested[f.above()] {
			sent = append(sent, f.Path)
		}
	}
	assert.Equal(t, sent, asked, req.ID)
}

// Fields that hold what the marks and decisions after them rest on. Those of the first list stand before all marks beside them.
var (
	reasons  = []string{"reasoning", "reason", "note", "ending", "disagreements", "output", "solution"}
	evidence = []string{"strengths", "weaknesses", "summary"}
)

// AssertReasonsFirst looks for marks and decisions that a model would write before the reasons which stand beside them, and for those
// before which it would write none. To name the participant whom an entry is about is no decision.
func AssertReasonsFirst(t testing.TB, req *provider.Request) {
	t.Helper()
	require.NotNil(t, req.Schema, req.ID)
	early, given := make(map[string][]string), make(map[string]bool) // by what holds them
	for _, f := range FieldsSent(t, req.Schema.JSON) {
		above := f.above()
		switch {
		case slices.Contains(reasons, f.name()):
			assert.Empty(t, early[above], "%s: before %s", req.ID, f.Path)
			given[above] = true
		case slices.Contains(evidence, f.name()):
			given[above] = true
		case f.Decides:
			early[above] = append(early[above], f.Path)
			rests := given[""]
			for at := above; at != ""; at = (SentField{Path: at}).above() {
				rests = rests || given[at]
			}
			assert.True(t, rests || f.name() == "participant", "%s: nothing stands before %s that it rests on", req.ID, f.Path)
		}
	}
}

// AnswerTo returns an answer that a schema of any flow accepts: one entry for each whom a list is about, marks in the middle of their scale,
// no flag of a judge, the first of several choices, and for an arbiter the completion as soon as it is legal. A plan stays as it is.
func AnswerTo(t testing.TB, schema *provider.Schema) string {
	t.Helper()
	root := decodeOrdered(t, json.NewDecoder(bytes.NewReader(schema.JSON)))
	a := answerer{mark: 70}
	if strings.HasPrefix(schema.Name, "assessment") || schema.Name == "marks" {
		a.mark = 7
	}
	value := a.value(root, "", 0)
	if ruling, ok := value.(map[string]any); ok && ruling["move"] != nil {
		ruling["summary"] = ""
		for _, move := range root.at("properties").at("move").at("enum").items {
			if move.leaf == "complete" {
				ruling["move"], ruling["agents"], ruling["summary"] = "complete", []any{}, "All is done."
			}
		}
	}
	return JSON(value)
}

// answerer makes values of a schema's types.
type answerer struct{ mark float64 }

// value returns the value of a field. i is its place among those whom a list is about.
func (a answerer) value(o *ordered, field string, i int) any {
	if either := o.at("oneOf").items; len(either) > 0 {
		return a.value(either[0], field, i)
	}
	if choices := o.at("enum").items; len(choices) > 0 {
		return choices[i%len(choices)].leaf
	}
	switch o.at("type").leaf {
	case "object":
		return a.object(o, field, i)
	case "array":
		return a.list(o, field)
	case "number", "integer":
		return a.mark - float64(i)
	case "boolean":
		return !slices.Contains([]string{"repetitive", "drifting", "diminishingReturns", "convergenceReached"}, field)
	default:
		return "What stands in " + field + "."
	}
}

// object returns an object with all its fields but a plan. The values by name differ.
func (a answerer) object(o *ordered, field string, i int) any {
	out := make(map[string]any)
	properties := o.at("properties")
	for at, key := range properties.keys {
		switch {
		case key == "planUpdates":
		case field == "scores":
			out[key] = a.value(properties.values[key], key, at)
		default:
			out[key] = a.value(properties.values[key], key, i)
		}
	}
	return out
}

// list returns a list with an entry for each whom it is about or ranks, or with one entry.
func (a answerer) list(o *ordered, field string) any {
	item := o.at("items")
	n := max(1, len(item.at("properties").at("participant").at("enum").items))
	if field == "ranking" {
		n = max(n, len(item.at("enum").items))
	}
	out := make([]any, n)
	for i := range out {
		out[i] = a.value(item, field, i)
	}
	return out
}
