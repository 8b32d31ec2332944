package progress

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean removes what could control a terminal, and puts a text on one line.
func Clean(text string) string { return strings.Join(strings.Fields(Text(text)), " ") }

// Line removes from a text what could control a terminal, and puts it on one line. Unlike [Clean] it keeps all blanks, because a
// name may have several in a row.
func Line(text string) string { return strings.NewReplacer("\n", " ", "\t", " ").Replace(Text(text)) }

// Text removes from a text what could control a terminal. Line breaks and tabs stay. A whole control sequence becomes one sign.
func Text(text string) string {
	if strings.ContainsAny(text, "\x1b\u009b\u009d") {
		text = withoutSequences(text)
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

// withoutSequences replaces each control sequence of a terminal (CSI), and each string that is one for it (OSC and its like), by a sign.
func withoutSequences(text string) string {
	var out strings.Builder
	for rest := text; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		if r != 0x1b && r != 0x9b && r != 0x9d {
			out.WriteString(rest[:size])
			rest = rest[size:]
			continue
		}
		rest = rest[size:]
		if r == 0x1b {
			if rest == "" || strings.IndexByte("[]PX^_", rest[0]) < 0 {
				continue // no sequence
			}
			r, rest = rune(rest[0]), rest[1:]
		}
		switch r {
		case '[', 0x9b:
			rest = strings.TrimLeftFunc(rest, func(r rune) bool { return r >= ' ' && r <= '?' })
			if rest != "" && rest[0] >= '@' && rest[0] <= '~' {
				rest = rest[1:]
			}
		default:
			rest = behindString(rest)
		}
		out.WriteRune('␛')
	}
	return out.String()
}

// behindString returns what follows the end of a string for a terminal. One that does not end on its line is no such string.
func behindString(rest string) string {
	at := strings.IndexAny(rest, "\a\x1b\u009c\n")
	if at < 0 || rest[at] == '\n' {
		return rest
	}
	r, size := utf8.DecodeRuneInString(rest[at:])
	if rest = rest[at+size:]; r == 0x1b {
		rest = strings.TrimPrefix(rest, `\`)
	}
	return rest
}
