package strictjson_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/internal/strictjson"
)

// read reads the field in pieces of this many bytes.
func readField(name, text string, size int) string {
	f := strictjson.NewField(name)
	var out strings.Builder
	for len(text) > 0 {
		n := min(size, len(text))
		out.WriteString(f.Next(text[:n]))
		text = text[n:]
	}
	return out.String()
}

func TestFieldIsReadAsItArrives(t *testing.T) {
	for text, want := range map[string]string{
		`{"output":"a b"}`: "a b",
		"```json\n{ \"success\" : true , \"output\" : \"a\\nb\\t\\\"\\\\\\/\" }\n```":             "a\nb\t\"\\/",
		`{"inner":{"output":"not this"},"list":["output",{"output":"nor this"}],"output":"this"}`: "this",
		`{"other":"output","output":"ü→🙂"}`:                                                       "ü→🙂",
		`{"output":"\u00fc\u2192\ud83d\ude42 \ud83d x"}`:                                          "ü→🙂 � x",
		`{"output":"\udE42\uzzzz"}`:                                                               "��",
		`{"out\u0070ut":"named by an escape"}`:                                                    "named by an escape",
		`{"output":7,"x":"no text"}`:                                                              "",
		`{"output":"first","output":"second"}`:                                                    "first",
		`{"output":{"output":"deeper"},"x":"y"}`:                                                  "",
		`{"output":"it was cut`:                                                                   "it was cut",
		`output`:                                                                                  "",
		`}}}{"output":"no JSON"}`:                                                                 "",
		`{"outputs":"longer","outpu":"shorter","x":["a"]}`:                                        "",
	} {
		for size := 1; size <= len(text)+1; size++ {
			assert.Equal(t, want, readField("output", text, size), "%s in pieces of %d", text, size)
		}
	}
}

func FuzzField(f *testing.F) {
	f.Add("a\\n\"\u2192🙂", 3)
	f.Add("\xff\xf0\x9f", 1)
	f.Fuzz(func(t *testing.T, value string, size int) {
		data, err := json.Marshal(map[string]any{"a": []any{value, 1}, "output": value, "z": value})
		if err != nil {
			return
		}
		var want struct{ Output string }
		assert.NoError(t, json.Unmarshal(data, &want))
		assert.Equal(t, want.Output, readField("output", string(data), max(1, size&0xff)))
		_ = readField("output", value, max(1, size&0xff)) // whatever it is, it does not panic
	})
}
