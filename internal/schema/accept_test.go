package schema_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/schema"
	"github.com/agonist-dev/debate/internal/strictjson"
)

// assessed has the rules against which the assessments of a debate are checked.
type assessed struct {
	Assessments []struct {
		Participant string             `json:"participant"`
		Strengths   []string           `json:"strengths"`
		Weaknesses  []string           `json:"weaknesses"`
		Score       float64            `json:"score,omitempty" jsonschema:"minimum=0,maximum=10"`
		Criteria    map[string]float64 `json:"criteria,omitempty"`
	} `json:"assessments"`
	Reasoning string `json:"reasoning"`
	Ending    string `json:"ending,omitempty"`
	Flags     struct {
		Repetitive         bool `json:"repetitive"`
		Drifting           bool `json:"drifting"`
		DiminishingReturns bool `json:"diminishingReturns,omitempty"`
		ConvergenceReached bool `json:"convergenceReached,omitempty"`
	} `json:"flags"`
	QualityScore    float64 `json:"qualityScore" jsonschema:"minimum=0,maximum=10"`
	ShouldContinue  bool    `json:"shouldContinue"`
	Recommendations string  `json:"recommendations,omitempty"`
}

// common are schemas of common rules: those of Go types, those that models are sent, and small ones. Each has a value that matches.
func common(t testing.TB) map[string]string {
	t.Helper()
	texts := map[string]string{
		`{"type":["integer","null"],"minimum":0,"maximum":10}`:                                     `5`,
		`{"type":"string","minLength":1,"maxLength":3,"title":"a","description":"b"}`:              `"日本語"`,
		`{"type":"array","items":{"enum":["a","b"]},"minItems":1,"maxItems":3}`:                    `["a","b"]`,
		`{"additionalProperties":{"type":"array","items":{"type":"string"}},"required":["k"]}`:     `{"k":["v"],"l":[]}`,
		`{"properties":{"a":true,"b":false,"c":{"items":{"type":"number","minimum":-1}}}}`:         `{"a":[null],"c":[-1,0.5],"d":1}`,
		`{"oneOf":[{"type":"integer","maximum":3},{"type":["string","null"]},{"type":"boolean"}]}`: `3`,
		`{"anyOf":[{"type":"number","minimum":1},{"type":"integer","maximum":9},{"type":"object","required":["a"],"additionalProperties":false,
			"properties":{"a":{"anyOf":[{"enum":["Ada"]},{"type":"array"}]}}}],"oneOf":[{"type":"number"},{"type":"object"}]}`: `{"a":"Ada"}`,
	}
	of := func(text []byte, err error) string {
		require.NoError(t, err)
		return string(text)
	}
	texts[of(schema.For[verdict]())] = `{"summary":"s","winner":{"participant":"Ada","reasoning":""},"scores":{"Ada":1},"points":[{"score":10,"final":true}]}`
	texts[of(schema.For[assessed]())] = `{"assessments":[{"participant":"Ada","strengths":["a"],"weaknesses":[],"score":7.5}],"reasoning":"r",
		"flags":{"repetitive":false,"drifting":true},"qualityScore":7,"shouldContinue":true}`
	sent := filepath.Join("..", "..", "prompt", "testdata", "fields")
	texts[of(os.ReadFile(filepath.Join(sent, "assess.json")))] = `{"assessments":[{"participant":"Ada","strengths":["a","b"],"weaknesses":[],
		"criteria":{"logical consistency":1,"evidence quality":2,"engagement":3,"novelty":4.5,"persuasiveness":5,"relevance":6}}],"reasoning":"r","ending":"",
		"flags":{"repetitive":false,"drifting":true,"diminishingReturns":false,"convergenceReached":true},"qualityScore":7.5,"shouldContinue":true}`
	texts[of(os.ReadFile(filepath.Join(sent, "verdict.json")))] = `{"summary":"s","keyPoints":[{"participant":"Ben","mainArguments":["a"]}],
		"areasOfAgreement":[],"areasOfDisagreement":["a"],"scores":{"Ada":70,"Ben":80},"winner":{"reasoning":"r","participant":"Ben"},"qualityScore":75,"insights":[],
		"criteria":{"logical consistency":"a","evidence quality":"b","engagement":"c","novelty":"d","persuasiveness":"e","relevance":"f"}}`
	return texts
}

func decoded(t testing.TB, text string) any {
	t.Helper()
	v, err := strictjson.Decode(text, strictjson.Limits{})
	require.NoError(t, err, text)
	return v
}

// TestWhatIsAcceptedTheValidatorAccepts, and the other way round: a change of a value that one of them notices, the other does too.
func TestWhatIsAcceptedTheValidatorAccepts(t *testing.T) {
	for text, value := range common(t) {
		s, dice, tree := compile(t, text), rand.New(rand.NewPCG(1, 2)), decoded(t, value)
		require.True(t, s.HasAcceptor(), text)
		require.True(t, s.Accepts(tree), text)
		good, bad := 0, 0
		for range 4000 / longform.Fewer() {
			v := changed(dice, tree, 4<<dice.IntN(5))
			problems := s.Problems(v)
			require.Equal(t, problems == nil, s.Accepts(v), "%v: %v under %s", v, problems, text)
			require.Equal(t, problems, s.Validate(v))
			if problems == nil {
				good++
			} else {
				bad++
			}
		}
		assert.Greater(t, good, 10, text)
		assert.Greater(t, bad, 10, text)
	}
}

// changed returns a copy of a decoded value in which one of so many things is another one, missing, renamed, or doubled.
func changed(dice *rand.Rand, v any, one int) any {
	if dice.IntN(one) == 0 {
		others := []any{
			nil, true, 0.0, 1.0, 0.5, -1.0, 3.0, 10.0, 11.0, 1e300, math.Copysign(0, -1), math.Nextafter(10, 11), math.Nextafter(0, -1), math.Nextafter(3, 0),
			"", "a", "Ada", "日本語", "日本語 ",
			[]any{},
			[]any{"a"},
			[]any{nil},
			map[string]any{},
			map[string]any{"a": "Ada"},
			map[string]any{"k": []any{}},
		}
		return others[dice.IntN(len(others))]
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			switch dice.IntN(one) {
			case 0:
			case 1:
				out[name+"x"] = v[name]
			default:
				out[name] = changed(dice, v[name], one)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			out = append(out, changed(dice, item, one))
		}
		if dice.IntN(one) == 0 {
			out = append(out, out...)
		}
		return out
	}
	return v
}

// TestAnswersOfTheCorpus: what is taken from judges needs no validator, and nothing else passes it by.
func TestAnswersOfTheCorpus(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "judge", "*", "*.txt"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	taken := 0
	for text := range common(t) {
		s := compile(t, text)
		for _, file := range files {
			answer, err := os.ReadFile(file)
			require.NoError(t, err)
			body, err := strictjson.Unwrap(string(answer))
			if err != nil {
				continue
			}
			v, err := strictjson.Decode(body, strictjson.Limits{})
			if err != nil {
				continue
			}
			require.Equal(t, s.Problems(v) == nil, s.Accepts(v), "%s under %s", file, text)
			if s.Accepts(v) && strings.Contains(file, filepath.Join("accept", "assessment-")) {
				taken++
			}
		}
	}
	assert.Greater(t, taken, 80)
}

// TestRulesThatOnlyTheValidatorKnows: a schema that has one of them anywhere has no acceptor.
func TestRulesThatOnlyTheValidatorKnows(t *testing.T) {
	for _, rule := range []string{
		`"pattern":"a"`, `"format":"date"`, `"const":1`, `"enum":[1,"a"]`, `"enum":["a",null]`, `"not":{}`, `"allOf":[{}]`, `"if":{}`, `"then":{}`, `"else":{}`,
		`"minProperties":1`, `"maxProperties":1`, `"propertyNames":{}`, `"patternProperties":{}`, `"dependentRequired":{}`, `"dependentSchemas":{}`,
		`"unevaluatedProperties":false`, `"unevaluatedItems":false`, `"uniqueItems":true`, `"prefixItems":[{}]`, `"contains":{}`, `"minContains":0`,
		`"exclusiveMinimum":1`, `"exclusiveMaximum":1`, `"multipleOf":2`, `"contentEncoding":"base64"`, `"contentMediaType":"application/json"`,
		`"$ref":"#/$defs/a","$defs":{"a":{}}`, `"$dynamicRef":"#"`, `"$id":"x"`, `"$anchor":"x"`, `"$comment":""`, `"default":1`, `"something":"new"`,
		`"minimum":0.5`, `"maximum":9007199254740992`, `"maxItems":1e300`, `"maxLength":9007199254740992`,
		`"oneOf":[{"type":"number"},{"type":"integer"}]`, `"oneOf":[{"type":"string"},{}]`, `"oneOf":[{"minimum":1},{"maximum":0}]`,
	} {
		for _, around := range []string{
			`{%}`, `{"properties":{"a":{%}}}`, `{"items":{%}}`, `{"additionalProperties":{%}}`, `{"anyOf":[{"type":"null"},{%}]}`,
			`{"oneOf":[{"type":"null"},{"type":"array",%}]}`, `{"items":{"properties":{"a":{"items":{%}}}}}`,
		} {
			text := strings.Replace(around, "%", rule, 1)
			if s, err := schema.Compile("test", []byte(text)); err == nil { // a reference from within points nowhere
				assert.False(t, s.HasAcceptor(), text)
			}
		}
	}
	assert.False(t, compile(t, `{"$schema":"http://json-schema.org/draft-07/schema#","type":"string"}`).HasAcceptor())
	assert.True(t, compile(t, `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"string"}`).HasAcceptor())
	assert.True(t, compile(t, `true`).HasAcceptor())
}

// TestNoDecoderMakesIt: of values that are not decoded JSON the validator decides.
func TestNoDecoderMakesIt(t *testing.T) {
	s := compile(t, `{"items":{"type":["number","string","object"]}}`)
	for _, v := range []any{math.NaN(), math.Inf(1), 1, int64(1), float32(1), struct{}{}, []string{"a"}, map[string]string{}} {
		assert.False(t, s.Accepts([]any{v}), "%#v", v)
		assert.Equal(t, s.Problems([]any{v}), s.Validate([]any{v}), "%#v", v)
	}
}

func TestAcceptingTakesNoMemory(t *testing.T) {
	for text, value := range common(t) {
		s, tree := compile(t, text), decoded(t, value)
		assert.Zero(t, testing.AllocsPerRun(10, func() { s.Validate(tree) }), text)
	}
}

// FuzzAccepted: whatever the schema and the value, the validator refuses nothing that is accepted.
func FuzzAccepted(f *testing.F) {
	for text, value := range common(f) {
		f.Add(text, value)
	}
	f.Add(`{"oneOf":[{"type":"array","items":{"type":"integer"}},{"type":"array"},{"type":"null"}]}`, `[1,2.5]`)
	f.Add(`{"properties":{"a/b~c%41":{"type":"string"},"$ref":{"enum":[]}},"required":["$ref"]}`, `{"a/b~c%41":"","$ref":""}`)
	f.Fuzz(func(t *testing.T, text, value string) {
		s, err := schema.Compile("fuzz", []byte(text))
		if err != nil {
			return
		}
		v, err := strictjson.Decode(value, strictjson.Limits{})
		if err == nil && s.Accepts(v) {
			require.Empty(t, s.Problems(v))
		}
	})
}
