package otel

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The caps, in bytes, on texts in a trace. Names come from configs and models, and nothing else bounds
// them.
const (
	maxName    = 128  // of a name or an id
	maxValue   = 256  // of a label's value
	maxLabels  = 32   // number of labels of a debate
	maxMarks   = 64   // number of scores of one judge's answer
	maxContent = 8192 // of a text, see Observer.Content
)

// clean returns a name as one printable line of bounded length.
func clean(text string) string { return line(text, maxName) }

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

// cut shortens a text to at most that many bytes, at a character boundary.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
