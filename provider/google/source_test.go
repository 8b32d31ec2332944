package google_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
)

func searching() *provider.Request {
	req := request()
	req.Options = &provider.Options{Search: true}
	return req
}

// A source stands for each passage that it supports; one that supports none has no place.
func TestCitations(t *testing.T) {
	data, err := os.ReadFile("testdata/reply/search.sse")
	require.NoError(t, err)
	p, _ := played(string(data))
	r := adaptertest.Answer(t, p, searching())
	assert.Equal(t, "sanitized-issue-19822-stream", r.ID)
	assert.Equal(t, "gemini-2.5-flash", r.Model)
	assert.Equal(t, provider.Usage{Input: 17 + 308, Output: 37 + 333, Reasoning: 333}, r.Usage)
	var got []string
	for _, c := range r.Citations {
		assert.True(t, strings.HasPrefix(c.URL, "https://vertexaisearch.cloud.google.com/grounding-api-redirect/"))
		got = append(got, c.Title+": "+r.Text[c.Start:c.End])
	}
	assert.Equal(t, []string{
		"aljazeera.com: Oooöo ooo Oooo 2024, ooooooooo Ooooooo 2-1 oo ooo ooooo.",
		"aljazeera.com: Oooo ooooooo oooooo Ooooö ooooooo ooooo Oooooooo ooooooooooooo ooooo.",
		"uefa.com: Oooo ooooooo oooooo Ooooö ooooooo ooooo Oooooooo ooooooooooooo ooooo.",
		"unused.example: ",
	}, got)

	p, _ = played(string(data))
	r = adaptertest.Answer(t, p, request())
	assert.Empty(t, r.Citations, "nobody asked for a search")
}

// The vendor counts in parts, and does not say in which.
func TestPlacesOfCitations(t *testing.T) {
	for segment, want := range map[string]string{
		`{"startIndex":6,"endIndex":12,"text":"cities"}`: "cities",
		`{"endIndex":12}`:                                                              "Price cities",
		`{"partIndex":1,"endIndex":4}`:                                                 "",
		`{"startIndex":2,"endIndex":8,"text":"cities"}`:                                "", // too short to be looked for
		`{"startIndex":0,"endIndex":15,"text":"with few roads."}`:                      "with few roads.",
		`{"startIndex":0,"endIndex":5,"text":"nowhere in it"}`:                         "",
		`{"startIndex":-4,"endIndex":99999999999999999999,"text":7}`:                   "",
		`{"startIndex":9,"endIndex":3}`:                                                "",
		`{"startIndex":7,"endIndex":900}`:                                              "ities with few roads.",
		`{"startIndex":0,"endIndex":2147483647,"text":"Price cities with few roads."}`: "Price cities with few roads.",
	} {
		p, _ := played(`data: {"candidates":[{"content":{"parts":[{"text":"Price cities "},{"text":"with few roads."}]},"finishReason":"STOP",` +
			`"groundingMetadata":{"groundingChunks":[{"web":{"uri":"https://x.test"}}],"groundingSupports":[{"segment":` + segment +
			`,"groundingChunkIndices":[0,7,-1]}]}}]}` + "\n\n")
		r, _, err := ask(t, p, searching())
		require.NoError(t, err, segment)
		got := ""
		for _, c := range r.Citations {
			got = r.Text[c.Start:c.End]
		}
		assert.Equal(t, want, got, segment)
	}
}

func TestHostileGrounding(t *testing.T) {
	for _, metadata := range []string{
		`7`, `[]`, `{"groundingChunks":7}`, `{"groundingChunks":[{"web":{"uri":"javascript:alert(1)"}}]}`,
		`{"groundingChunks":[` + strings.Repeat(`{},`, 1<<11) + `{}]}`, `{"groundingSupports":[{"groundingChunkIndices":[0]}]}`,
	} {
		p, _ := played(`data: {"candidates":[{"content":{"parts":[{"text":"Yes."}]},"finishReason":"STOP","groundingMetadata":` + metadata + `}]}` + "\n\n")
		r, _, err := ask(t, p, searching())
		require.NoError(t, err, metadata[:min(80, len(metadata))])
		assert.Equal(t, "Yes.", r.Text)
		assert.Empty(t, r.Citations)
	}
}

// Thoughts are apart from the text.
func TestReasoningText(t *testing.T) {
	for _, tt := range []struct {
		o    *provider.Options
		want string
	}{
		{nil, "**Weighing**\n\nOoo ooo."}, {&provider.Options{Reasoning: provider.ReasoningHide}, ""},
	} {
		p, _ := played(`data: {"candidates":[{"content":{"parts":[{"text":"**Weighing**\n\nOoo","thought":true}],"role":"model"},"index":0}]}` + "\n\n" +
			`data: {"candidates":[{"content":{"parts":[{"text":" ooo.","thought":true},{"text":"Yes."}]}}]}` + "\n\n" +
			`data: {"candidates":[{"content":{"parts":[{"text":" No."}]},"finishReason":"STOP"}]}` + "\n\n")
		req := request()
		req.Options = tt.o
		r := adaptertest.Answer(t, p, req)
		assert.Equal(t, "Yes. No.", r.Text)
		assert.Equal(t, tt.want, r.Reasoning)
	}
}

// A recorded answer that is cut at any byte is no reply, and its price is known in part.
func TestCutSources(t *testing.T) {
	data, err := os.ReadFile("testdata/reply/search.sse")
	require.NoError(t, err)
	step, counted := longform.Or(1, 7), strings.Index(string(data), `Ooooooo 2-1`) // in the event behind the first
	require.Positive(t, counted)
	for n := 0; n < len(data)-3; n += step { // the last event ends with the first line end after it
		p, _ := played(string(data[:n]))
		r, _, err := ask(t, p, searching())
		failure(t, err, provider.KindNetwork)
		require.True(t, r == nil || r.Partial, n)
		require.True(t, r != nil || n <= counted, "%d: the vendor has counted a part", n)
	}
}
