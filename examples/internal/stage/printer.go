package stage

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printer writes for a reader at a terminal. If nobody reads any more, there is nobody to tell so: errors
// of Out are ignored.
type Printer struct{ Out io.Writer }

// Linef writes a line as it is. What a model wrote goes through Speak or Clean.
func (p Printer) Linef(format string, args ...any) { _, _ = fmt.Fprintf(p.Out, format+"\n", args...) }

// Speak cleans a text and writes it in lines of at most 80 characters, behind an indent. A longer word has
// a line of its own.
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

// Clean leaves out what could control a terminal, and makes a text one line.
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
