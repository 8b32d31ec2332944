package otel

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The most bytes of what a trace holds. Names come from configs and models, and nobody else bounds them.
const (
	mostName    = 128  // of a name or an id
	mostValue   = 256  // of a label's value
	mostLabels  = 32   // labels of a debate
	mostContent = 8192 // of a text, see Observer.Content
)

// clean yields a name as one printable line of bounded length.
func clean(text string) string { return line(text, mostName) }

func line(text string, most int) string {
	if len(text) > most {
		text = cut(text, most) + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
}

// cut shortens a text to at most so many bytes, at a character's border.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
