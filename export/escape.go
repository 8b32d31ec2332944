package export

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// literal returns Markdown that shows exactly the characters of a text, on one line. It can stand
// anywhere: at the beginning of a line, in a cell of a table, inside emphasis.
func literal(words string) string { return opening(escaped(line(words))) }

// escaped removes the meaning that characters have in Markdown, except at the beginning of a line.
func escaped(words string) string {
	if !strings.ContainsAny(words, "\\`*[]{|~<_&") {
		return words
	}
	var b strings.Builder
	for i, r := range words {
		switch r {
		case '\\', '`', '*', '[', ']', '{', '|', '~':
			b.WriteByte('\\')
		case '_': // inside a word it means nothing
			before, _ := utf8.DecodeLastRuneInString(words[:i])
			after, _ := utf8.DecodeRuneInString(words[i+1:])
			if !alphanumeric(before) || !alphanumeric(after) {
				b.WriteByte('\\')
			}
		case '<':
			b.WriteString("&lt;") // older readers know it too, but not a backslash before <
			continue
		case '&':
			if entity(words[i:min(len(words), i+40)]) {
				b.WriteString("&amp;")
				continue
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}

func alphanumeric(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// entity reports whether a text begins with what may be a character reference.
func entity(words string) bool {
	for i, r := range words[1:] {
		switch {
		case r == ';':
			return i > 0
		case r != '#' && (r >= utf8.RuneSelf || !alphanumeric(r)):
			return false
		}
	}
	return false
}

// opening removes the meaning of the beginning of a line whose text is escaped: a heading, a list, a
// quote, a rule, or the underline of the line before.
func opening(escaped string) string {
	if escaped == "" {
		return ""
	}
	switch escaped[0] {
	case '#', '+', '-', '=', ':':
		return `\` + escaped
	case '>':
		return "&gt;" + escaped[1:]
	}
	rest := strings.TrimLeft(escaped, "0123456789")
	if n := len(escaped) - len(rest); n > 0 && numbers(rest) {
		return escaped[:n] + `\` + rest
	}
	return escaped
}

// numbers reports whether digits that are followed by rest are the number of an item.
func numbers(rest string) bool {
	return rest != "" && (rest[0] == '.' || rest[0] == ')') && (len(rest) == 1 || strings.IndexByte(" \t\n", rest[1]) >= 0)
}
