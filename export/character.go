package export

import (
	"strings"
	"unicode"

	"github.com/agonist-dev/debate/internal/text"
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
func unified(said string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '\r', '\v', '\f', '\u0085', '\u2028', '\u2029':
			return '\n'
		default:
			return visible(r)
		}
	}, strings.ReplaceAll(sequenceless(said), "\r\n", "\n"))
}

// line returns a text on one line, without white space at its ends.
func line(said string) string { return strings.Join(strings.Fields(sequenceless(said)), " ") }

// sequenceless returns a text with a sign in the place of each control sequence of a terminal.
func sequenceless(said string) string { return text.Sequenceless(said) }
