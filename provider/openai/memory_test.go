package openai_test

import (
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openai"
)

// allocated returns how many bytes are allocated while f runs, those that are freed meanwhile included.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// An answer of many small elements takes about as much memory as it has bytes.
func TestHostileLists(t *testing.T) {
	longform.Lone(t)
	size := longform.Or(4<<20, 1<<20) // bytes of an answer
	generate := func(t *testing.T, p *openai.Provider) error {
		t.Helper()
		_, err := ask(t, p, request())
		return err
	}
	check := func(t *testing.T, p *openai.Provider) error {
		t.Helper()
		return p.Check(t.Context(), "m")
	}
	for name, tt := range map[string]struct {
		act               func(t *testing.T, p *openai.Provider) error
		first, part, last string
		ok                bool
	}{
		"output":          {generate, `{"status":"completed","output":[`, `0,`, `0]}`, false},
		"output in event": {generate, `data: {"type":"response.completed","response":{"output":[`, `0,`, "0]}}\n\n", false},
		"a list":          {generate, `[`, `0,`, `0]`, false},
		"parts":           {generate, `{"status":"completed","output":[{"type":"message","content":[`, `{},`, `{}]}]}`, false},
		"thoughts":        {generate, `{"status":"completed","output":[{"type":"reasoning","content":[`, `0,`, `0]}]}`, false},
		"usage":           {generate, `{"status":"completed","output":[],"usage":{"a":0`, `,"#":0`, `}}`, false},
		"model":           {check, `{"id":"m"`, `,"#":0`, `}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			b.WriteString(tt.first)
			for i := 0; b.Len() < size-len(tt.last)-20; i++ {
				b.WriteString(strings.ReplaceAll(tt.part, "#", strconv.Itoa(i)))
			}
			b.WriteString(tt.last)
			answer := b.String()
			p := serve(t, func(w http.ResponseWriter, _ *http.Request) { answerJSON(w, 200, answer) })
			p.MaxLine, p.API = size, openai.Responses
			var err error
			grown := allocated(func() { err = tt.act(t, p) })
			t.Log(grown>>20, "MiB")
			if tt.ok {
				assert.NoError(t, err)
			} else {
				failure(t, err, provider.KindInvalidResponse)
			}
			assert.Less(t, grown, uint64(9*size), "four times the answer, what the server takes to send it, and garbage")
		})
	}
}
