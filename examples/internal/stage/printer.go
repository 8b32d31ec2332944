package stage

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printer writes for a reader at a terminal. It ignores errors of Out: if nobody reads any more, there is
// nobody to report them to.
type Printer struct{ Out io.Writer }

// Linef writes a line unchanged. Texts of models go through Speak or Clean.
func (p Printer) Linef(format string, args ...any) { _, _ = fmt.Fprintf(p.Out, format+"\n", args...) }

// Speak cleans a text and writes it in indented lines of at most 80 characters. A longer word has a line
// of its own.
func (p Printer) Speak(indent, text string) {
	const width = 80
	line := ""
	for word := range strings.FieldsSeq(Clean(text)) {
		if line != "" && utf8.RuneCountInString(indent+line+" "+word) > width {
			p.Linef("%s%s", indent, line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	p.Linef("%s%s", indent, line)
}

// Clean removes what could control a terminal, and puts a text on one line.
func Clean(text string) string {
	printable := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsPrint(r):
			return r
		default:
			return -1
		}
	}, text)
	return strings.Join(strings.Fields(printable), " ")
}
