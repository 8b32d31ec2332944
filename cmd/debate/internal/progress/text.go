package progress

import (
	"strings"
	"unicode"
)

// Clean removes what could control a terminal, and puts a text on one line.
func Clean(text string) string { return strings.Join(strings.Fields(Text(text)), " ") }

// Line removes from a text what could control a terminal, and puts it on one line. Unlike [Clean] it keeps all blanks, because a
// name may have several in a row.
func Line(text string) string { return strings.NewReplacer("\n", " ", "\t", " ").Replace(Text(text)) }

// Text removes from a text what could control a terminal. Line breaks and tabs stay.
func Text(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			return r
		}
		if unicode.IsSpace(r) {
			return ' '
		}
		return -1
	}, strings.ReplaceAll(text, "\r\n", "\n"))
}
