package strictjson_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/strictjson"
)

func ExampleUnwrap() {
	body, err := strictjson.Unwrap("<think>Ada was better.</think>\n```json\n{\"winner\":\"Ada\"}\n```\n")
	fmt.Println(body, err)
	// Output: {"winner":"Ada"} <nil>
}

const object = `{"a":1}`

func TestUnwrapTakesOff(t *testing.T) {
	for _, text := range []string{
		object, " \r\n\t" + object + "\n\n", "\ufeff" + object, "\ufeff\n " + object,
		"```json\n" + object + "\n```", "```JSON\n" + object + "\n```", "```Json \n" + object + "\n```  \n",
		"```\n" + object + "\n```", "``` json\n\n" + object + "\n\n```", "```json\r\n" + object + "\r\n```\r\n",
		"````json\n" + object + "\n````", "```json\n" + object + "\n`````", "~~~json\n" + object + "\n~~~",
		"```json\n" + object + "\n  ```", "\ufeff\n```json\n" + object + "\n```",
		"<think></think>" + object, "<think>\nHm. {\"a\":2} ```\n</think>\n\n" + object,
		"\ufeff <think>x</think> ```json\n" + object + "\n``` ",
		"```json\n" + object + "```", "```json " + object + "```", "```" + object + "```", "```json" + object + "\n```",
		"```jsonc\n" + object + "\n```", "~~~json\n" + object + "~~~~", "```json\n" + object + "```\n",
		"<thinking>a</thinking>" + object, "<thinking>it is <think></thinking>\n" + object,
		"<think>a</think><think>b</think>" + object, "<think>a</think>\n<thinking>b</thinking>\n```json\n" + object + "\n```",
		"<THINK>a</Think>" + object, "<seed:think>a</seed:think>" + object, "[THINK]a[/THINK]" + object, "◁think▷a◁/think▷" + object,
		"<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>" + object,
		"<|channel|>final<|message|>" + object, "<mm:think>a</mm:think>" + object, "</mm:think>" + object,
		object + object, object + "\n\n" + object, "```json\n" + object + "\n```\n```json\n" + object + "\n```", "```json\n" + object + "\n" + object + "\n```",
		"<think>twice</think>" + object + " " + object, "```\n" + object + "\n```\n\n```\n" + object + "\n```\n",
		"a</think>" + object, "</think>\n" + object, "Hm. {\"a\":2}\n</thinking>\n```json\n" + object + "\n```",
	} {
		got, err := strictjson.Unwrap(text)
		require.NoError(t, err, "%q", text)
		assert.Equal(t, object, got, "%q", text)
	}
}

func TestUnwrapRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"<think>x " + object:                     "offset 16: <think> is not closed",
		"<think>":                                "offset 7: <think> is not closed",
		"<thinking>x</think>" + object:           "offset 26: <thinking> is not closed",
		"<think>x</think><think>" + object:       "offset 30: <think> is not closed",
		"```python\n" + object + "\n```":         "offset 3: a fence that does not say json",
		" \n```json5\n" + object + "\n```":       "offset 5: a fence that does not say json",
		"```json\n" + object:                     "offset 15: the fence is not closed",
		"```json\n" + object + "\n``":            "offset 18: the fence is not closed",
		"````json\n" + object + "\n```":          "offset 20: the fence is not closed",
		"```json\n" + object + "\n~~~":           "offset 19: the fence is not closed",
		"```json\n" + object + "\n``` that's it": "offset 29: the fence is not closed",
		"```":                                    "offset 3: the fence is not closed",
		"```json":                                "offset 7: the fence is not closed",
		"<mm:think>x</think>" + object:           "offset 26: <mm:think> is not closed",
		"<think>a</think>```json\n" + object:     "offset 31: the fence is not closed",
	} {
		got, err := strictjson.Unwrap(text)
		var e *strictjson.Error
		require.ErrorAs(t, err, &e, "%q", text)
		assert.Empty(t, got)
		assert.Equal(t, strictjson.Wrapping, e.Reason)
		assert.Equal(t, "JSON: "+want, err.Error(), "%q", text)
	}
}

// What is left after unwrapping must not become JSON by what was taken off.
func TestUnwrapLeavesToDecode(t *testing.T) {
	for name, text := range map[string]string{
		"empty":                    "",
		"only thinking":            "<think>" + object + "</think>",
		"two objects":              object + "\n" + `{"a":2}`,
		"two with other blanks":    object + "\n" + `{"a": 1}`,
		"three objects":            object + object + object,
		"a word between them":      object + " or " + object,
		"half an object twice":     `{"a":{"a":`,
		"a draft and a final one":  "```json\n" + object + "\n```\nOn reflection:\n```json\n" + object + "\n```",
		"two fences":               "```json\n" + object + "\n```\n```json\n" + `{"a":2}` + "\n```",
		"words before":             "Here it is:\n" + object,
		"words after":              object + "\nDone.",
		"a fence in a fence":       "````\n```json\n" + object + "\n```\n````",
		"a fence with no content":  "```json\n```",
		"truncated":                `{"a":1,"b":`,
		"truncated in a fence":     "```json\n{\"a\":\n```",
		"a thought in a thought":   "<think>a <think>b</think> c</think>" + object,
		"a quoted end of thinking": "<think>he wrote </think>{\"a\":2} but </think>" + object,
		"a thought after":          object + "<think>a</think>",
		"an end after a thought":   "<think>a</think> b</think>" + object,
		"an end behind JSON":       "{\"a\":2}</think>" + object,
		"comments":                 "```jsonc\n{\"a\":1} // one\n```",
		"words in a fence":         "```json for you:\n" + object + "\n```",
		"a thought in the fence":   "```json\n<think>a</think>" + object + "\n```",
		"marks in lower case":      "[think]a[/think]" + object,
		"a late mark":              " \ufeff" + object,
		"a mark in the fence":      "```json\n\ufeff" + object + "\n```",
		"two marks":                "\ufeff\ufeff" + object,
		"wide white space":         "\u00a0" + object,
		"backticks around":         "`" + object + "`",
		"two backticks around":     "``" + object + "``",
	} {
		body, err := strictjson.Unwrap(text)
		require.NoError(t, err, name)
		_, err = strictjson.Decode(body, strictjson.Limits{})
		assert.Error(t, err, name)
	}
}

// These are JSON, and not an object: that is for the schema to refuse.
func TestUnwrapThenDecodeKeepsTheShape(t *testing.T) {
	for text, want := range map[string]any{
		"[" + object + "]":              []any{map[string]any{"a": 1.0}},
		`"{\"a\":1}"`:                   object,
		`{"a":"8"}`:                     map[string]any{"a": "8"},
		`{"a":"</think>"}`:              map[string]any{"a": "</think>"},
		"11":                            11.0,
		`"aa"`:                          "aa",
		"[[],[]]":                       []any{[]any{}, []any{}},
		`{"a":"{","b":"{"}`:             map[string]any{"a": "{", "b": "{"},
		"```json\n{\"a\":\"```\"}\n```": map[string]any{"a": "```"},
	} {
		body, err := strictjson.Unwrap(text)
		require.NoError(t, err)
		got, err := strictjson.Decode(body, strictjson.Limits{})
		require.NoError(t, err, text)
		assert.Equal(t, want, got)
	}
}

func FuzzUnwrap(f *testing.F) {
	for _, s := range []string{
		object, "```json\n{}\n```", "<think>a</think>{}", "\ufeff```\n{}\n````", "~~~\n~~~", "```", "<think>",
		"\xff```json\n\xff\n```",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		body, err := strictjson.Unwrap(text)
		if err != nil {
			require.Empty(t, body)
			return
		}
		require.Contains(t, text, body, "nothing is made up")
		// Whatever is JSON by itself is not touched, and survives every wrapping.
		if _, err := strictjson.Decode(text, strictjson.Limits{}); err != nil {
			return
		}
		bare := strings.Trim(text, " \t\r\n")
		require.Equal(t, bare, body)
		for _, think := range []string{"", "<think>```json {</think>\n"} {
			for _, fence := range [][2]string{{"", ""}, {"```json\n", "\n```"}, {"~~~\r\n", "\r\n~~~~\n"}} {
				got, err := strictjson.Unwrap("\ufeff" + think + fence[0] + bare + fence[1])
				require.NoError(t, err)
				require.Equal(t, bare, got)
			}
		}
	})
}
