package export

import (
	"strings"
	"unicode"
	"unicode/utf8"
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
		r == '\u200E', r == '\u200F', r == '\u061C', // marks of direction
		r == '\u200B', r >= '\u2060' && r <= '\u2064', // signs without width; U+200C and U+200D shape letters, and stay
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
	at := strings.IndexAny(text, introducers)
	if at < 0 {
		return text
	}
	var b strings.Builder
	for ; at >= 0; at = strings.IndexAny(text, introducers) {
		_, size := utf8.DecodeRuneInString(text[at:])
		b.WriteString(text[:at+size])
		text = text[at+sequence(text[at:]):]
	}
	b.WriteString(text)
	return b.String()
}

// introducers are the characters with which escape sequences begin: ESC, CSI and OSC.
const introducers = "\x1b\u009b\u009d"

// sequence returns how many bytes the escape sequence has that a text begins with, if it is one of CSI, or one of OSC that ends on
// its line; else how many its first character has.
func sequence(text string) int {
	_, size := utf8.DecodeRuneInString(text)
	kind, rest := text[:size], text[size:]
	if kind == "\x1b" && (strings.HasPrefix(rest, "[") || strings.HasPrefix(rest, "]")) {
		kind, rest = rest[:1], rest[1:]
	}
	begun := len(text) - len(rest)
	switch kind {
	case "[", "\u009b":
		n := 0
		for n < len(rest) && rest[n] >= ' ' && rest[n] <= '?' {
			n++
		}
		if n < len(rest) && rest[n] >= '@' && rest[n] <= '~' {
			return begun + n + 1
		}
	case "]", "\u009d":
		end := strings.IndexAny(rest, introducers+"\a\u009c\n")
		for _, ending := range []string{"\a", "\x1b\\", "\u009c"} {
			if end >= 0 && strings.HasPrefix(rest[end:], ending) {
				return begun + end + len(ending)
			}
		}
	}
	return size
}
