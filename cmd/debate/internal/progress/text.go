package progress

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
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
func Text(text string) string {
	if strings.ContainsAny(text, "\x1b\u009b\u009d") {
		text = sequences().ReplaceAllString(text, "␛")
	}
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

// sequences matches each control sequence of a terminal (CSI), and each string that is one for it (OSC and its like). Of a string that
// does not end on its line it matches the beginning.
func sequences() *regexp.Regexp { // seldom needed
	return regexp.MustCompile(`(?:\x1b\[|\x{9b})[ -?]*[@-~]?|(?:\x1b[\]PX^_]|\x{9d})(?:[^\x07\x1b\x{9c}\n]*(?:\x07|\x1b\\|\x{9c}))?`)
}
