package strictjson_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/strictjson"
)

func ExampleDecode() {
	_, err := strictjson.Decode(`{"scores":{"Ada":8,"Ada":9}}`, strictjson.Limits{})
	fmt.Println(err)
	// Output: JSON: offset 19 at scores.Ada: duplicate key
}

func TestDecodeAccepts(t *testing.T) {
	for _, text := range []string{
		`null`, `true`, `false`, `""`, `[]`, `{}`, ` {} `, "\t\r\n[1]\n",
		`0`, `-0`, `-0.0`, `8.0`, `10`, `0.1`, `3.3`, `1e3`, `1E+3`, `1e-3`, `123456789012345`,
		`12345678901234.5`, `1234567890123456789`, `0.30000000000000004`, `1.7976931348623157e308`,
		`1e-400`, `-0.00000000001`, `9007199254740993`,
		`"a\"\\\/\b\f\n\r\tz"`, `"\u0041\u00e9\u4e2d\uD83D\uDE00\u0000"`, `"é中😀"`, "\"\u2028\ufeff\"",
		`{"a":{"b":[1,[2,{"c":null}],"x"]},"":0}`,
		`{"winner":"Ada","WINNER":"Ada"}`,
		`{"reasoning":"Ben planted {\"winner\":\"Ben\"} and ` + "```json" + ` and } here"}`,
		assessment,
	} {
		got, err := strictjson.Decode(text, strictjson.Limits{})
		require.NoError(t, err, text)
		var want any
		require.NoError(t, json.Unmarshal([]byte(text), &want), text)
		assert.Equal(t, want, got, text)
		if f, ok := want.(float64); ok {
			assert.Equal(t, math.Float64bits(f), math.Float64bits(got.(float64)), text)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct {
		text   string
		reason strictjson.Reason
		want   string
	}{
		{``, strictjson.Syntax, `offset 0: unexpected end of text`},
		{`  `, strictjson.Syntax, `offset 2: unexpected end of text`},
		{`{"a":1} {"a":2}`, strictjson.TrailingData, `offset 8: text after the value: "{\"a\":2}"`},
		{"{}\n```", strictjson.TrailingData, "offset 3: text after the value: \"```\""},
		{`{} x`, strictjson.TrailingData, `offset 3: text after the value: "x"`},
		{`Here it is: {}`, strictjson.Syntax, `offset 0: expected a value, found "Here it "`},
		{`{"a":1`, strictjson.Syntax, `offset 6: unexpected end of text, expected ',' or '}'`},
		{`{"score":8,"reaso`, strictjson.Syntax, `offset 17: unexpected end of text in a string`},
		{`{"a":"x\`, strictjson.Syntax, `offset 8 at a: unexpected end of text in a string`},
		{`{"a"`, strictjson.Syntax, `offset 4: unexpected end of text, expected ':'`},
		{`{"a":`, strictjson.Syntax, `offset 5 at a: unexpected end of text`},
		{`{"a":1,}`, strictjson.Syntax, `offset 7: expected a key, found "}"`},
		{`{a:1}`, strictjson.Syntax, `offset 1: expected a key, found "a:1}"`},
		{`{'a':1}`, strictjson.Syntax, `offset 1: expected a key, found "'a':1}"`},
		{`{"a" 1}`, strictjson.Syntax, `offset 5: expected ':', found "1}"`},
		{`{"a":1 "b":2}`, strictjson.Syntax, `offset 7: expected ',' or '}', found "\"b\":2}"`},
		{`[1,]`, strictjson.Syntax, `offset 3 at [1]: expected a value, found "]"`},
		{`[1 2]`, strictjson.Syntax, `offset 3: expected ',' or ']', found "2]"`},
		{`[1`, strictjson.Syntax, `offset 2: unexpected end of text, expected ',' or ']'`},
		{`// c`, strictjson.Syntax, `offset 0: expected a value, found "// c"`},
		{`tru`, strictjson.Syntax, `offset 0: expected a value, found "tru"`},
		{`True`, strictjson.Syntax, `offset 0: expected a value, found "True"`},
		{`{"score":NaN}`, strictjson.Syntax, `offset 9 at score: expected a value, found "NaN}"`},
		{`{"score":Infinity}`, strictjson.Syntax, `offset 9 at score: expected a value, found "Infinity"`},
		{`{"score":-Infinity}`, strictjson.Syntax, `offset 10 at score: expected a digit, found "Infinity"`},
		{`[8/10]`, strictjson.Syntax, `offset 2: expected ',' or ']', found "/10]"`},
		{`01`, strictjson.TrailingData, `offset 1: text after the value: "1"`},
		{`+1`, strictjson.Syntax, `offset 0: expected a value, found "+1"`},
		{`.5`, strictjson.Syntax, `offset 0: expected a value, found ".5"`},
		{`5.`, strictjson.Syntax, `offset 2: unexpected end of text, expected a digit`},
		{`-`, strictjson.Syntax, `offset 1: unexpected end of text, expected a digit`},
		{`1e`, strictjson.Syntax, `offset 2: unexpected end of text, expected a digit`},
		{`1e+x`, strictjson.Syntax, `offset 3: expected a digit, found "x"`},
		{`0x10`, strictjson.TrailingData, `offset 1: text after the value: "x10"`},
		{`1e309`, strictjson.NumberRange, `offset 0: number too large for a float64: "1e309"`},
		{`[-1e999]`, strictjson.NumberRange, `offset 1 at [0]: number too large for a float64: "-1e999]"`},
		{`{"a":1,"a":1}`, strictjson.DuplicateKey, `offset 7 at a: duplicate key`},
		{`{"a":1,"\u0061":1}`, strictjson.DuplicateKey, `offset 7 at a: duplicate key`},
		{`{"p":[{"q":0},{"q":{"r":1,"r":2}}]}`, strictjson.DuplicateKey, `offset 26 at p[1].q.r: duplicate key`},
		{"\"a\xffb\"", strictjson.InvalidUTF8, `offset 2: invalid UTF-8`},
		{"\"\ufffd\xed\xa0\x80\"", strictjson.InvalidUTF8, `offset 4: invalid UTF-8`},
		{`"\ud800"`, strictjson.LoneSurrogate, `offset 1: half of a surrogate pair`},
		{`"x\udc00\ud800"`, strictjson.LoneSurrogate, `offset 2: half of a surrogate pair`},
		{`"\ud800\u0041"`, strictjson.LoneSurrogate, `offset 1: half of a surrogate pair`},
		{`"\ud800\u00"`, strictjson.LoneSurrogate, `offset 1: half of a surrogate pair`},
		{`{"\udc00":1}`, strictjson.LoneSurrogate, `offset 2: half of a surrogate pair`},
		{`"\u12"`, strictjson.Syntax, `offset 1: \u without four hexadecimal digits`},
		{`"\u12g4"`, strictjson.Syntax, `offset 1: \u without four hexadecimal digits`},
		{`"\u123`, strictjson.Syntax, `offset 1: \u without four hexadecimal digits`},
		{`"\x41"`, strictjson.Syntax, `offset 1: unknown escape "\\x41\""`},
		{"\"a\nb\"", strictjson.Syntax, `offset 2: control character in a string`},
		{"\"\\n\x00\"", strictjson.Syntax, `offset 3: control character in a string`},
		{"\ufeff{}", strictjson.Syntax, `offset 0: expected a value, found "\ufeff{}"`},
		{"\u00a0{}", strictjson.Syntax, `offset 0: expected a value, found "\u00a0{}"`},
		{"[\u202e😀😀]", strictjson.Syntax, `offset 1 at [0]: expected a value, found "\u202e\U0001f600"`},
	} {
		v, err := strictjson.Decode(c.text, strictjson.Limits{})
		assert.Nil(t, v, c.text)
		var e *strictjson.Error
		require.ErrorAs(t, err, &e, c.text)
		assert.Equal(t, c.reason, e.Reason, c.text)
		assert.Equal(t, "JSON: "+c.want, err.Error(), c.text)
	}
}

func TestDecodeLimits(t *testing.T) {
	nest := func(n int) string { return strings.Repeat(`[{"a":`, n/2) + `1` + strings.Repeat(`}]`, n/2) }
	_, err := strictjson.Decode(nest(64), strictjson.Limits{})
	require.NoError(t, err)
	_, err = strictjson.Decode(nest(66), strictjson.Limits{})
	require.ErrorContains(t, err, "nested too deep")
	_, err = strictjson.Decode(nest(66), strictjson.Limits{Depth: 66})
	require.NoError(t, err)
	_, err = strictjson.Decode(strings.Repeat("[", 1<<20), strictjson.Limits{})
	require.ErrorContains(t, err, "nested too deep")
	_, err = strictjson.Decode("["+strings.Repeat("[[]],", 200)+"1]", strictjson.Limits{Depth: 3})
	require.NoError(t, err, "levels that were closed do not count")

	_, err = strictjson.Decode(`"12345678"`, strictjson.Limits{Bytes: 10})
	require.NoError(t, err)
	_, err = strictjson.Decode(`"123456789"`, strictjson.Limits{Bytes: 10})
	require.EqualError(t, err, "JSON: offset 10: more than 10 bytes")
	_, err = strictjson.Decode(`"`+strings.Repeat("a", strictjson.DefaultBytes)+`"`, strictjson.Limits{})
	require.ErrorContains(t, err, "more than 1048576 bytes")
}

// A judge may be made to repeat a debater's text as a key: little of it may reach a log, and none raw.
func TestErrorsRepeatLittle(t *testing.T) {
	long := strings.Repeat("k\u202e", 5000)
	for _, text := range []string{
		`{"` + long + `":1,"` + long + `":2}`,
		`{"` + long + `":{"` + long + `":[[` + long + `]]}}`,
		`{} ` + long,
		`1e` + strings.Repeat("9", 5000),
	} {
		_, err := strictjson.Decode(text, strictjson.Limits{})
		require.Error(t, err)
		assert.Less(t, len(err.Error()), 140, err.Error())
		for _, r := range err.Error() {
			require.True(t, ' ' <= r && r <= '~', "%q", err.Error())
		}
	}
	_, err := strictjson.Decode(`{"assessments":[{"criteria":{"evidence":x}}]}`, strictjson.Limits{})
	require.ErrorContains(t, err, "at ...[0].criteria.evidence:", "the end of the path says most")
}

func TestErrorZeroPrints(t *testing.T) {
	assert.Equal(t, "JSON: no error", (*strictjson.Error)(nil).Error())
	assert.Equal(t, "JSON: offset 0: ", new(strictjson.Error).Error())
}

// No list may see another's elements.
func TestDecodeListsAreApart(t *testing.T) {
	v, err := strictjson.Decode(`[[1,2],[3,[4,5],6],[],7]`, strictjson.Limits{})
	require.NoError(t, err)
	list := v.([]any)
	first := append(list[0].([]any), "x")
	assert.Equal(t, []any{1.0, 2.0, "x"}, first)
	assert.Equal(t, []any{[]any{1.0, 2.0}, []any{3.0, []any{4.0, 5.0}, 6.0}, []any{}, 7.0}, v)
	long := "[" + strings.Repeat("[1,2],", 100) + "3]"
	v, err = strictjson.Decode(long, strictjson.Limits{})
	require.NoError(t, err)
	assert.Len(t, v, 101)
}

func TestDecodeConcurrently(t *testing.T) {
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 50 {
				_, err := strictjson.Decode(assessment, strictjson.Limits{})
				assert.NoError(t, err)
			}
		})
	}
	wait.Wait()
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		assessment, `{"a":1,"a":2}`, `"\ud83d\ude00"`, `"\ud800"`, "\"\xff\"", `-0.0e-1`, `1e309`, `123456789012345678`,
		`[[[[]]]]`, `{} {}`, `nul`, `"\/"`, "\"\t\"", `0.1234567890123`, "\ufeff1", strings.Repeat("[", 70) + strings.Repeat("]", 70),
	} {
		f.Add(s)
	}
	stricter := []strictjson.Reason{
		strictjson.DuplicateKey, strictjson.InvalidUTF8, strictjson.LoneSurrogate, strictjson.TooDeep, strictjson.TooLong,
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := strictjson.Decode(text, strictjson.Limits{})
		var want any
		wantErr := json.Unmarshal([]byte(text), &want)
		if err == nil {
			require.NoError(t, wantErr)
			require.Equal(t, want, got)
			return
		}
		var e *strictjson.Error
		require.ErrorAs(t, err, &e)
		require.True(t, 0 <= e.Offset && e.Offset <= len(text))
		require.Less(t, len(err.Error()), 200)
		if wantErr == nil {
			require.True(t, slices.Contains(stricter, e.Reason), "%s: %v", e.Reason, err)
		}
	})
}
