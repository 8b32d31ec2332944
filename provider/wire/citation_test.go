package wire_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
)

const citedText = "Bäume wachsen. 🙂 Ja!"

// Places are in bytes of the text, whatever the vendor counts, and hostile numbers lead nowhere.
func TestPlacesOfCitations(t *testing.T) {
	const all = len(citedText)
	at := strings.Index(citedText, "🙂")
	for _, tt := range []struct {
		start, end, from int
		characters       bool
		want             string
	}{
		{0, 6, 0, false, "Bäume"},
		{0, 5, 0, true, "Bäume"},
		{0, 2, 0, false, "Bä"}, // half a character is all of it
		{2, 3, 0, false, "ä"},
		{15, 16, 0, true, "🙂"},
		{17, 99, 0, true, "Ja!"},
		{17, math.MaxInt, 0, true, "Ja!"},
		{2, 4, at, true, "Ja"},
		{0, all + 1, 0, false, citedText},
		{5, 5, 0, true, ""},
		{6, 2, 0, true, ""},
		{-1, 4, 0, true, ""},
		{-4, 4, 0, false, ""},
		{math.MinInt, math.MaxInt, 0, false, ""},
		{99, 100, 0, true, ""},
		{0, 1, all + 1, true, ""},
		{0, 5, -7, true, "Bäume"},
	} {
		var seen collected
		r := seen.reply(t)
		c := provider.Citation{URL: "https://example.com", Start: tt.start, End: tt.end}
		if tt.characters {
			r.CiteCharacters(c, tt.from)
		} else {
			r.Cite(c)
		}
		r.Show(citedText)
		got := end(t, r).Citations
		if assert.Len(t, got, 1, tt) {
			assert.Equal(t, tt.want, citedText[got[0].Start:got[0].End], tt)
		}
	}
}

// Sources are hostile text.
func TestSourcesAreCleaned(t *testing.T) {
	var seen collected
	r := seen.reply(t)
	for _, url := range []string{
		"javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "//example.com", "example.com", "https://", "https://a b.com",
		"https://bank.example@evil.example/", "https://example.com/\u202etxt", "https://example.com/?" + strings.Repeat("x", 2048),
		"https://example.com/?key=" + secret, "http://[::1", "",
	} {
		r.Cite(provider.Citation{URL: url})
	}
	r.Cite(provider.Citation{URL: "ftp://example.com", Title: "A title\nof\x00 two\u202e lines and " + secret, Quote: strings.Repeat("é ", 2000)})
	r.Cite(provider.Citation{URL: " HTTPS://example.com/a?b=c#d ", Title: strings.Repeat("t", 600)})
	r.CiteCharacters(provider.Citation{URL: "https://example.com/2"}, 0)
	r.Cite(provider.Citation{URL: "https://example.com/2"})
	r.Show("Yes.")
	got := end(t, r).Citations
	if assert.Len(t, got, 3) {
		assert.Empty(t, got[0].URL)
		assert.Equal(t, "A title of two lines and [redacted]", got[0].Title)
		assert.LessOrEqual(t, len(got[0].Quote), 2048)
		assert.True(t, strings.HasPrefix(got[0].Quote, "é é"))
		assert.Equal(t, "HTTPS://example.com/a?b=c#d", got[1].URL)
		assert.Len(t, got[1].Title, 512)
		assert.Equal(t, provider.Citation{URL: "https://example.com/2"}, got[2], "it came twice")
	}
}

// A text from which a key was removed has other places.
func TestCitationsOfARedactedText(t *testing.T) {
	var seen collected
	r := seen.reply(t)
	r.Show(secret + " Yes.")
	r.Cite(provider.Citation{URL: "https://example.com", Start: 1, End: 4})
	assert.Equal(t, []provider.Citation{{URL: "https://example.com"}}, end(t, r).Citations)
}

// Neither their number nor their places cost more than they may.
func TestManyCitations(t *testing.T) {
	longform.Lone(t)
	var seen collected
	r := seen.reply(t)
	text := strings.Repeat("ä", 1<<16)
	r.Show(text)
	for i := range 5000 {
		r.CiteCharacters(provider.Citation{URL: fmt.Sprintf("https://example.com/%d", i), Start: 1<<16 - i - 2, End: 1<<16 - i}, 0)
	}
	reply := end(t, r)
	got := reply.Citations
	assert.Len(t, got, 256)
	assert.Equal(t, 5000-256, reply.Uncited)
	assert.Equal(t, len(text), got[0].End)
}
