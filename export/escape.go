package export

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// literal yields a text as Markdown that shows nothing but its characters, in one line. It can stand
// anywhere: at the beginning of a line, in a cell of a table, within emphasis.
func literal(words string) string { return opening(escaped(line(words))) }

// escaped takes from the characters of a text what they mean in Markdown, but for what they mean at the
// beginning of a line.
func escaped(words string) string {
	if !strings.ContainsAny(words, "\\`*[]{|~<_&") {
		return words
	}
	var b strings.Builder
	for i, r := range words {
		switch r {
		case '\\', '`', '*', '[', ']', '{', '|', '~':
			b.WriteByte('\\')
		case '_': // within a word it means nothing
			before, _ := utf8.DecodeLastRuneInString(words[:i])
			after, _ := utf8.DecodeRuneInString(words[i+1:])
			if !alphanumeric(before) || !alphanumeric(after) {
				b.WriteByte('\\')
			}
		case '<':
			b.WriteString("&lt;") // which older readers know as well, but not a backslash before it
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

// entity reports whether a text begins with what may stand for another character.
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

// opening takes from the beginning of a line, whose text is escaped, what makes it a heading, a list, a
// quote, a line or the underline of the line before.
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

// numbers reports whether what follows digits makes them the number of an item.
func numbers(rest string) bool {
	return rest != "" && (rest[0] == '.' || rest[0] == ')') && (len(rest) == 1 || strings.IndexByte(" \t\n", rest[1]) >= 0)
}
