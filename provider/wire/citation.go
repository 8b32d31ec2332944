package wire

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agonist-dev/debate/provider"
)

const (
	maxTitle = 512  // bytes of a source's title
	maxQuote = 2048 // bytes of what is quoted from it
)

// cited is a citation as it came. Its place is counted as the vendor counts.
type cited struct {
	provider.Citation

	from       int // bytes of the text before the place is counted
	characters bool
}

// Cite adds a source that the model names. Its place is in bytes of the text. A reply has at most [provider.MaxCitations]
// sources; further ones are dropped and counted ([provider.Response.Uncited]). One that came before is dropped too.
//
// All of a source is hostile. A URL stays if it is [provider.Citation.Linked] and does not hold the key. Titles and quotations
// become one line each, and are shortened to 512 and 2,048 bytes. A place beyond the text's end is cut to it, and one
// that is no place is dropped.
func (r *Reply) Cite(c provider.Citation) { r.cite(cited{Citation: c}) }

// CiteCharacters is Cite for a vendor that counts the place in characters (Unicode code points), from a byte of the text
// on.
func (r *Reply) CiteCharacters(c provider.Citation, from int) {
	r.cite(cited{Citation: c, from: max(0, from), characters: true})
}

func (r *Reply) cite(c cited) {
	if len(r.cited) >= provider.MaxCitations {
		r.uncited++ // unread: there may be any number
		return
	}
	c.URL, c.Title, c.Quote = r.source(c.URL), r.line(c.Title, maxTitle), r.line(c.Quote, maxQuote)
	if c.URL == "" && c.Title == "" && c.Quote == "" || slices.Contains(r.cited, c) {
		return
	}
	r.cited = append(r.cited, c)
}

// citations returns the sources of the whole text.
func (r *Reply) citations(text string) []provider.Citation {
	var list []provider.Citation
	var count runes
	for _, c := range r.cited {
		start, end := c.Start, c.End
		if c.characters {
			start, end = count.bytes(text, c.from, start), count.bytes(text, c.from, end)
		}
		if len(text) != r.came { // a key was removed, and places have moved
			start, end = 0, 0
		}
		c.Start, c.End = place(text, start, end)
		if !slices.Contains(list, c.Citation) {
			list = append(list, c.Citation)
		}
	}
	return list
}

// place returns a place in a text that holds whole characters; zeros if there is none.
func place(text string, start, end int) (from, to int) {
	end = min(end, len(text))
	if start < 0 || start >= end {
		return 0, 0
	}
	for start > 0 && !utf8.RuneStart(text[start]) {
		start--
	}
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end++
	}
	return start, end
}

// runes counts characters. It goes on from the last place, because 256 sources may name places in a text of megabytes.
type runes struct{ from, count, at int }

// bytes returns the byte at which a character begins that is so many characters after a byte of the text.
func (r *runes) bytes(text string, from, count int) int {
	if from > len(text) || count < 0 {
		return -1
	}
	if r.from != from || count < r.count || r.at < from {
		*r = runes{from: from, at: from}
	}
	for r.count < count && r.at < len(text) {
		_, size := utf8.DecodeRuneInString(text[r.at:])
		r.at += size
		r.count++
	}
	return r.at
}

// source returns the URL of a source, "" if it is none that can be shown.
func (r *Reply) source(s string) string {
	s = strings.TrimSpace(s)
	if !(provider.Citation{URL: s}).Linked() || r.exchange.Redact(s) != s {
		return ""
	}
	return s
}

// line returns a foreign text as one printable line of limited length, without the key. It redacts what is left of the
// text: what it removes could stand between the bytes of the key.
func (r *Reply) line(s string, limit int) string {
	if len(s) > 4*limit { // most of which would be dropped
		s = s[:4*limit]
	}
	s = strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) && !unicode.IsSpace(c) {
			return -1
		}
		return c
	}, strings.ToValidUTF8(s, ""))
	s = r.exchange.Redact(strings.Join(strings.Fields(s), " "))
	if len(s) <= limit {
		return s
	}
	cut := limit - len("…")
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
