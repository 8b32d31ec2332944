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
