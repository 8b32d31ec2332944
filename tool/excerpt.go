package tool

import (
	"strings"
	"unicode/utf8"
)

const (
	around     = 200  // bytes of text on either side of a match
	maxExcerpt = 1000 // bytes of an excerpt
)

// excerpt is a part of a text. Its bounds may be outside the text, and inside characters.
type excerpt struct {
	text     string
	from, to int
}

// quoted returns the part with a mark before each line, so that no line can be taken for a title.
func (e excerpt) quoted() string {
	from, to := max(e.from, 0), min(e.to, len(e.text), e.from+maxExcerpt)
	for from > 0 && !utf8.RuneStart(e.text[from]) {
		from--
	}
	for to < len(e.text) && to > from && !utf8.RuneStart(e.text[to]) {
		to--
	}
	part := strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").
		Replace(strings.TrimSpace(e.text[from:to]))
	if from > 0 {
		part = "…" + part
	}
	if to < len(e.text) {
		part += "…"
	}
	return "> " + strings.ReplaceAll(part, "\n", "\n> ") + "\n"
}
