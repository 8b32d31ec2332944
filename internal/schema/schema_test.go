package schema_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/schema"
	"github.com/agonist-dev/debate/internal/strictjson"
)

var update = flag.Bool("update", false, "rewrite the golden files")

type verdict struct {
	Summary string         `json:"summary" jsonschema:"minLength=1,description=What happened\\, in short"`
	Winner  *winner        `json:"winner" jsonschema:"nullable"`
	Scores  map[string]int `json:"scores"`
	Points  []point        `json:"points" jsonschema:"minItems=1,maxItems=3"`
	Note    string         `json:"note,omitempty"`
	Parent  *verdict       `json:"-"`
}

type winner struct {
	Participant string `json:"participant" jsonschema:"enum=Ada,enum=Ben"`
	Reasoning   string `json:"reasoning"`
}

type point struct {
	Score float64 `json:"score" jsonschema:"minimum=0,maximum=10"`
	Final bool    `json:"final"`
}

func ExampleFor() {
	text, err := schema.For[point]()
	fmt.Println(string(text), err)
	s, _ := schema.Compile("point", text)
	fmt.Println(s.Validate(map[string]any{"score": 11.0, "final": true}))
	// Output:
	// {"properties":{"score":{"type":"number","maximum":10,"minimum":0},"final":{"type":"boolean"}},"additionalProperties":false,"type":"object","required":["score","final"]} <nil>
	// [/score: must be <= 10 but found 11]
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got))
}

func TestForIsStable(t *testing.T) {
	text, err := schema.For[verdict]()
	require.NoError(t, err)
	for range 20 {
		again, err := schema.For[verdict]()
		require.NoError(t, err)
		require.Equal(t, string(text), string(again))
	}
	pointer, err := schema.For[*verdict]()
	require.NoError(t, err)
	assert.Equal(t, string(text), string(pointer))
	var b bytes.Buffer
	require.NoError(t, json.Indent(&b, text, "", "  "))
	golden(t, "verdict.json", b.Bytes())
}

type tree struct{ Left, Right *tree }

type forest []forest

type ring struct{ Next map[string][]tree }

type twice struct{ A, B point }

type embeds struct{ point }

func TestForRefuses(t *testing.T) {
	_, err := schema.For[tree]()
	require.EqualError(t, err, "schema of schema_test.tree: schema_test.tree contains itself")
	_, err = schema.For[ring]()
	require.ErrorContains(t, err, "schema_test.tree contains itself")
	_, err = schema.For[[]forest]()
	require.ErrorContains(t, err, "schema_test.forest contains itself")
	_, err = schema.For[struct{ F func() }]()
	require.ErrorContains(t, err, "unsupported type func()")
	_, err = schema.For[twice]()
	require.NoError(t, err, "the same type beside itself is fine")
	text, err := schema.For[embeds]()
	require.NoError(t, err)
	assert.Contains(t, string(text), `"score"`)
}

func compile(t testing.TB, text string) *schema.Schema {
	t.Helper()
	s, err := schema.Compile("test", []byte(text))
	require.NoError(t, err)
	return s
}

func compileVerdict(t testing.TB) *schema.Schema {
	t.Helper()
	text, err := schema.For[verdict]()
	require.NoError(t, err)
	return compile(t, string(text))
}

func TestCompileKeepsTheText(t *testing.T) {
	text := []byte(`{ "type":"integer", "maximum": 5 }`)
	s, err := schema.Compile("a-B_9", text)
	require.NoError(t, err)
	text[3] = 'X'
	assert.Equal(t, []byte(`{ "type":"integer", "maximum": 5 }`), []byte(s.JSON())) //nolint:testifylint // byte for byte
	assert.Equal(t, "a-B_9", s.Name())
}

func TestCompileRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "local.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"type":"string"}`), 0o644))
	for _, c := range []struct{ text, want string }{
		{``, "unexpected end"},
		{`{"type":"string","type":"number"}`, "duplicate key"},
		{`{} {}`, "text after the value"},
		{`7`, "expected object or boolean"},
		{`{"type":"strang"}`, "compilation failed"},
		{`{"pattern":"("}`, "compilation failed"},
		{`{"multipleOf":1e-999999999}`, "compilation failed"},
		{`{"$ref":"#/$defs/none"}`, "not found"},
		{`{"$ref":"https://example.com/schema.json"}`, "a reference to another document"},
		{`{"$ref":"file://` + file + `"}`, "a reference to another document"},
		{`{"$ref":"` + file + `"}`, "a reference to another document"},
		{`{"$ref":"other.json"}`, "a reference to another document"},
		{`{"$id":"file://` + dir + `/x.json","$ref":"local.json"}`, "a reference to another document"},
		{`{"$schema":"https://example.com/draft"}`, "a reference to another document"},
		{`{"$schema":7}`, "schema"},
		{`{"$ref":"#"}`, "infinite loop"},
		{strings.Repeat(`{"not":`, 100) + `{}` + strings.Repeat(`}`, 100), "nested too deep"},
	} {
		s, err := schema.Compile("test", []byte(c.text))
		require.ErrorContains(t, err, c.want, c.text)
		assert.Nil(t, s)
	}
	for _, name := range []string{"", "a b", "ä", "a/b", "../x", strings.Repeat("a", 65)} {
		_, err := schema.Compile(name, []byte(`{}`))
		require.ErrorContains(t, err, "want 1 to 64 letters", name)
	}
}

func TestValidate(t *testing.T) {
	s := compileVerdict(t)
	const good = `{"summary":"s","winner":null,"scores":{"Ada":1},"points":[{"score":1.5,"final":true}]}`
	for _, c := range []struct {
		text string
		want []string
	}{
		{good, nil},
		{strings.Replace(good, `null`, `{"participant":"Ada","reasoning":""}`, 1), nil},
		{strings.Replace(good, `1.5`, `10`, 1), nil},
		{`[` + good + `]`, []string{"(root): expected object, but got array"}},
		{`"x"`, []string{"(root): expected object, but got string"}},
		{`{"points":[]}`, []string{
			"(root): missing properties: 'summary', 'winner', 'scores'",
			"/points: minimum 1 items required, but found 0 items",
		}},
		{strings.Replace(good, `1.5`, `"8"`, 1), []string{"/points/0/score: expected number, but got string"}},
		{strings.Replace(good, `1.5`, `10.5`, 1), []string{"/points/0/score: must be <= 10 but found 10.5"}},
		{strings.Replace(good, `null`, `"Ada"`, 1), []string{"/winner: expected object or null, but got string"}},
		{strings.Replace(good, `null`, `{"participant":"Eve"}`, 1), []string{
			"/winner/participant: value must be one of \"Ada\", \"Ben\"",
			"/winner: missing properties: 'reasoning'",
		}},
		{strings.Replace(good, `"Ada":1`, `"x/y z~":1.5`, 1), []string{"/scores/x~1y z~0: expected integer, but got number"}},
		{strings.Replace(good, `{`, `{"b\u202e":1,"a'\\\"":1,`, 1), []string{
			`(root): properties that are not allowed: 'a'\\\"', 'b\u202e'`,
		}},
		{strings.Replace(good, `{`, `{"e":1,"d":1,"c":1,"g":1,"f":1,"b":1,"a":1,`, 1), []string{
			`(root): properties that are not allowed: 'a', 'b', 'c', 'd', 'e' and 2 more`,
		}},
	} {
		v, err := strictjson.Decode(c.text, strictjson.Limits{})
		require.NoError(t, err)
		for range 10 { // the library walks over maps
			require.ElementsMatch(t, c.want, s.Validate(v), c.text)
			first := s.Validate(v)
			require.Equal(t, first, s.Validate(v))
		}
	}
}

func TestValidateOtherRules(t *testing.T) {
	for _, c := range []struct {
		text  string
		value any
		want  []string
	}{
		{`{"anyOf":[{"minimum":5},{"maximum":1}]}`, 3.0, []string{"(root): must be <= 1 but found 3", "(root): must be >= 5 but found 3"}},
		{`{"oneOf":[{"minimum":1},{"maximum":5}]}`, 3.0, []string{"(root): valid against schemas at indexes 0 and 1"}},
		{`{"allOf":[{"minimum":5},{"minimum":5}]}`, 3.0, []string{"(root): must be >= 5 but found 3"}},
		{`{"$defs":{"a":{"type":"string"}},"properties":{"x":{"$ref":"#/$defs/a"}}}`, map[string]any{"x": 1.0}, []string{"/x: expected string, but got number"}},
		{`{"contains":{"type":"string"}}`, []any{1.0, 2.0}, []string{"(root): items of the wanted kind: valid must be >= 1, but got 0"}},
		{`{"additionalProperties":{"type":"string"}}`, map[string]any{"a": 1.0}, []string{"/a: expected string, but got number"}},
		{`{"properties":{"additionalProperties":false}}`, map[string]any{"additionalProperties": 1.0}, []string{"/additionalProperties: not allowed"}},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","format":"date"}`, "hostile", []string{"(root): not valid 'date'"}},
		{`{"format":"date"}`, "not asserted", nil},
		{`{"properties":{"a":{"properties":{"b":{"$ref":"#"}}}}}`, map[string]any{"a": map[string]any{"b": 1.0}}, nil},
		{`{"type":"number"}`, struct{}{}, []string{"(root): cannot be checked"}},
		{`{"type":"number","minimum":1}`, nan(), []string{"(root): cannot be checked"}},
		{`{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$dynamicRef":"#/$defs/a"}]}}}`, 1.0, nil},
	} {
		s, err := schema.Compile("test", []byte(c.text))
		if err != nil {
			assert.Contains(t, err.Error(), "infinite loop", c.text)
			continue
		}
		assert.Equal(t, c.want, s.Validate(c.value), c.text)
	}
}

func nan() float64 { zero := 0.0; return zero / zero }

// A hostile value may be long, deep and full of mistakes: what is said about it stays short and printable.
func TestProblemsAreShort(t *testing.T) {
	s := compile(t, `{"$defs":{"node":{"type":"object","additionalProperties":{"$ref":"#/$defs/node"}}},
		"properties":{"list":{"items":{"type":"string"}},"tree":{"$ref":"#/$defs/node"},"none":{"additionalProperties":false}}}`)
	long := strings.Repeat("é\x1b[31m", 2000)
	list := make([]any, 3000)
	for i := range list {
		list[i] = 1.0
	}
	var deep any = "leaf"
	for range 40 {
		deep = map[string]any{long: deep}
	}
	problems := s.Validate(map[string]any{"list": list, "tree": deep, "none": map[string]any{long: 1.0}})
	require.Len(t, problems, 21)
	assert.Equal(t, "and 2982 more problems", problems[20])
	for _, v := range []any{map[string]any{"tree": deep}, map[string]any{"none": map[string]any{long: 1.0}}} {
		problems = s.Validate(v)
		require.Len(t, problems, 1)
		assert.Less(t, len(problems[0]), 300)
		for _, r := range problems[0] {
			require.True(t, ' ' <= r && r <= '~', "%q", problems[0])
		}
	}
	s = compile(t, `{"enum":["`+strings.Repeat("é", 500)+`","b"]}`)
	assert.Less(t, len(s.Validate(1.0)[0]), 320)
}

func TestValidateConcurrently(t *testing.T) {
	s := compileVerdict(t)
	v := map[string]any{"points": []any{map[string]any{"score": "8"}}}
	want := s.Validate(v)
	require.NotEmpty(t, want)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 20 {
				assert.Equal(t, want, s.Validate(v))
			}
		})
	}
	wait.Wait()
}

// FuzzCompile checks that no schema and no value panics, loads anything or runs away.
func FuzzCompile(f *testing.F) {
	for _, s := range []string{
		`{"type":"object","properties":{"a":{"type":"string"}}}`, `{"$ref":"#/x","x":{"$ref":"#"}}`, `true`,
		`{"oneOf":[{"type":"null"},{"minimum":3}]}`, `{"pattern":"a+"}`, `{"$schema":"http://json-schema.org/draft-04/schema#","id":"x"}`,
		`{"$anchor":"a","items":{"$ref":"#a"}}`, `{"$dynamicRef":"#"}`, `{"patternProperties":{"[":1}}`,
	} {
		f.Add(s, `{"a":[1,"x",null]}`)
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		s, err := schema.Compile("fuzz", []byte(text))
		if err != nil {
			return
		}
		v, err := strictjson.Decode(value, strictjson.Limits{})
		if err != nil {
			v = value
		}
		first := s.Validate(v)
		require.Equal(t, first, s.Validate(v))
	})
}

func BenchmarkCompile(b *testing.B) {
	text, err := schema.For[verdict]()
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := schema.Compile("verdict", text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFor(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := schema.For[verdict](); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkValidate(b *testing.B) {
	s := compileVerdict(b)
	v, err := strictjson.Decode(`{"summary":"s","winner":{"participant":"Ada","reasoning":"r"},"scores":{"Ada":80,"Ben":70},
		"points":[{"score":1.5,"final":true},{"score":2,"final":false},{"score":9,"final":true}]}`, strictjson.Limits{})
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if problems := s.Validate(v); problems != nil {
			b.Fatal(problems)
		}
	}
}
