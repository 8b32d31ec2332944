package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Readable returns a text as it will be read back from a log, which holds only valid UTF-8.
func Readable(text string) string {
	if utf8.ValidString(text) { // much faster than replacing
		return text
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// Cut shortens text to at most n bytes, at the border of a character.
func Cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "")
}

// OneLine cuts text to most bytes at the border of a character, and replaces characters that do not print by
// spaces.
func OneLine(text string, most int) string {
	if len(text) > most {
		for most > 0 && !utf8.RuneStart(text[most]) {
			most--
		}
		text = text[:most] + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
}
