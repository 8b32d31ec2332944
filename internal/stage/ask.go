package stage

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
)

// SentField is a field of a schema as it is sent.
type SentField struct {
	Path    string   // "requirements.text": from the top, through objects and lists
	Decides bool     // its value is a number, true or false, or some of several: a mark or a decision
	Choices []string // the only values that it, or what its list holds, can have; nil: it is free
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
		*out = append(*out, SentField{Path: value, Decides: inner.decides(), Choices: inner.choices()})
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
	return kind == "number" || kind == "integer" || kind == "boolean" || len(o.choices()) > 0
}

// choices returns the values that a text, or a text of a list, can have.
func (o *ordered) choices() (out []string) {
	for _, one := range slices.Concat(o.at("enum").items, o.at("items").at("enum").items) {
		text, _ := one.leaf.(string)
		out = append(out, text)
	}
	return out
}

var (
	askedLine  = regexp.MustCompile(`^( *)- ("[^"]+"(?:, "[^"]+")*)(?::|$)`)
	askedNames = regexp.MustCompile(`"([^"]+)"`)
)

// quoted is a text in quotes as Go writes them.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

const asksFields = "Only one JSON object, with these fields in this order:\n\n"

// fieldsAsked returns the paths of the fields that an instruction asks for, in their order, and for each path the texts in quotes of its
// words; nil: it asks for none.
func fieldsAsked(text string) (out []string, values map[string][]string) {
	_, list, ok := strings.Cut(text, asksFields)
	if !ok {
		return nil, nil
	}
	values = make(map[string][]string)
	var above []string
	for line := range strings.Lines(list) {
		m := askedLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			break
		}
		above = above[:min(len(above), len(m[1])/2)]
		name := ""
		for _, one := range askedNames.FindAllStringSubmatch(m[2], -1) {
			name = one[1]
			path := strings.Join(append(slices.Clone(above), name), ".")
			out = append(out, path)
			for _, each := range quoted.FindAllString(line[len(m[0]):], -1) {
				value, _ := strconv.Unquote(each)
				values[path] = append(values[path], value)
			}
		}
		above = append(above, name)
	}
	return out, values
}

// AssertAsked compares the instruction of a request with its schema: both name the same fields, in the same order, and where both list the
// values or the keys of a field, the same ones in the same order. A value for each of several names has its words in the line of the whole.
func AssertAsked(t testing.TB, req *provider.Request) {
	t.Helper()
	require.NotNil(t, req.Schema, req.ID)
	asked, values := fieldsAsked(req.Last.Text)
	require.NotEmpty(t, asked, "%s: %s", req.ID, req.Last.Text)
	nested := map[string]bool{"": true}
	for _, path := range asked {
		nested[SentField{Path: path}.above()] = true
	}
	var sent []string
	keys := make(map[string][]string) // of fields that hold a value for each of several names
	for _, f := range FieldsSent(t, req.Schema.JSON) {
		if !nested[f.above()] {
			keys[f.above()] = append(keys[f.above()], strings.TrimPrefix(f.Path, f.above()+"."))
			continue
		}
		sent = append(sent, f.Path)
		for _, path := range []string{f.Path, f.above()} { // whom a list is about stands in the line of the list
			assertListed(t, f.Choices, values[path], req.ID+": "+f.Path)
		}
	}
	assert.Equal(t, sent, asked, req.ID)
	for path, names := range keys {
		assertListed(t, names, values[path], req.ID+": "+path)
	}
}

// assertListed compares the values that a schema lists with those among words in quotes. One alone is no list.
func assertListed(t testing.TB, listed, words []string, what string) {
	t.Helper()
	told := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return !slices.Contains(listed, word) })
	if len(told) > 1 {
		assert.Equal(t, listed, told, what)
	}
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
