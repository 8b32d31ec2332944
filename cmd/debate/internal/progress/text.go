package progress

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"github.com/agonist-dev/debate/internal/text"
)

// Clean removes what could control a terminal, and puts a text on one line.
func Clean(text string) string { return strings.Join(strings.Fields(Text(text)), " ") }

// Line removes from a text what could control a terminal, and puts it on one line. Unlike [Clean] it keeps all blanks, because a
// name may have several in a row.
func Line(text string) string { return strings.NewReplacer("\n", " ", "\t", " ").Replace(Text(text)) }

// Wrap breaks a line at its blanks, so that each part fits so many columns, unless one word alone does not. With 0 columns it stays whole.
func Wrap(line string, columns int) []string {
	var out []string
	part := ""
	for _, word := range strings.SplitAfter(line, " ") {
		if part != "" && columns > 0 && ansi.StringWidth(part+strings.TrimRight(word, " ")) > columns {
			out, part = append(out, strings.TrimRight(part, " ")), ""
		}
		part += word
	}
	return append(out, part)
}

// Text removes from a text what could control a terminal. Line breaks and tabs stay. A whole control sequence becomes one sign.
func Text(said string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			return r
		}
		if unicode.IsSpace(r) {
			return ' '
		}
		return -1
	}, strings.ReplaceAll(text.Sequenceless(said), "\r\n", "\n"))
}
