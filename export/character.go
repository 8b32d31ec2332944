package export

import (
	"strings"
	"unicode"
)

// visible returns the character that replaces a character in a document. Most characters stay. Replaced
// are those that act on a terminal or on the order of text, that are invisible, or that XML does not
// allow.
func visible(r rune) rune {
	switch {
	case r == '\n', r == '\t':
		return r
	case r < ' ':
		return '\u2400' + r // its symbol: ␛ for an escape
	case r == '\u007F':
		return '␡'
	case r < '\u007F':
		return r
	case r <= '\u009F', // control characters, of which terminals take U+009B for an escape sequence
		r >= '\u202A' && r <= '\u202E', r >= '\u2066' && r <= '\u2069', // embeddings, overrides and isolates of direction
		r >= '\uFDD0' && r <= '\uFDEF', r&0xFFFE == 0xFFFE, // not characters
		r >= '\uFFF9' && r <= '\uFFFB', r == '\uFEFF', r >= 0xE0000 && r <= 0xE007F: // annotations, a byte order mark, tags
		return unicode.ReplacementChar
	default:
		return r
	}
}

// unified returns a text of visible characters whose lines all end in \n, whatever a reader may take for
// the end of a line. So every parser reads it in the same way.
func unified(text string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '\r', '\v', '\f', '\u0085', '\u2028', '\u2029':
			return '\n'
		default:
			return visible(r)
		}
	}, strings.ReplaceAll(sequenceless(text), "\r\n", "\n"))
}

// line returns a text on one line, without white space at its ends.
func line(text string) string { return strings.Join(strings.Fields(sequenceless(text)), " ") }

// sequenceless leaves of each escape sequence of a terminal the character with which it begins, so that nothing is to be read of
// "[31m", or of a title for the window.
func sequenceless(text string) string {
	before, rest, found := strings.Cut(text, "\x1b")
	if !found {
		return text
	}
	var b strings.Builder
	for found {
		b.WriteString(before)
		b.WriteByte('\x1b')
		before, rest, found = strings.Cut(rest[sequence(rest):], "\x1b")
	}
	b.WriteString(before)
	return b.String()
}

// sequence returns how many bytes of a text belong to the escape sequence that begins before it: one of CSI, or one of OSC that
// ends on its line.
func sequence(text string) int {
	switch {
	case strings.HasPrefix(text, "["):
		n := 1
		for n < len(text) && text[n] >= ' ' && text[n] <= '?' {
			n++
		}
		if n < len(text) && text[n] >= '@' && text[n] <= '~' {
			return n + 1
		}
	case strings.HasPrefix(text, "]"):
		switch end := strings.IndexAny(text, "\a\x1b\n"); {
		case end < 0:
		case text[end] == '\a':
			return end + 1
		case strings.HasPrefix(text[end:], "\x1b\\"):
			return end + len("\x1b\\")
		}
	}
	return 0
}
