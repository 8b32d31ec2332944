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

// Shown returns a text without what could control a terminal that shows it or turn its order around: control characters but tabs
// and line breaks, the controls of bidirectional text, and marks of the byte order. A carriage return alone, with which a line is
// written over, is a line break. Bytes that are not UTF-8 become U+FFFD: some terminals take one of them for a control character.
func Shown(text string) string {
	text = Readable(text)
	if !strings.ContainsFunc(text, controlRune) { // most texts
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == '\r' && !strings.HasPrefix(text[i+1:], "\n"):
			b.WriteByte('\n')
		case r == '\r' || !controlRune(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}

// controlRune reports whether a rune controls how a text is shown.
func controlRune(r rune) bool {
	return r != '\n' && r != '\t' &&
		(unicode.IsControl(r) || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' || r == '\ufeff')
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
