package provider

import (
	"net/url"
	"strings"
	"unicode"
)

// Bounds of the sources of one reply.
const (
	MaxCitations   = 256
	maxCitationURL = 2048 // bytes
)

// Citation is a source that a model names for a passage of its reply, after a vendor's own web search. All of it is
// hostile text: a page on the web may have written it.
//
// The engine records the first [MaxCitations] sources of a reply whose URL is safe to show; see [Citation.Linked]. A turn counts
// the sources that were dropped. A passage that is not in the text becomes two zeros; see [Citation.Within].
type Citation struct {
	Title string `json:"title,omitempty"`
	URL   string `json:"url,omitempty"`
	Quote string `json:"quote,omitempty"` // from the source
	// Start and End are the passage, in bytes of the reply's text: from Start up to End, exclusive. Both 0: the vendor
	// names no passage.
	Start int `json:"start,omitempty"`
	End   int `json:"end,omitempty"`
}

// Linked reports whether URL is the address of a web page that is safe to record and show: http or https, with a host and
// without a user or password, at most 2,048 printable bytes, without spaces, quotes, backquotes and angle brackets. Another
// scheme could run a script where an export is shown.
func (c Citation) Linked() bool {
	s := c.URL
	if s == "" || len(s) > maxCitationURL || strings.ContainsAny(s, "\"<>`") || strings.ContainsFunc(s, unshown) {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && u.User == nil && (u.Scheme == "http" || u.Scheme == "https")
}

// unshown reports whether a character of a URL is a space, or none that prints.
func unshown(c rune) bool { return unicode.IsSpace(c) || !unicode.IsPrint(c) }

// Within returns the citation with a passage of this text: both ends are 0 if the passage is empty or not in the text.
func (c Citation) Within(text string) Citation {
	if c.Start < 0 || c.End <= c.Start || c.End > len(text) {
		c.Start, c.End = 0, 0
	}
	return c
}
