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

// Quote writes the beginning of a text line by line: at most so many lines that are not empty, of at most so many characters
// each. before stands before each line.
func (p Printer) Quote(before, text string, characters, lines int) {
	shown := 0
	for line := range strings.Lines(text) {
		line = Short(line, characters)
		switch {
		case line == "":
			continue
		case shown == lines:
			p.Linef("%s…", before)
			return
		}
		p.Linef("%s%s", before, line)
		shown++
	}
}

// Wrap writes all of a line, in pieces of at most so many characters. before stands before each piece.
func (p Printer) Wrap(before, line string, characters int) {
	for rest := []rune(printable(line)); ; {
		most := min(len(rest), characters)
		p.Linef("%s", strings.TrimRight(before+string(rest[:most]), " "))
		if rest = rest[most:]; len(rest) == 0 {
			return
		}
	}
}

// Short removes what could control a terminal, keeps the spaces at the beginning, and cuts a line to that many characters.
func Short(text string, most int) string {
	line := []rune(printable(text))
	if len(line) <= most {
		return string(line)
	}
	return string(line[:most-1]) + "…"
}

// Clean removes what could control a terminal, and puts a text on one line.
func Clean(text string) string {
	return strings.Join(strings.Fields(printable(text)), " ")
}

// printable removes what could control a terminal, and the spaces at the end. A tab or the end of a line becomes a space.
func printable(text string) string {
	return strings.TrimRight(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsPrint(r):
			return r
		default:
			return -1
		}
	}, text), " ")
}
