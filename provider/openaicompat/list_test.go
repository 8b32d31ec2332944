package openaicompat_test

import (
	"encoding/json"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
)

// peak returns by how much the heap grew at most while f ran.
func peak(f func()) uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before, most := m.HeapAlloc, m.HeapAlloc
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	}()
	f()
	close(stop)
	<-done
	return most - before
}

// TestHostileLists: an answer of many small elements takes about as much memory as it has bytes.
func TestHostileLists(t *testing.T) {
	const size = listSize
	embed := func(n int) func(t *testing.T, answer string) error {
		return func(t *testing.T, answer string) error {
			t.Helper()
			p := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) })
			_, err := p.Embed(t.Context(), "m", make([]string, n))
			return err
		}
	}
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
		"vectors":          {embed(2), `{"data":[`, `{},`, `{}]}`},
		"numbers":          {embed(1), `{"data":[{"embedding":[`, `0,`, `0]}]}`},
		"models":           {check, `{"data":[`, `{},`, `{}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			answer := tt.first + strings.Repeat(tt.part, (size-len(tt.first)-len(tt.last))/len(tt.part)-1) + tt.last
			var err error
			grown := peak(func() { err = tt.act(t, answer) })
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
