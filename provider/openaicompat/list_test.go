package openaicompat_test

import (
	"encoding/json"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
)

// allocated returns how many bytes are allocated while f runs, those that are freed meanwhile included.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestHostileLists: an answer of many small elements takes about as much memory as it has bytes.
func TestHostileLists(t *testing.T) {
	longform.Lone(t)
	size := longform.Or(4<<20, 1<<20) // bytes of an answer
	generate := func(t *testing.T, answer string) error {
		t.Helper()
		p := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) })
		p.MaxLine = size
		_, _, err := ask(t, p, request())
		return err
	}
	check := func(t *testing.T, answer string) error {
		t.Helper()
		p := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) })
		require.NoError(t, p.Check(t.Context(), "m"))
		return nil
	}
	for name, tt := range map[string]struct {
		act               func(t *testing.T, answer string) error
		first, part, last string
	}{
		"choices":          {generate, `{"choices":[`, `{},`, `{}]}`},
		"choices in event": {generate, `data: {"choices":[`, `{},`, "{}]}\n\n"},
		"tool calls":       {generate, `{"choices":[{"message":{"tool_calls":[`, `{},`, `{}]}}]}`},
		"lists of calls":   {generate, `{"choices":[`, `{"message":{"tool_calls":[` + strings.Repeat("{},", 127) + `{}]}},`, `{}]}`},
		"a list":           {generate, `[`, `0,`, `0]`},
		"parts":            {generate, `{"choices":[{"message":{"content":[`, `{},`, `{}]}}]}`},
		"usage":            {generate, `{"choices":[],"usage":{"a":0`, `,"a":0`, `}}`},
		"models":           {check, `{"data":[`, `{},`, `{}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			answer := tt.first + strings.Repeat(tt.part, (size-len(tt.first)-len(tt.last))/len(tt.part)-1) + tt.last
			var err error
			grown := allocated(func() { err = tt.act(t, answer) })
			t.Log(grown>>20, "MiB")
			if name != "models" {
				failure(t, err, provider.KindInvalidResponse)
			}
			assert.Less(t, grown, uint64(9*size), "four times the answer, what the server takes to send it, and garbage")
		})
	}
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
