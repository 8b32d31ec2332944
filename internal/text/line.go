package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// NotALine says why a text is not one line of at most this many bytes. "": it is one.
func NotALine(s string, most int) string {
	switch {
	case len(s) > most:
		return fmt.Sprintf("has %d bytes: at most %d are allowed", len(s), most)
	case !utf8.ValidString(s):
		return "is not valid UTF-8"
	case strings.ContainsFunc(s, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) }):
		return "is not one line: it holds a control character or a line break"
	default:
		return ""
	}
}

// Quoted marks each line of a text after the first as quoted, so that the text cannot write headings or paragraphs of the prompt in which
// it stands.
func Quoted(s string) string {
	if !strings.ContainsAny(s, "\n\r\v\f\u0085\u2028\u2029") {
		return s
	}
	const next = "\n> "
	return strings.NewReplacer("\r\n", next, "\n", next, "\r", next, "\v", next, "\f", next, "\u0085", next,
		"\u2028", next, "\u2029", next).Replace(s)
}
