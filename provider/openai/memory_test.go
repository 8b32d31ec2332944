package openai_test

import (
	"net/http"
	"testing"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
	"github.com/agonist-dev/debate/provider/openai"
)

// An answer of many small elements takes about as much memory as it has bytes: four times the answer, what the server takes to send it,
// and garbage.
func TestHostileLists(t *testing.T) {
	size := longform.Or(4<<20, 1<<20) // bytes of an answer
	play := func(t *testing.T, body string) provider.Provider {
		t.Helper()
		p := serve(t, func(w http.ResponseWriter, _ *http.Request) { answerJSON(w, 200, body) })
		p.MaxLine, p.API = size, openai.Responses
		return p
	}
	list := func(first, part, last string) adaptertest.Hostile {
		return adaptertest.Hostile{First: first, Part: part, Last: last, Size: size, Want: provider.KindInvalidResponse}
	}
	adaptertest.TakesLittleMemory(t, 9*size, play, request(), map[string]adaptertest.Hostile{
		"output":          list(`{"status":"completed","output":[`, `0,`, `0]}`),
		"output in event": list(`data: {"type":"response.completed","response":{"output":[`, `0,`, "0]}}\n\n"),
		"a list":          list(`[`, `0,`, `0]`),
		"parts":           list(`{"status":"completed","output":[{"type":"message","content":[`, `{},`, `{}]}]}`),
		"thoughts":        list(`{"status":"completed","output":[{"type":"reasoning","content":[`, `0,`, `0]}]}`),
		"usage":           list(`{"status":"completed","output":[],"usage":{"a":0`, `,"#":0`, `}}`),
		"model":           {First: `{"id":"m"`, Part: `,"#":0`, Last: `}`, Size: size, Check: true},
	})
}
