package openaicompat_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
)

// TestHostileLists: an answer of many small elements takes about as much memory as it has bytes: four times the answer, what the server
// takes to send it, and garbage.
func TestHostileLists(t *testing.T) {
	size := longform.Or(4<<20, 1<<20) // bytes of an answer
	play := func(t *testing.T, body string) provider.Provider {
		t.Helper()
		p := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
		p.MaxLine = size
		return p
	}
	list := func(first, part, last string) adaptertest.Hostile {
		return adaptertest.Hostile{First: first, Part: part, Last: last, Size: size, Want: provider.KindInvalidResponse}
	}
	adaptertest.TakesLittleMemory(t, 9*size, play, request(), map[string]adaptertest.Hostile{
		"choices":          list(`{"choices":[`, `{},`, `{}]}`),
		"choices in event": list(`data: {"choices":[`, `{},`, "{}]}\n\n"),
		"tool calls":       list(`{"choices":[{"message":{"tool_calls":[`, `{},`, `{}]}}]}`),
		"lists of calls":   list(`{"choices":[`, `{"message":{"tool_calls":[`+strings.Repeat("{},", 127)+`{}]}},`, `{}]}`),
		"a list":           list(`[`, `0,`, `0]`),
		"parts":            list(`{"choices":[{"message":{"content":[`, `{},`, `{}]}}]}`),
		"usage":            list(`{"choices":[],"usage":{"a":0`, `,"a":0`, `}}`),
		"models":           {First: `{"data":[`, Part: `{},`, Last: `{}]}`, Size: size, Check: true},
	})
}

// TestListsOfAnyShape: what stands around, in and between the elements of a list makes no difference.
func TestListsOfAnyShape(t *testing.T) {
	for _, tt := range []struct{ content, want string }{
		{`[ { "type" : "text" , "text" : "a,]}\"" } , {"type":"text","text":"\\"}, {"x":[[1],{"y":[2,"]"]}],"type":"text","text":"b"} ]`, `a,]}"\b`},
		{"[\n{\"type\":\"text\",\"text\":\"a\"}\t,\r\n{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\",\"text\":\"no\"}]}]", "a"},
		{`[{"type":"text","text":"\u005b\""}]`, `["`},
	} {
		answer := `{"choices":[` + "\n" + `{"index":0,"message":{"content":` + tt.content + `},"finish_reason":"stop"} , {"index":1,"message":{"content":"other"}}]}`
		require.True(t, json.Valid([]byte(answer)))
		p := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) })
		r, _, err := ask(t, p, request())
		require.NoError(t, err, tt.content)
		assert.Equal(t, tt.want, r.Text)
	}
	for _, choices := range []string{`7`, `"x"`, `{}`, `[7]`, `[[]]`, `[{"message":{"tool_calls":{}}}]`, `[{"message":{"content":[7]}}]`} {
		p := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"choices":`+choices+`}`) })
		_, _, err := ask(t, p, request())
		assert.Equal(t, "malformed", failure(t, err, provider.KindInvalidResponse).Code, choices)
	}
}
