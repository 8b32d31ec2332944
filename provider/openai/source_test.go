package openai_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
	"github.com/agonist-dev/debate/provider/openai"
)

// heard plays a recorded answer, and one that is not streamed but is the last event of the same answer.
func heard(t *testing.T, name string, o *provider.Options) []*provider.Response {
	t.Helper()
	events, err := os.ReadFile("testdata/reply/" + name + ".sse")
	require.NoError(t, err)
	_, last, _ := strings.Cut(string(events), "event: response.completed\ndata: ")
	var whole struct{ Response json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(last), &whole))
	var replies []*provider.Response
	for _, streamed := range []bool{true, false} {
		p := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			if streamed {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = w.Write(events)
				return
			}
			answerJSON(w, 200, string(whole.Response))
		})
		p.API = openai.Responses
		req := request()
		req.Options = o
		r := adaptertest.Answer(t, p, req)
		replies = append(replies, r)
	}
	return replies
}

// The vendor counts the places of sources in characters of a text; the places of a reply are bytes.
func TestCitations(t *testing.T) {
	for _, r := range heard(t, "search", &provider.Options{Search: true}) {
		require.Len(t, r.Citations, 2)
		assert.Equal(t, "resp_68c187cc09508192aa225af9734e2ed905ca09a4773fcd25", r.ID)
		assert.Equal(t, "gpt-5-nano-2025-08-07", r.Model)
		assert.Equal(t, "What to see at Berlin Art Week 2025 | Wallpaper*", r.Citations[0].Title)
		assert.Equal(t, "https://www.wallpaper.com/art/exhibitions-shows/berlin-art-week-2025", r.Citations[0].URL)
		assert.Greater(t, r.Citations[0].Start, 327, "letters of several bytes come before")
		for i, want := range []string{
			"([wallpaper.com](https://www.wallpaper.com/art/exhibitions-shows/berlin-art-week-2025))",
			"([visitberlin.de](https://www.visitberlin.de/en/berlin-2025-the-main-events))",
		} {
			assert.Equal(t, want, r.Text[r.Citations[i].Start:r.Citations[i].End])
		}
	}
}

// The places of a second message begin anew.
func TestCitationsOfSecondMessages(t *testing.T) {
	message := func(text string, start, end int) string {
		quoted, _ := json.Marshal(text)
		return `{"type":"message","content":[{"type":"output_text","text":"…"},{"type":"output_text","text":` + string(quoted) +
			`,"annotations":[{"type":"url_citation","url":"https://x.test/` + text[:1] + `","start_index":` + strconv.Itoa(start) +
			`,"end_index":` + strconv.Itoa(end) + `},{"type":"file_citation","url":"https://x.test/file"}]}]}`
	}
	p := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		answerJSON(w, 200, `{"status":"completed","output":[`+message("äpfel", 1, 3)+`,`+message("Birnen", 0, 99)+`]}`)
	})
	r := adaptertest.Answer(t, p, request())
	require.Len(t, r.Citations, 2)
	assert.Equal(t, "pf", r.Text[r.Citations[0].Start:r.Citations[0].End])
	assert.Equal(t, "Birnen", r.Text[r.Citations[1].Start:r.Citations[1].End], "a place beyond the end")
}

// Hostile annotations spoil nothing.
func TestHostileCitations(t *testing.T) {
	for _, list := range []string{
		`7`, `{}`, `[7]`, `[{"type":7}]`, `[{"type":"url_citation","start_index":"x","end_index":-4,"url":"javascript:alert(1)"}]`,
		`[{"type":"url_citation","url":"https://ada:pass@x.test/"}]`, `[{"type":"url_citation","url":"file:///etc/passwd"}]`,
		`[` + strings.Repeat(`{},`, 1<<11) + `{}]`,
	} {
		p := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			answerJSON(w, 200, `{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Yes.","annotations":`+list+`}]}]}`)
		})
		r, err := ask(t, p, request())
		require.NoError(t, err, list[:min(len(list), 80)])
		assert.Equal(t, "Yes.", r.Text)
		for _, c := range r.Citations {
			assert.Empty(t, c.URL)
		}
	}
}

// Summaries of thoughts are apart from the text, and from each other.
func TestReasoningText(t *testing.T) {
	const want = "**Ooooooooooo oooo-oo-oooo**\n\nO'oo ooooooo 12 oooo 7.\n\n**Ooooo**\n\nOooo."
	for _, r := range heard(t, "summary", &provider.Options{Reasoning: provider.ReasoningAsk}) {
		assert.Equal(t, "570", r.Text)
		assert.Equal(t, want, r.Reasoning)
	}
	for _, r := range heard(t, "summary", nil) {
		assert.Equal(t, want, r.Reasoning, "the vendor has sent it")
	}
	for _, r := range heard(t, "summary", &provider.Options{Reasoning: provider.ReasoningHide}) {
		assert.Equal(t, "570", r.Text)
		assert.Empty(t, r.Reasoning)
	}
	// An open model shows its thoughts themselves.
	p := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		stream(w, `{"type":"response.reasoning_text.delta","output_index":0,"content_index":0,"delta":"Hm"}`,
			`{"type":"response.reasoning_text.delta","output_index":0,"content_index":0,"delta":"."}`,
			`{"type":"response.output_text.delta","output_index":1,"delta":"Yes."}`,
			`{"type":"response.completed","response":{"status":"completed"}}`)
	})
	r := adaptertest.Answer(t, p, request())
	assert.Equal(t, "Hm.", r.Reasoning)
	assert.Equal(t, "Yes.", r.Text)
}

// A recorded answer that is cut at any byte is no reply, and its price is unknown.
func TestCutSources(t *testing.T) {
	step := longform.Sized(1, 23, 115)
	for _, name := range []string{"search", "summary"} {
		events, err := os.ReadFile("testdata/reply/" + name + ".sse")
		require.NoError(t, err)
		for n := 0; n < len(events)-1; n += step {
			p := openai.New(canary)
			p.Client = &http.Client{Transport: transport(func(*http.Request) *http.Response {
				w := httptest.NewRecorder()
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = w.Write(events[:n])
				return w.Result()
			})}
			req := request()
			req.Options = &provider.Options{Search: true}
			r, err := ask(t, p, req)
			failure(t, err, provider.KindNetwork)
			require.Nil(t, r, "%s %d: the vendor counts with the last event", name, n)
		}
	}
}
